// Bands of a minhash signature as an lsh index stores them: how many for a threshold, their keys, what they find.
#pragma once

#include <cstdint>

#include "core/base/error.h"

namespace neardup {

// Keys that a row of an index may have.
inline constexpr uint32_t kMaxIndexBands = 1600;

// Disjoint bands of neighbouring components. Plain data; an index stores bands, rows and need.
//
// Exact: a threshold that needs `need` equal components allows D = num_perm - need unequal ones; one of them breaks one
// band at most, so of D + 1 bands one is whole, and of any p > D bands p - D are. The bands share out all components:
// band j has those from j * num_perm / bands to (j + 1) * num_perm / bands, sizes that differ by one at most.
// Otherwise: bands of `rows` components each, from the first on; the components after them are in no band.
struct BandLayout {
  uint32_t num_perm;
  uint32_t bits;
  uint32_t bands;  // 1..kMaxIndexBands
  uint32_t rows;   // components of every band; 0: the exact layout
  uint32_t need;   // least number of equal components at the threshold, 1..num_perm

  bool exact() const noexcept { return rows == 0; }
  // First component of band j; of band `bands`: one beyond the last.
  uint32_t begin(uint32_t j) const noexcept { return rows == 0 ? j * num_perm / bands : j * rows; }
};

// The layout for queries of at least `threshold`. recall 1: exact. Below 1: the cheapest layout (minhash_keys.cpp) that
// finds a row of exactly `need` equal components with at least that probability, all places being equally likely; rows
// of more are found more often. Never more bands than the exact layout, which is taken when it is no dearer.
// num_perm 16..4096, bits 8, 16 or 32. Cost: microseconds; recall < 1 with thousands of components up to 0.1 s.
// Error{invalid_argument}: threshold or recall not in (0, 1]. Error{too_large}: more than kMaxIndexBands bands.
BandLayout choose_bands(uint32_t num_perm, uint32_t bits, double threshold, double recall);

// False unless the fields are what choose_bands() may return: then every band lies within the signature.
bool valid_layout(const BandLayout& layout) noexcept;

// One 64-bit key for each band: a hash of its number and its components, equal for equal bands and the reverse nearly
// always. components: num_perm values of `bits` bits, as stored. Frozen: indexes hold these keys (docs/format.md).
void band_keys(const BandLayout& layout, const void* components, uint64_t* out) noexcept;

// Probability that at least one band is whole in a row with `matches` equal components, all their places being equally
// likely: exactly 1 for `need` and more in the exact layout. Cost: as choose_bands().
double hit_probability(const BandLayout& layout, uint32_t matches);

// Error{invalid_argument} unless both are at least 1.
void check_bands(int64_t bands, int64_t rows);

// 1 - (1 - s^rows)^bands: the same where components agree independently with probability s.
// similarity in [0, 1], bands and rows at least 1.
double lsh_probability(double similarity, uint32_t bands, uint32_t rows) noexcept;

}  // namespace neardup
