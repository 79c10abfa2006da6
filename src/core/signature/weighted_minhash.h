// MinHash of weighted sets: signatures whose share of equal components estimates sum min(a_i, b_i) / sum max(a_i, b_i),
// the weighted (generalised) Jaccard similarity. Format 1, kind 7: docs/format.md, section 12.
//
// Every feature x has a fixed Poisson process of rate 1 over (weight, time), and each of its events a fixed component.
// A component of a set is the time of its first event at a weight below that of the event's feature: BagMinHash's
// sampler (O. Ertl, KDD 2018). The weight axis is cut at the powers of two, as in M. Manasse, F. McSherry, K. Talwar,
// Consistent weighted sampling (2010), and only events before a time by which all components should have one are looked
// at, as in T. Christiani, DartMinHash (2020): so the work is near n + L log L instead of n L. Integers alone decide a
// component: no logarithm of a library, which may differ in its last bit. Since components are least times, those of
// the features' greatest weights in two sets are the component-wise minimum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/exact/weights.h"

namespace neardup {

// A feature by its hash: element_hash() of its text.
struct WeightedElement {
  uint64_t hash;
  WeightUnits units;
};

// Components of a weighted set; false when no weight is above 0. The weights of elements with equal hashes are added
// up. elements: used as working memory. components: num_perm (16..4096) values, none of them kEmptyComponent32. stop
// may be null. Error{too_large} when the sum of weights passes 2^68. About 50 ns an element and 20 ns x num_perm x
// ln(num_perm).
bool sign_weighted(uint32_t num_perm, uint64_t seed, std::vector<WeightedElement>* elements, StopCheck* stop,
                   uint32_t* components);

// A component is a time: 8 bits of exponent, 24 of fraction, so that order is kept. Its 16-bit form has 8 bits of
// fraction.
inline uint16_t weighted_component16(uint32_t v) noexcept { return static_cast<uint16_t>(v >> 16); }

// The set's sum of weights, estimated as L (L - 1) / sum of times; standard error 1 / sqrt(L - 2). bits 16 or 32;
// components in their native width, of a signature that is not empty.
double estimate_total_weight(const void* components, uint32_t num_perm, uint32_t bits) noexcept;

namespace weighted_detail {

// -ln(1 - hash / 2^64) in multiples of 2^-44, at least 1, by integers: relative error below 2^-28, or 2 multiples.
// Never below hash / 2^64 rounded down.
uint64_t exponential(uint64_t hash) noexcept;

// The table of exponential(): round(2^44 ln(floor(2^24 / (129 + j)) / 2^16)), j below 128.
uint64_t reciprocal_log(uint32_t j) noexcept;

}  // namespace weighted_detail

}  // namespace neardup
