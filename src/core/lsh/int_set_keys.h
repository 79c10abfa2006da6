// Sets in an lsh index: elements as keys (exact), or buckets of minutiae (with a declared recall). Frozen, since
// indexes hold these keys: docs/format.md 8.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kinds/measure.h"

namespace neardup {

// Keys by elements ----------------------------------------------------------------------------------------------------

// Sets up to this size have a key for each element; larger ones have one key that says so. By the version of the hash
// family that the index is of.
inline constexpr size_t kMaxIndexedSet1 = 1600;
inline constexpr size_t kMaxIndexedSet2 = 250000;
// A query of more elements is not looked up.
inline constexpr size_t kMaxQuerySet = 65000;

inline uint64_t set_element_key(int64_t element) noexcept { return static_cast<uint64_t>(element); }
inline constexpr uint64_t kLargeSetKey = 0x6C61'7267'6520'7365;

// Classes of sizes, four to a doubling: class 4 i + q has the sizes from (4 + q) / 4 * 2^i on, below those of the next
// one. From the second version of the family on a set that is not too large has the key of its class, too.
inline constexpr uint32_t kSizeClasses = 72;  // up to 2^18 - 1 elements
inline constexpr uint64_t kSizeClassKey = 0x7365'7420'7369'7A65;
static_assert(kMaxIndexedSet2 < size_t{1} << (kSizeClasses / 4));

// n > 0.
inline uint32_t size_class(size_t n) noexcept {
  const auto doublings = static_cast<uint32_t>(std::bit_width(n) - 1);
  return 4 * doublings + static_cast<uint32_t>((uint64_t{n} << 2 >> doublings) & 3);
}
inline size_t least_size(uint32_t size_class) noexcept {
  return (((size_t{4} + size_class % 4) << (size_class / 4)) + 3) / 4;
}
inline uint64_t size_class_key(uint32_t size_class) noexcept { return kSizeClassKey + size_class; }

// The look-ups for the sets within a bound of a query of n elements. A set that qualifies has at least `least` of
// the query's elements: as many as one that is a part of the query. For the share of the set in the query one of them
// may be enough: that depends on the set's size, and class_least[c] are what a set of class c needs; those of class
// `classes` and above are too large to qualify.
struct SetPlan {
  bool served;   // else every set is a candidate
  bool nothing;  // no set qualifies
  bool large;    // sets that are too large for their elements to be indexed may qualify
  uint32_t least;
  uint32_t classes;  // 0: the size decides nothing
  uint32_t class_least[kSizeClasses];
};
// most: elements of a set that are indexed.
SetPlan plan_set(Measure measure, size_t n, double bound, size_t most) noexcept;

// Keys by minutiae ----------------------------------------------------------------------------------------------------

// A set is in bucket f when it has all cells of function f, which are drawn at random, once and for all, from the cells
// 0 .. grid * grid - 1 (Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, 3.8.3-3.8.4).
struct MinutiaeRules {
  uint32_t functions;  // 16..1600
  uint32_t cells;      // of a function, 1..8
  uint32_t grid;       // cells a side, 4..1024
};
inline constexpr MinutiaeRules kDefaultMinutiae{1024, 3, 64};
inline constexpr uint32_t kLeastFunctions = 16;
inline constexpr uint32_t kMaxFunctions = 1600;
inline constexpr uint32_t kMaxFunctionCells = 8;
inline constexpr uint32_t kLeastGrid = 4;
inline constexpr uint32_t kMaxGrid = 1024;

bool valid_minutiae(const MinutiaeRules& rules) noexcept;

// The cells of function f, ascending; rules.cells of them.
void function_cells(const MinutiaeRules& rules, uint32_t f, uint32_t* cells) noexcept;

// The buckets of a set, ascending. Elements that are no cells of the grid are passed over. Costs some 10 us at 1024
// functions. Throws bad_alloc.
std::vector<uint32_t> minutiae_buckets(const MinutiaeRules& rules, const int64_t* set, size_t n);

inline uint64_t bucket_key(uint32_t f) noexcept { return uint64_t{f} + 1; }

// Probability that two prints share a bucket when a cell is in the first with probability `density` and, given that, in
// the second with probability `repeat`; repeat = density for prints of different fingers.
double bucket_probability(const MinutiaeRules& rules, double density, double repeat) noexcept;

// The cells of points of the unit square, ascending, each once: row * grid + column. A point nearer to a border between
// cells than `margin` (0..0.5, in widths of a cell) is in the cells on both sides.
struct GridPoint {
  double x;  // 0..1
  double y;
};
std::vector<int64_t> point_cells(const GridPoint* points, size_t n, uint32_t grid, double margin);

}  // namespace neardup
