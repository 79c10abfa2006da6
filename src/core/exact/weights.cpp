// See weights.h.
#include "core/exact/weights.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/message_text.h"

namespace neardup {
namespace {

// One entry a feature with a weight above 0, ascending; returns the total.
WeightUnits combine(std::vector<TextWeight>* set, StopCheck* stop) {
  uint32_t steps = 0;
  std::sort(set->begin(), set->end(), [&](const TextWeight& a, const TextWeight& b) {
    if ((++steps & 0xfffff) == 0 && stop != nullptr) stop->poll();
    return a.feature < b.feature;
  });
  WeightUnits total = 0;
  size_t kept = 0;
  for (const TextWeight& t : *set) {
    if (t.units == 0) continue;
    add_units(&total, t.units);
    if (kept > 0 && (*set)[kept - 1].feature == t.feature)
      (*set)[kept - 1].units += t.units;  // not above total
    else
      (*set)[kept++] = t;
  }
  set->resize(kept);
  return total;
}

double square_sum(const std::vector<TextWeight>& set) noexcept {
  double sum = 0;
  for (const TextWeight& t : set) sum += static_cast<double>(t.units) * static_cast<double>(t.units);
  return sum;
}

}  // namespace

WeightUnits weight_units(double weight, size_t number) {
  if (!(weight >= 0 && weight <= kMaxWeight))
    throw Error(Errc::invalid_argument, (number == 0 ? "weight" : "weight " + std::to_string(number)) +
                                            " must be from 0 to 1099511627776 (2^40): " + number_text(weight));
  return static_cast<WeightUnits>(std::nearbyint(std::ldexp(weight, kWeightBits)));
}

void add_units(WeightUnits* sum, WeightUnits by) {
  const WeightUnits now = *sum + by;
  if (now < by) throw Error(Errc::too_large, "the sum of weights is above 2^68");
  *sum = now;
}

double WeightedOverlap::jaccard() const noexcept {
  if (a == 0 || b == 0) return 0;
  // Equal sets have exactly 1: the first term is 0, and the others are the same number.
  return static_cast<double>(shared) / (static_cast<double>(a - shared) + static_cast<double>(b));
}

WeightedOverlap weighted_overlap(std::vector<TextWeight>* a, std::vector<TextWeight>* b, StopCheck* stop) {
  WeightedOverlap o;
  o.a = combine(a, stop);
  o.b = combine(b, stop);
  if (o.a == 0 || o.b == 0) return o;
  double product = 0;
  for (size_t i = 0, j = 0; i < a->size() && j < b->size();) {
    const TextWeight& x = (*a)[i];
    const TextWeight& y = (*b)[j];
    const int order = x.feature.compare(y.feature);
    if (order == 0) {
      o.shared += std::min(x.units, y.units);
      product += static_cast<double>(x.units) * static_cast<double>(y.units);
    }
    i += order <= 0;
    j += order >= 0;
  }
  // The products are at most 2^256 each: no overflow.
  o.cosine = std::clamp(product / std::sqrt(square_sum(*a)) / std::sqrt(square_sum(*b)), 0.0, 1.0);
  return o;
}

}  // namespace neardup
