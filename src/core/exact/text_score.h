// The likeness of two short texts of a record (names, addresses, titles): 0..100, by tokens and edit distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/stop.h"

namespace neardup {

// The code points of each text that are looked at, separators between tokens aside.
inline constexpr size_t kScoredCharacters = 10'000;
// With more unequal tokens than this on one side no alignment is sought.
inline constexpr size_t kAlignedTokens = 32;

// Both texts are case-folded and cut into tokens: runs of letters, digits and marks that begin with a letter or digit
// (utf8.h, where '_' is a letter; scripts without spaces make one token, too). Lengths and distances are in code
// points.
//   score = floor(100 * (D - min(C, J, D)) / D), D the greater of the total lengths La and Lb of all tokens
//   J   Levenshtein distance of the tokens of a, joined, and those of b, joined
//   C   equal tokens are paired off. Of the others, where neither side has more than kAlignedTokens, the least sum of
//       costs over all ways to pair some of a with some of b: Levenshtein distance of a pair, the length of what stays
//       alone; but 1 for a pair of which one is a single character, no digit 0-9, and the other begins with it (an
//       initial). With more tokens the greater of both sides' remaining lengths.
// 100 exactly if the tokens are the same whatever their order, or the same once joined. Symmetric. None where a text
// has no token. Any bytes will do: ill-formed UTF-8 separates. Cost: some 200 ns for names of two or three words, below
// 10 ms always. Error{cancelled} when stop (may be null) says so.
std::optional<int> text_score(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                              StopCheck* stop = nullptr);

// The share of true pairs among pairs that are this far apart on average, when true pairs are `gold` and random ones
// `random` apart on average: (random - observed) / (random - gold), not below 0 nor above 1.
// Error{invalid_argument} unless all are finite and random differs from gold.
double score_precision(double observed, double gold, double random);

}  // namespace neardup
