// Measures how much of a text is text: letters, repetition, and a score of both with length and cleanness.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/stop.h"

namespace neardup {

struct TextQuality {
  uint64_t length = 0;    // characters
  double letters = 0;     // share of letters, marks and digits among the characters that are not white space
  double repetition = 0;  // share of characters that repeat what stood before, by lines or by n-grams
};

// Measures valid UTF-8. repetition is the larger of two of the measures of Rae et al. 2021 (Gopher, appendix A1.1),
// taken over the first kQualitySample bytes:
//   characters in lines equal to an earlier line, over the characters of all lines that are not blank
//   characters in n-grams of words equal to an earlier n-gram, each counted once, over the characters of all words
// with n = 5, and n = 10 where most words are letters of scripts without spaces. Words and lines are compared by 64-bit
// hashes of folded words. Gopher discards documents above 0.2 and 0.15 there. About 12 bytes of memory a word.
inline constexpr size_t kQualitySample = 1 << 20;
TextQuality measure_quality(const uint8_t* text, size_t n, StopCheck* stop);

// kept * letters * (1 - repetition) * length / (length + 100), in [0, 1): more of kept, letters and length never lowers
// it, more repetition never raises it. kept: of clean_text(), 1 where that is not known.
double quality_score(const TextQuality& quality, double kept) noexcept;

}  // namespace neardup
