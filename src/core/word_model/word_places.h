// The places of a text for a word model: its words, or only that one stands there, and where sentences begin.
//
// A word that holds a decimal digit (Unicode's Nd) or '_', or has more than kMaxWordBytes, keeps its place, but is no
// word of a model. A sentence ends between two words where the bytes between them hold
//   - one of ! ? and U+2026 U+3002 U+FF01 U+FF1F U+FF61 U+0964 U+061F U+06D4 U+203C U+2047 U+2048 U+2049, or
//   - two line feeds with nothing but spaces, tabs and carriage returns between, or
//   - a full stop (. or U+FF0E), then closing quotes and brackets or none, then white space; unless the word before is
//   a
//     single code point (an initial) or the next word begins with a lower-case letter (after an abbreviation).
// A lower-case letter is one that a capital is folded to; those of Georgian and Cherokee are none, whose sentences do
// not begin with capitals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/stop.h"

namespace neardup {

inline constexpr size_t kMaxWordBytes = 1024;

struct WordPlace {
  std::string_view word;  // folded, until the next call; empty: a place without a word
  bool begins;            // a sentence begins with it
};

// A place for each word of words.h, in order. Constant memory, whatever the length of words.
class WordPlaces {
 public:
  // text must stay valid; ill-formed UTF-8 reads as U+FFFD. stop (may be null) is polled every 128 kB.
  WordPlaces(const uint8_t* text, size_t size, StopCheck* stop = nullptr);

  // False at the end. 8 bytes of 0 follow the word's bytes.
  bool next(WordPlace* place);

 private:
  bool find_word(bool* begins);
  void read_on(size_t n, bool odd);
  bool more();

  const uint8_t* p_;
  const uint8_t* limit_;  // up to the next poll
  const uint8_t* const end_;
  StopCheck* const stop_;
  bool first_ = true;
  bool single_ = false;  // the word before is one code point
  size_t size_ = 0;      // of the word; 0: only a place
  uint8_t word_[kMaxWordBytes + 16];
};

// The rule's decimal digits and lower-case letters.
bool is_decimal_digit(uint32_t code_point) noexcept;
bool is_lower_case(uint32_t code_point) noexcept;

}  // namespace neardup
