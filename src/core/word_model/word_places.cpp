// See word_places.h. Words of ASCII and what stands between them go byte by byte through tables; all else is decoded.
#include "core/word_model/word_places.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

#include "core/unicode/word_machine.h"

namespace neardup {
namespace {

constexpr size_t kPollBytes = 128 * 1024;

// Letters have both bits in kAsciiWordBytes, digits and '_' have not.
constexpr uint8_t kLetterBits = 0x60;

enum class Between : uint8_t { other, word, blank, line_feed, space, end, stop, closing, high };

// The signs by code point. Quotes that close in one language and open in another count: it matters that they touch the
// full stop. Spaces are those of Unicode's White_Space.
constexpr std::u16string_view kEnds = u"\u061f\u06d4\u0964\u2026\u203c\u2047\u2048\u2049\u3002\uff01\uff1f\uff61";
constexpr std::u16string_view kClosings =
    u"\u00ab\u00bb\u2018\u2019\u201c\u201d\u2039\u203a\u3009\u300b\u300d\u300f\u3011\u3015\u3017\u3019\u301e"
    u"\u301f\uff02\uff07\uff09\uff3d\uff5d\uff60\uff63";
constexpr std::u16string_view kSpaceSigns =
    u"\x85\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
    u"\u205f\u3000";

static_assert(std::ranges::is_sorted(kEnds) && std::ranges::is_sorted(kClosings) &&
              std::ranges::is_sorted(kSpaceSigns));

bool contains(std::u16string_view sorted, uint32_t c) noexcept {
  return std::binary_search(sorted.begin(), sorted.end(), c);
}

Between between(uint32_t c) noexcept {
  if (c == 0xff0e) return Between::stop;
  if (contains(kEnds, c)) return Between::end;
  if (contains(kClosings, c)) return Between::closing;
  return contains(kSpaceSigns, c) ? Between::space : Between::other;
}

constexpr std::array<Between, 256> make_between_table() {
  std::array<Between, 256> t{};
  for (unsigned c = 0; c < 256; ++c)
    t[c] = c >= 128 ? Between::high : kAsciiWordBytes[c] != 0 ? Between::word : Between::other;
  for (const char c : {' ', '\t', '\r'}) t[static_cast<unsigned char>(c)] = Between::blank;
  for (const char c : {'\v', '\f'}) t[static_cast<unsigned char>(c)] = Between::space;
  for (const char c : {'"', '\'', ')', ']', '}'}) t[static_cast<unsigned char>(c)] = Between::closing;
  t['\n'] = Between::line_feed;
  t['!'] = t['?'] = Between::end;
  t['.'] = Between::stop;
  return t;
}
constexpr std::array<Between, 256> kBetween = make_between_table();

// The zeros of Unicode 15.0's decimal digits: nine more follow each.
constexpr uint32_t kZeros[] = {
    0x30,    0x660,   0x6f0,   0x7c0,   0x966,   0x9e6,   0xa66,   0xae6,   0xb66,   0xbe6,   0xc66,   0xce6,
    0xd66,   0xde6,   0xe50,   0xed0,   0xf20,   0x1040,  0x1090,  0x17e0,  0x1810,  0x1946,  0x19d0,  0x1a80,
    0x1a90,  0x1b50,  0x1bb0,  0x1c40,  0x1c50,  0xa620,  0xa8d0,  0xa900,  0xa9d0,  0xa9f0,  0xaa50,  0xabf0,
    0xff10,  0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0,
    0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8,
    0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e950, 0x1fbf0,
};

// The letters that capitals are folded to.
constexpr uint32_t kFoldedEnd = 0x20000;
using FoldedSet = std::array<uint64_t, kFoldedEnd / 64>;

FoldedSet make_folded_set() noexcept {
  FoldedSet set{};
  for (uint32_t c = 0; c < kFoldedEnd; ++c) {
    const uint32_t f = detail::classify(c).folded;
    const bool unicameral = (f >= 0x10d0 && f <= 0x10ff) || (f >= 0x13a0 && f <= 0x13f5);
    if (f != c && f < kFoldedEnd && !unicameral) set[f >> 6] |= uint64_t{1} << (f & 63);
  }
  return set;
}

}  // namespace

bool is_decimal_digit(uint32_t code_point) noexcept {
  if (code_point < 0x660) return code_point - '0' < 10;
  const uint32_t* const after = std::upper_bound(std::begin(kZeros), std::end(kZeros), code_point);
  return code_point - after[-1] < 10;
}

bool is_lower_case(uint32_t code_point) noexcept {
  if (code_point < 0x80) return code_point >= 'a' && code_point <= 'z';
  static const FoldedSet set = make_folded_set();
  return code_point < kFoldedEnd && (set[code_point >> 6] >> (code_point & 63) & 1) != 0;
}

WordPlaces::WordPlaces(const uint8_t* text, size_t size, StopCheck* stop)
    : p_(text), limit_(text), end_(text + size), stop_(stop) {
  more();
}

// Polls at limit_, and moves it on. False at the end of the text.
bool WordPlaces::more() {
  if (stop_ != nullptr) stop_->poll();
  if (p_ >= end_) return false;
  limit_ = p_ + std::min(kPollBytes, static_cast<size_t>(end_ - p_));
  return true;
}

// Goes to the beginning of the next word. *begins: true if a sentence does, too.
bool WordPlaces::find_word(bool* begins) {
  // Most words have one space between them.
  if (limit_ - p_ >= 2 && *p_ == ' ' && kAsciiWordBytes[p_[1]] != 0) {
    ++p_;
    *begins = first_;
    return true;
  }
  bool ended = first_;
  bool stopped = false;  // behind a full stop, and closing marks
  bool stop_counts = false;
  int line_feeds = 0;
  for (;;) {
    if (p_ >= limit_ && !more()) return false;
    Between kind = kBetween[*p_];
    unsigned length = 1;
    uint32_t c = *p_;
    if (kind == Between::word) {
      *begins = ended || (stop_counts && !single_ && !is_lower_case(c));
      return true;
    }
    if (kind == Between::high) {
      c = detail::decode_utf8(p_, end_, &length);
      if (detail::classify(c).cls != WordClass::none) {
        *begins = ended || (stop_counts && !single_ && !is_lower_case(c));
        return true;
      }
      kind = between(c);
    }
    p_ += length;
    switch (kind) {
      case Between::blank:
      case Between::line_feed:
      case Between::space:
        stop_counts |= stopped;
        stopped = false;
        if (kind == Between::line_feed) {
          ended |= ++line_feeds == 2;
        } else if (kind == Between::space) {
          line_feeds = 0;
        }
        break;
      case Between::closing:
        line_feeds = 0;
        break;
      default:
        ended |= kind == Between::end;
        stopped = kind == Between::stop;
        line_feeds = 0;
    }
  }
}

// The rest of a word whose first n bytes, ASCII, are read; odd: with a digit or '_' among them.
void WordPlaces::read_on(size_t n, bool odd) {
  size_t code_points = n;
  WordMachine machine;
  if (n > 0) machine.step(WordClass::word);
  while (p_ < limit_ || more()) {
    unsigned length;
    const uint32_t c = detail::decode_utf8(p_, end_, &length);
    const CodePoint folded = detail::classify(c);
    if (machine.step(folded.cls) != WordStep::continues && code_points > 0) break;
    odd |= c == '_' || (folded.cls == WordClass::word && is_decimal_digit(c));
    // Behind the end of a word that is too long nothing more is written.
    if (n <= kMaxWordBytes) n += detail::encode_utf8(folded.folded, word_ + n);
    p_ += length;
    ++code_points;
  }
  single_ = code_points == 1;
  size_ = odd || n > kMaxWordBytes ? 0 : n;
}

bool WordPlaces::next(WordPlace* place) {
  if (!find_word(&place->begins)) return false;
  first_ = false;
  const uint8_t* const begin = p_;
  const uint8_t* const stop = begin + std::min<size_t>(kMaxWordBytes, static_cast<size_t>(limit_ - begin));
  const uint8_t* p = begin;
  uint8_t bits = 0xff;
  uint8_t* to = word_;
  for (; p < stop; ++p) {
    const uint8_t folded = kAsciiWordBytes[*p];
    if (folded == 0) break;
    bits &= folded;
    *to++ = folded;
  }
  p_ = p;
  const bool odd = (bits & kLetterBits) != kLetterBits;
  if (p < stop && *p < 0x80) {
    size_ = odd ? 0 : static_cast<size_t>(p - begin);
    single_ = p - begin == 1;
  } else {
    read_on(static_cast<size_t>(p - begin), odd);
  }
  std::memset(word_ + size_, 0, 8);
  place->word = {reinterpret_cast<const char*>(word_), size_};
  return true;
}

}  // namespace neardup
