// Weights of a caller's features: their exact form, sums of repeated features, exact measures of two weighted sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/stop.h"

namespace neardup {

// Weights as multiples of 2^-60: sums are exact, so no order of the features changes a bit.
__extension__ using WeightUnits = unsigned __int128;
inline constexpr int kWeightBits = 60;
inline constexpr double kMaxWeight = 1099511627776.0;  // 2^40

// The multiple of 2^-60 nearest to a weight (half to even). Error{invalid_argument} unless the weight is from 0 to
// 2^40. number: for the error's text, which one of a list; 0: of none.
WeightUnits weight_units(double weight, size_t number = 0);

// Adds to a sum that never passes 2^68 (as a weight): else Error{too_large}.
void add_units(WeightUnits* sum, WeightUnits by);

// A feature by its bytes, which belong to the caller.
struct TextWeight {
  std::string_view feature;
  WeightUnits units;
};

struct WeightedOverlap {
  WeightUnits a = 0;  // total weights, each below 2^68
  WeightUnits b = 0;
  WeightUnits shared = 0;        // sum of min(a_i, b_i)
  std::optional<double> cosine;  // nothing where a or b has no weight above 0

  // sum min / sum max, within 2 units in the last place; 0 where either total is 0.
  double jaccard() const noexcept;
};

// Sorts both lists by bytes and adds up the weights of repeated features. Error{too_large} for a total above 2^68. stop
// (may be null) is polled about every million comparisons.
WeightedOverlap weighted_overlap(std::vector<TextWeight>* a, std::vector<TextWeight>* b, StopCheck* stop);

}  // namespace neardup
