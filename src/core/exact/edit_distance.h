// Levenshtein distance of two whole documents, exact, with an upper bound: insert, delete and replace cost one each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/stop.h"
#include "core/document/shingle.h"

namespace neardup {

struct EditOptions {
  size_t memory_limit = SIZE_MAX;  // bytes for what grows with the documents; 64 KB are allowed anyway
  StopCheck* stop = nullptr;       // may be null; must outlive the call; polled about every half millisecond
};

// Counts for reports and tests.
struct EditStats {
  uint64_t diagonal_steps = 0;  // furthest-reaching points computed
  uint64_t block_columns = 0;   // words of 64 rows computed, a column each
  uint32_t bands = 0;           // bounds tried by bit-parallel search
  size_t peak_bytes = 0;        // working memory held at once
};

// The least number of symbols to insert, delete or replace that turns a into b; none where that is above max_distance.
//   unit: Unit::character compares code points of well-formed UTF-8 (for ill-formed text the answer means nothing, but
//   nothing else is harmed), Unit::byte compares bytes; Unit::word is Error{invalid_argument}.
// With la >= lb symbols behind the common prefix and suffix and d = min(distance, max_distance):
//   time    O(la + d^2) while d is small, else about O(lb * min(d, la) / 64); less where max_distance stops it early
//   memory  some 50 KB, lb / 10 bytes at most while d is small, else half a byte for each edit of the bound that is
//   tried
//           (a few times d, la at most); for characters 512 bytes for each group of 256 code points that the shorter
//           text uses (2.2 MB at most), and 4 la bytes if half of options.memory_limit holds them
// Error{out_of_budget} when the memory allows no bound that is not below d: 64 KB allow 260,000 edits, 4 MB 16 million.
// Error{cancelled} when stop says so.
// Sources: Ukkonen, "Algorithms for approximate string matching", 1985, and Landau and Vishkin, "Fast parallel and
// serial approximate string matching", 1989 (furthest-reaching points on diagonals; the band); Myers, "A fast
// bit-vector algorithm for approximate string matching based on dynamic programming", JACM 46(3), 1999, and Hyyro,
// "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003, section 4 (blocks).
std::optional<uint64_t> edit_distance(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                      uint64_t max_distance = UINT64_MAX, const EditOptions& options = {},
                                      EditStats* stats = nullptr);

// Distance / (length of a + length of b), lengths in symbols: one float8 division, in [0, 1]; 0 for two empty
// documents. None where that float8 is above max_rate, which is 0..1, else Error{invalid_argument}.
std::optional<double> edit_rate(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                double max_rate = 1.0, const EditOptions& options = {}, EditStats* stats = nullptr);

// The rate where a short wait matters more than an answer for every pair: none where distance * length of the
// shorter document, in symbols, is above max_cells. So there is an answer wherever the product of both lengths is at
// most max_cells, and the time has a bound whatever the documents: a few seconds for 5 * 10^10.
std::optional<double> edit_rate_within(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                       uint64_t max_cells, const EditOptions& options = {}, EditStats* stats = nullptr);

// The greatest d in 0..total whose float8 quotient d / total is at most max_rate. total is below 2^52 and 0 gives 0;
// max_rate is 0..1, else Error{invalid_argument}.
uint64_t max_edits(uint64_t total, double max_rate);

}  // namespace neardup
