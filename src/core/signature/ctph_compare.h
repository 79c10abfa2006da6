// Comparing ctph digests: ssdeep's score and the edit rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/signature/ctph.h"

namespace neardup {

// False when one is ssdeep's and the other long: the 64th character of ssdeep's stands for all that is left, that of a
// long digest never does. Long digests of different lengths are comparable.
inline bool comparable(const CtphView& a, const CtphView& b) noexcept { return a.is_long() == b.is_long(); }

// Throws Error{incomparable} unless comparable().
void check_comparable(const CtphView& a, const CtphView& b);

// Describes the kind of digest for people: `ssdeep's, 64 characters` or `long, 256 characters`.
std::string describe(const CtphView& digest);

// ssdeep's score 0..100 (fuzzy_compare of ssdeep 2.14.1), after check_comparable(). Runs are cut to three characters.
// 100 when both parts and the block sizes are equal, however short. Else of the parts x, y of a common block size b,
// the better where there are two:
//   0 where they share no substring of 7 characters;
//   100 - floor(100 floor(64 e / s) / 64), s = |x| + |y|, e = s - 2 LCS(x, y);
//   not above floor(b / 3) min(|x|, |y|) when b < 45.
// Symmetric. About 0.3 us for 64 characters; O(|x| |y| / 64).
int ctph_score(const CtphView& a, const CtphView& b);

enum class CtphReason : uint8_t {
  no_common_block_size,  // 0
  too_short,             // 0: of each common block size, one part has less than 7 characters
  too_short_cut,         // 0: it has when its runs are cut
  nothing_shared,        // 0: no 7 characters in a row
  nothing_shared_cut,    // 0: none when runs are cut, as some were
  equal,                 // 100, however short: both parts, runs cut, and the block sizes
  capped,                // block sizes below 45 allow no more
  measured,              // by how much the parts differ
};

struct CtphScore {
  int score;     // ctph_score()
  int uncapped;  // what it would be if small block sizes set no limit
  CtphReason reason;
};

// ctph_score(), explained; some ten times as slow.
CtphScore explain_ctph_score(const CtphView& a, const CtphView& b);

// Levenshtein distance of the parts of the smaller common block size, runs not cut, divided by the sum of their
// lengths; in [0, 1], smaller is closer; 1 where no block size is common or both parts are empty. Symmetric. After
// check_comparable(). One word operation a character up to 64 characters, ceil(n / 64) above.
double ctph_edit_rate(const CtphView& a, const CtphView& b);

// A rate that is as large as a similarity of 1 - rate allows is not lost to rounding with so much more.
inline constexpr double kEditRateSlack = 1e-9;

// The parts that ctph_edit_rate() compares. False where no block size is common.
bool common_parts(const CtphView& a, const CtphView& b, std::string_view* of_a, std::string_view* of_b) noexcept;

// Levenshtein distance of two parts, or of any texts over the digests' alphabet.
uint32_t levenshtein(std::string_view a, std::string_view b);

}  // namespace neardup
