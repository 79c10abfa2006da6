// See shingle.h. The word path: blocks are folded and classified 64 bytes at a time by a kernel, word borders
// are flattened from bit masks, and only groups with bytes above 0x7f are decoded.
#include "core/document/shingle.h"

#include <algorithm>
#include <array>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/hash.h"
#include "core/document/words.h"
#include "core/kernels/kernels.h"
#include "core/unicode/word_machine.h"

namespace neardup {
namespace {

constexpr std::array<uint64_t, 256> make_byte_table() {
  std::array<uint64_t, 256> t{};
  for (unsigned c = 0; c < 256; ++c) t[c] = byte_hash(c);
  return t;
}
constexpr std::array<uint64_t, 256> kByteHash = make_byte_table();

// Bytes that may be read before and after a word (hash_word loads 8 at each end).
constexpr size_t kWordMargin = 8;
constexpr size_t kBlocksPerPoll = 16;
constexpr size_t kUnitsPerBlock = 1024;
// Longer words go through XXH3's streaming state.
constexpr size_t kWordBuffer = 1024;

// Hash of n >= 1 folded bytes at p; kWordMargin bytes on both sides are readable. Branch-free up to 16 bytes, because
// word lengths are as good as random to a branch predictor.
inline uint64_t hash_word(const uint8_t* p, size_t n) noexcept {
  if (__builtin_expect(n > 16, 0)) return XXH3_64bits(p, n);
  const uint64_t first = load_le64(p);
  const uint64_t last = load_le64(p + n - 8);
  const bool small = n <= 8;
  const uint64_t low = first & (~0ULL >> ((8 - n) * 8 & 63));
  const uint64_t a = (small ? low : first ^ n * kLengthFactor) ^ kSeed0;
  const uint64_t b = (small ? n : last) ^ kSeed1;
  return mum(a, b);
}

}  // namespace

void check_k(int64_t k) {
  if (k < kMinK || k > kMaxK)
    throw Error(Errc::invalid_argument, "k must be between 1 and 64: " + std::to_string(k), {},
                "k is the number of words, characters or bytes in a shingle.");
}

uint64_t word_shingle_hash(std::string_view folded) {
  uint8_t padded[kWordMargin + 16 + kWordMargin] = {};
  if (folded.size() > 16) return XXH3_64bits(folded.data(), folded.size()) ^ 1;
  std::memcpy(padded + kWordMargin, folded.data(), folded.size());
  return hash_word(padded + kWordMargin, folded.size()) ^ 1;
}

uint64_t element_hash(const void* bytes, size_t size) noexcept { return XXH3_64bits(bytes, size); }

struct ShingleStream::Impl {
  Impl(Unit u, size_t k_units, const uint8_t* text, size_t n, StopCheck* s)
      : unit(u), k(k_units), p(text), end(text + n), stop(s), scanner(u, text, n, s) {
    for (size_t i = 0; i < k; ++i) base_to_k *= kShingleBase;
  }

  const Unit unit;
  const size_t k;
  const uint8_t* p;
  const uint8_t* const end;
  StopCheck* const stop;
  UnitScanner scanner;  // of units line, paragraph and code
  size_t blocks = 0;
  uint64_t base_to_k = 1;

  // Unit hashes not yet combined: at most k - 1 carried over, and those of one block.
  size_t have = 0;
  bool emitted = false;
  bool finished = false;
  uint64_t units[kMaxK + kInputBlock + 1];

  // The word in progress, when it began before the bytes at hand.
  WordMachine machine;
  bool is_long = false;  // its first bytes are in long_state
  size_t pending = 0;    // its bytes in word()
  uint8_t word_storage[kWordMargin + kWordBuffer + kWordMargin] = {};
  XXH3_state_t long_state;

  uint8_t folded_storage[kWordMargin + kInputBlock + kWordMargin] = {};
  uint8_t tail[kInputBlock];
  uint64_t word_mask[kInputBlock / 64];
  uint64_t high_mask[kInputBlock / 64];
  uint16_t edges[kInputBlock + 64];

  uint8_t* word() noexcept { return word_storage + kWordMargin; }
  uint8_t* folded() noexcept { return folded_storage + kWordMargin; }

  void append(const uint8_t* bytes, size_t n) noexcept {
    while (n > 0) {
      if (pending == kWordBuffer) {
        if (!is_long) XXH3_64bits_reset(&long_state);
        is_long = true;
        XXH3_64bits_update(&long_state, word(), pending);
        pending = 0;
      }
      const size_t m = std::min(n, kWordBuffer - pending);
      std::memcpy(word() + pending, bytes, m);
      pending += m;
      bytes += m;
      n -= m;
    }
  }

  void finish_word() noexcept {
    if (pending == 0) return;
    if (__builtin_expect(is_long, 0)) {
      XXH3_64bits_update(&long_state, word(), pending);
      units[have++] = XXH3_64bits_digest(&long_state);
      is_long = false;
    } else {
      units[have++] = hash_word(word(), pending);
    }
    pending = 0;
  }

  // Words of the ASCII groups [g0, g1) of the folded block.
  void ascii_words(size_t g0, size_t g1) noexcept {
    const bool inside = machine.continues(WordClass::word);
    if (!inside) finish_word();
    uint64_t carry = inside;
    size_t n = 0;
    for (size_t g = g0; g < g1; ++g) {
      const uint64_t m = word_mask[g];
      uint64_t e = m ^ (m << 1 | carry);
      carry = m >> 63;
      const unsigned count = static_cast<unsigned>(__builtin_popcountll(e));
      const unsigned base = static_cast<unsigned>(g * 64);
      // Eight at a time without a branch each; what is written beyond count is overwritten.
      for (unsigned done = 0; done < count; done += 8) {
        for (unsigned i = 0; i < 8; ++i) {
          edges[n + done + i] = static_cast<uint16_t>(base + static_cast<unsigned>(__builtin_ctzll(e | 1ULL << 63)));
          e &= e - 1;
        }
      }
      n += count;
    }
    const uint8_t* f = folded();
    size_t i = 0;
    if (inside && n > 0) {
      append(f + g0 * 64, edges[0] - g0 * 64);
      finish_word();
      i = 1;
    } else if (inside) {
      append(f + g0 * 64, (g1 - g0) * 64);
      return;
    }
    uint64_t* out = units + have;
    for (; i + 1 < n; i += 2) *out++ = hash_word(f + edges[i], static_cast<size_t>(edges[i + 1] - edges[i]));
    have = static_cast<size_t>(out - units);
    if (i < n) append(f + edges[i], g1 * 64 - edges[i]);
    machine.step(i < n ? WordClass::word : WordClass::none);
  }

  // Words of the code points that start in [p, limit). Leaves p at or (by up to 3 bytes) behind limit.
  void decoded_words(const uint8_t* limit) noexcept {
    const uint8_t* q = p;
    WordMachine words = machine;
    while (q < limit) {
      unsigned length;
      const uint32_t c = detail::decode_utf8(q, end, &length);
      const CodePoint cp = detail::classify(c);
      const WordStep step = words.step(cp.cls);
      if (step != WordStep::continues) finish_word();
      if (step == WordStep::separates) {
        q += length;
        continue;
      }
      if (pending + 4 > kWordBuffer) {
        uint8_t bytes[4];
        append(bytes, detail::encode_utf8(cp.folded, bytes));
      } else if (cp.folded == c && end - q >= 4) {
        std::memcpy(word() + pending, q, 4);
        pending += length;
      } else {
        pending += detail::encode_utf8(cp.folded, word() + pending);
      }
      q += length;
    }
    p = q;
    machine = words;
  }

  void word_block() noexcept {
    const size_t n = std::min(kInputBlock, static_cast<size_t>(end - p));
    const uint8_t* const block = p;
    const uint8_t* in = p;
    if (n < kInputBlock) {
      std::memcpy(tail, p, n);
      std::memset(tail + n, 0, (64 - n % 64) % 64);
      in = tail;
    }
    const size_t groups = (n + 63) / 64;
    kernels().fold_ascii(in, groups, folded(), word_mask, high_mask);
    size_t g = 0;
    while (g < groups) {
      size_t to = g;
      while (to < groups && high_mask[to] == 0) ++to;
      if (to > g) {
        ascii_words(g, to);
        p = std::min(block + to * 64, block + n);
      } else {
        while (to < groups && high_mask[to] != 0) ++to;
        // A code point that straddles the border sets a high bit in the next group too, so it stays in this branch
        // except at the end of the block, where the next block starts behind it.
        decoded_words(std::min(block + to * 64, block + n));
      }
      g = to;
    }
    // The zero padding of a last, short group ends its word; without padding the word ends with the document.
    if (p >= end) finish_word();
  }

  void character_block() noexcept {
    const uint8_t* const limit = p + std::min(kInputBlock, static_cast<size_t>(end - p));
    uint64_t* out = units + have;
    while (p < limit) {
      if (limit - p >= 8 && (load_le64(p) & 0x8080808080808080ULL) == 0) {
        for (int i = 0; i < 8; ++i) out[i] = kByteHash[p[i]];
        out += 8;
        p += 8;
        continue;
      }
      unsigned length;
      const uint32_t c = detail::decode_utf8(p, end, &length);
      *out++ = c < 256 ? kByteHash[c] : mum(c ^ kSeed0, kSeed1);
      p += length;
    }
    have = static_cast<size_t>(out - units);
  }

  void byte_block() noexcept {
    const size_t n = std::min(kInputBlock, static_cast<size_t>(end - p));
    for (size_t i = 0; i < n; ++i) units[have + i] = kByteHash[p[i]];
    have += n;
    p += n;
  }

  // Units that the scanner finds, which polls.
  void scanned_block() {
    TextUnit unused;
    std::string_view key;
    for (size_t n = 0; n < kUnitsPerBlock; ++n) {
      if (!scanner.next(&unused, &key)) {
        p = end;
        return;
      }
      units[have++] = element_hash(key.data(), key.size());
    }
  }

  // x of the shingles that start at units[0 .. m).
  void combine(size_t m, uint64_t* out) noexcept {
    constexpr uint64_t a = kShingleBase;
    const uint64_t* u = units;
    const uint64_t kx = k;
    if (k == 3) {
      for (size_t i = 0; i < m; ++i) out[i] = (u[i] * (a * a) + u[i + 1] * a + u[i + 2]) ^ kx;
      return;
    }
    // Rolling: H' = H a + (h_in - h_out a^k). Four independent stretches, since one chain waits for its multiply.
    const auto direct = [&](size_t i) {
      uint64_t h = 0;
      for (size_t j = 0; j < k; ++j) h = h * a + u[i + j];
      return h;
    };
    const size_t q = m / 4;
    if (q > 0) {
      uint64_t h[4];
      for (size_t s = 0; s < 4; ++s) {
        h[s] = direct(s * q);
        out[s * q] = h[s] ^ kx;
      }
      for (size_t i = 1; i < q; ++i) {
        for (size_t s = 0; s < 4; ++s) {
          const uint64_t* v = u + s * q + i;
          h[s] = h[s] * a + (v[k - 1] - v[-1] * base_to_k);
          out[s * q + i] = h[s] ^ kx;
        }
      }
    }
    for (size_t i = 4 * q; i < m; ++i) out[i] = direct(i) ^ kx;
  }

  size_t next(uint64_t* out) {
    while (!finished) {
      if (p < end) {
        if (++blocks % kBlocksPerPoll == 0 && stop != nullptr) stop->poll();
        switch (unit) {
          case Unit::word:
            word_block();
            break;
          case Unit::character:
            character_block();
            break;
          case Unit::byte:
            byte_block();
            break;
          case Unit::line:
          case Unit::paragraph:
          case Unit::code:
            scanned_block();
            break;
        }
      } else {
        finished = true;
        if (!emitted && have > 0) {
          uint64_t h = 0;
          for (size_t i = 0; i < have; ++i) h = h * kShingleBase + units[i];
          out[0] = h ^ k;
          return 1;
        }
      }
      if (have >= k) {
        const size_t m = have - k + 1;
        combine(m, out);
        std::memmove(units, units + m, (k - 1) * sizeof(uint64_t));
        have = k - 1;
        emitted = true;
        return m;
      }
    }
    return 0;
  }
};

ShingleStream::ShingleStream(Unit unit, int64_t k, const uint8_t* text, size_t size, StopCheck* stop) {
  check_k(k);
  impl_ = std::make_unique<Impl>(unit, static_cast<size_t>(k), text, size, stop);
}

ShingleStream::~ShingleStream() = default;

size_t ShingleStream::next(uint64_t* out) { return impl_->next(out); }

ShingleText::ShingleText(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop)
    : unit_(unit), k_(static_cast<size_t>(k)), scanner_(unit, text, size, stop) {
  check_k(k);
}

bool ShingleText::next(std::string* shingle) {
  if (emitted_) window_.pop_front();
  TextUnit unused;
  std::string_view key;
  while (window_.size() < k_ && scanner_.next(&unused, &key)) window_.emplace_back(key);
  if (window_.empty() || (window_.size() < k_ && emitted_)) return false;
  emitted_ = true;
  shingle->clear();
  for (const std::string& u : window_) {
    if ((unit_ == Unit::word || unit_ == Unit::code) && !shingle->empty()) *shingle += ' ';
    if (is_of_lines(unit_) && !shingle->empty()) *shingle += '\n';
    *shingle += u;
  }
  return true;
}

}  // namespace neardup
