// See text_score.h. Tokens of up to 64 characters are compared by one machine word a column (Myers 1999).
#include "core/exact/text_score.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/bits.h"
#include "core/base/message_text.h"
#include "core/exact/edit_distance.h"
#include "core/kernels/myers.h"
#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

// Most fields fit in arrays of these sizes on the stack.
constexpr size_t kFewCharacters = 192;
constexpr size_t kFewTokens = 32;
constexpr size_t kWordBits = 64;

struct Token {
  uint32_t at;
  uint32_t length;
};

template <class T, size_t kFew>
class Growing {
 public:
  void push_back(const T& x) {
    if (n_ == room_) grow();
    data_[n_++] = x;
  }
  size_t size() const noexcept { return n_; }
  T& back() noexcept { return data_[n_ - 1]; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  void shrink(size_t n) noexcept { n_ = n; }

 private:
  void grow() {
    std::vector<T> larger(2 * room_);
    std::copy(data_, data_ + n_, larger.begin());
    many_.swap(larger);
    data_ = many_.data();
    room_ = many_.size();
  }

  T few_[kFew];
  std::vector<T> many_;
  T* data_ = few_;
  size_t room_ = kFew;
  size_t n_ = 0;
};

// A folded text, its tokens one behind the other.
struct Folded {
  Growing<uint32_t, kFewCharacters> characters;
  Growing<Token, kFewTokens> tokens;

  uint32_t length() const noexcept { return static_cast<uint32_t>(characters.size()); }
  const uint32_t* characters_at(const Token& t) const noexcept { return characters.data() + t.at; }
};

// '_' joins words of file names and of identifiers: here it separates them. A mark alone is no text.
bool in_token(const CodePoint& c, bool inside) noexcept {
  return c.cls != WordClass::none && c.folded != '_' && (inside || c.cls != WordClass::mark);
}

void fold(const uint8_t* p, size_t size, Folded* out, StopCheck* stop) {
  const uint8_t* const end = p + size;
  bool inside = false;
  size_t until_poll = 100'000;
  while (p < end && out->characters.size() < kScoredCharacters) {
    unsigned length;
    const CodePoint c = detail::classify(detail::decode_utf8(p, end, &length));
    p += length;
    if (--until_poll == 0) {
      until_poll = 100'000;
      if (stop != nullptr) stop->poll();
    }
    if (!in_token(c, inside)) {
      inside = false;
      continue;
    }
    if (!inside) out->tokens.push_back({out->length(), 0});
    inside = true;
    out->characters.push_back(c.folded);
    ++out->tokens.back().length;
  }
}

// The positions of a pattern of at most 64 characters that hold a character. Clean between patterns.
class Positions {
 public:
  Positions() noexcept { std::memset(ascii_, 0, sizeof ascii_); }

  void set(const uint32_t* pattern, size_t n) noexcept {
    wide_ = 0;
    for (size_t i = 0; i < n; ++i) {
      const uint64_t bit = uint64_t{1} << i;
      if (pattern[i] < kAscii) {
        ascii_[pattern[i]] |= bit;
        continue;
      }
      size_t k = 0;
      while (k < wide_ && keys_[k] != pattern[i]) ++k;
      if (k == wide_) {
        keys_[wide_] = pattern[i];
        bits_[wide_++] = 0;
      }
      bits_[k] |= bit;
    }
  }
  void clear(const uint32_t* pattern, size_t n) noexcept {
    for (size_t i = 0; i < n; ++i)
      if (pattern[i] < kAscii) ascii_[pattern[i]] = 0;
  }
  uint64_t places(uint32_t c) const noexcept {
    if (c < kAscii) return ascii_[c];
    for (size_t k = 0; k < wide_; ++k)
      if (keys_[k] == c) return bits_[k];
    return 0;
  }

 private:
  static constexpr uint32_t kAscii = 128;
  uint64_t ascii_[kAscii];
  uint32_t keys_[kWordBits];
  uint64_t bits_[kWordBits];
  size_t wide_ = 0;
};

// Levenshtein distance where the pattern has 1..64 characters.
uint32_t word_distance(Positions& positions, const uint32_t* pattern, size_t m, const uint32_t* text,
                       size_t n) noexcept {
  positions.set(pattern, m);
  MyersColumn column = kMyersStart;
  for (size_t j = 0; j < n; ++j) myers_step(positions.places(text[j]), column);
  positions.clear(pattern, m);
  return myers_distance(n, column, low_bits(static_cast<unsigned>(m)));
}

uint32_t long_distance(const uint32_t* a, size_t na, const uint32_t* b, size_t nb, StopCheck* stop) {
  std::vector<uint8_t> bytes(4 * (na + nb));
  uint8_t* p = bytes.data();
  for (size_t i = 0; i < na; ++i) p += detail::encode_utf8(a[i], p);
  uint8_t* const middle = p;
  for (size_t i = 0; i < nb; ++i) p += detail::encode_utf8(b[i], p);
  EditOptions options;
  options.stop = stop;
  return static_cast<uint32_t>(*edit_distance(Unit::character, bytes.data(), static_cast<size_t>(middle - bytes.data()),
                                              middle, static_cast<size_t>(p - middle), UINT64_MAX, options));
}

uint32_t distance(Positions& positions, const uint32_t* a, size_t na, const uint32_t* b, size_t nb, StopCheck* stop) {
  if (na > nb) {
    std::swap(a, b);
    std::swap(na, nb);
  }
  if (na == 0) return static_cast<uint32_t>(nb);
  return na <= kWordBits ? word_distance(positions, a, na, b, nb) : long_distance(a, na, b, nb, stop);
}

bool is_initial(const uint32_t* a, size_t na, const uint32_t* b, size_t nb) noexcept {
  return na == 1 && nb > 1 && a[0] == b[0] && !(a[0] >= '0' && a[0] <= '9');
}

int compare(const Folded& a, const Token& s, const Folded& b, const Token& t) noexcept {
  const uint32_t n = std::min(s.length, t.length);
  const uint32_t* x = a.characters_at(s);
  const uint32_t* y = b.characters_at(t);
  for (uint32_t i = 0; i < n; ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return s.length < t.length ? -1 : s.length > t.length;
}

void sort_tokens(Folded* f) {
  std::sort(f->tokens.data(), f->tokens.data() + f->tokens.size(),
            [f](const Token& s, const Token& t) { return compare(*f, s, *f, t) < 0; });
}

// Takes equal tokens out of both, which are left in order of their characters.
void drop_equal(Folded* a, Folded* b) {
  sort_tokens(a);
  sort_tokens(b);
  Token* x = a->tokens.data();
  Token* y = b->tokens.data();
  const size_t n = a->tokens.size(), m = b->tokens.size();
  size_t i = 0, j = 0, left_a = 0, left_b = 0;
  while (i < n && j < m) {
    const int c = compare(*a, x[i], *b, y[j]);
    if (c < 0) {
      x[left_a++] = x[i++];
    } else if (c > 0) {
      y[left_b++] = y[j++];
    } else {
      ++i, ++j;
    }
  }
  while (i < n) x[left_a++] = x[i++];
  while (j < m) y[left_b++] = y[j++];
  a->tokens.shrink(left_a);
  b->tokens.shrink(left_b);
}

uint32_t remaining(const Folded& f) noexcept {
  uint32_t sum = 0;
  for (size_t i = 0; i < f.tokens.size(); ++i) sum += f.tokens.data()[i].length;
  return sum;
}

// The least sum of n entries of a cost matrix, one in each row and column: the Hungarian method by shortest augmenting
// paths (Jonker and Volgenant 1987), rows and columns counted from 1.
uint32_t assign(const int32_t (&cost)[kAlignedTokens][kAlignedTokens], size_t n) noexcept {
  if (n == 1) return static_cast<uint32_t>(cost[0][0]);
  if (n == 2) return static_cast<uint32_t>(std::min(cost[0][0] + cost[1][1], cost[0][1] + cost[1][0]));
  int32_t u[kAlignedTokens + 1] = {}, v[kAlignedTokens + 1] = {};
  size_t row_of[kAlignedTokens + 1] = {}, way[kAlignedTokens + 1];
  for (size_t i = 1; i <= n; ++i) {
    int32_t least[kAlignedTokens + 1];
    bool used[kAlignedTokens + 1] = {};
    std::fill(least, least + n + 1, INT32_MAX);
    row_of[0] = i;
    size_t column = 0;
    do {
      used[column] = true;
      const size_t row = row_of[column];
      int32_t delta = INT32_MAX;
      size_t next = 0;
      for (size_t j = 1; j <= n; ++j) {
        if (used[j]) continue;
        const int32_t c = cost[row - 1][j - 1] - u[row] - v[j];
        if (c < least[j]) {
          least[j] = c;
          way[j] = column;
        }
        if (least[j] < delta) {
          delta = least[j];
          next = j;
        }
      }
      for (size_t j = 0; j <= n; ++j) {
        if (used[j]) {
          u[row_of[j]] += delta;
          v[j] -= delta;
        } else {
          least[j] -= delta;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    for (; column != 0; column = way[column]) row_of[column] = row_of[way[column]];
  }
  uint32_t sum = 0;
  for (size_t j = 1; j <= n; ++j) sum += static_cast<uint32_t>(cost[row_of[j] - 1][j - 1]);
  return sum;
}

// C of the header, of the tokens that are left. To leave a pair alone costs no less than to pair it, so that the
// shorter side is paired whole; the other's rest is paired with nothing.
uint32_t alignment(const Folded& a, const Folded& b, Positions& positions, StopCheck* stop) {
  const size_t n = a.tokens.size(), m = b.tokens.size();
  if (n > kAlignedTokens || m > kAlignedTokens) return std::max(remaining(a), remaining(b));
  if (n == 0 || m == 0) return remaining(a) + remaining(b);
  int32_t cost[kAlignedTokens][kAlignedTokens];
  const size_t size = std::max(n, m);
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) {
      uint32_t c;
      if (i < n && j < m) {
        const Token s = a.tokens.data()[i], t = b.tokens.data()[j];
        const uint32_t *x = a.characters_at(s), *y = b.characters_at(t);
        c = is_initial(x, s.length, y, t.length) || is_initial(y, t.length, x, s.length)
                ? 1
                : distance(positions, x, s.length, y, t.length, stop);
      } else {
        c = i < n ? a.tokens.data()[i].length : b.tokens.data()[j].length;
      }
      cost[i][j] = static_cast<int32_t>(c);
    }
  }
  return assign(cost, size);
}

}  // namespace

std::optional<int> text_score(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, StopCheck* stop) {
  Folded x, y;
  fold(a, a_size, &x, stop);
  fold(b, b_size, &y, stop);
  if (x.length() == 0 || y.length() == 0) return std::nullopt;
  const uint32_t most = std::max(x.length(), y.length());
  Positions positions;
  uint32_t cost = 0;
  const bool same = x.length() == y.length() &&
                    std::equal(x.characters.data(), x.characters.data() + x.length(), y.characters.data());
  if (!same) {
    cost = distance(positions, x.characters.data(), x.length(), y.characters.data(), y.length(), stop);
    // One edit is least: tokens that are the same in another order differ by two when joined, at least.
    if (cost > 1 && (x.tokens.size() > 1 || y.tokens.size() > 1 || x.length() == 1 || y.length() == 1)) {
      drop_equal(&x, &y);
      cost = std::min(cost, alignment(x, y, positions, stop));
    }
  }
  return static_cast<int>((most - std::min(cost, most)) * uint64_t{100} / most);
}

double score_precision(double observed, double gold, double random) {
  for (const double x : {observed, gold, random})
    if (!std::isfinite(x))
      throw Error(Errc::invalid_argument, "observed, gold and random must be finite: " + number_text(x));
  if (random == gold)
    throw Error(Errc::invalid_argument, "random and gold must differ: both are " + number_text(gold), {},
                "Where true pairs are as far apart as random ones, distances tell nothing of their share.");
  // Halves, whose differences stay finite.
  return std::clamp((random / 2 - observed / 2) / (random / 2 - gold / 2), 0.0, 1.0);
}

}  // namespace neardup
