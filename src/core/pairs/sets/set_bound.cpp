// See set_bound.h.
#include "core/pairs/sets/set_bound.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/message_text.h"

namespace neardup {
namespace {

// No set has so many elements.
constexpr uint32_t kBeyondAllSets = UINT32_MAX;

double share(double part, double whole) noexcept { return part / whole; }

// The least number k, from `from` to `most`, with share(k, whole(k)) >= bound, which grows with k; else most + 1.
template <class Whole>
uint32_t least_number(double from, uint32_t most, double bound, Whole whole) noexcept {
  uint32_t k = from < 1 ? 1 : from > most ? most : static_cast<uint32_t>(from);
  while (k <= most && share(k, whole(k)) < bound) ++k;
  return k;
}

}  // namespace

double set_measure(SetMeasure measure, uint32_t size_x, uint32_t size_y, uint32_t common) noexcept {
  switch (measure) {
    case SetMeasure::overlap:
      return common;
    case SetMeasure::containment:
      return share(common, size_x);
    case SetMeasure::containing:
      return share(common, size_y);
    case SetMeasure::overlap_coefficient:
      return share(common, std::min(size_x, size_y));
    default:
      return share(common, static_cast<double>(size_x) + size_y - common);
  }
}

SetBound::SetBound(SetMeasure measure, double bound, bool by_size)
    : measure_(measure), bound_(bound), by_size_(by_size) {
  const bool is_overlap = measure == SetMeasure::overlap;
  if (bound > 0 && (bound <= 1 || is_overlap)) return;
  throw Error(Errc::invalid_argument,
              "threshold is " + number_text(bound) + ", it must be above 0" + (is_overlap ? "" : " and at most 1"));
}

// The least number of a set's elements whose share of it is the bound. No estimate is more than a few units off.
uint32_t SetBound::least_share(uint32_t size) const noexcept {
  return least_number(std::floor(bound_ * size) - 1, size, bound_, [size](uint32_t) { return double(size); });
}

uint32_t SetBound::common(uint32_t indexed, uint32_t probe) const noexcept {
  if (measure_ == SetMeasure::overlap) {
    const double least = std::ceil(bound_);
    return least < kBeyondAllSets ? static_cast<uint32_t>(least) : kBeyondAllSets;
  }
  if (is_directed()) return least_share(indexed);
  if (measure_ == SetMeasure::overlap_coefficient) return least_share(std::min(indexed, probe));
  const double both = static_cast<double>(indexed) + probe;
  return least_number(std::floor(bound_ / (1 + bound_) * both) - 1, std::min(indexed, probe), bound_,
                      [both](uint32_t k) { return both - k; });
}

// Of a Jaccard similarity, the share of the common elements in either set is at least the bound. Where the probe is the
// larger set, both have at least the indexed one's size.
uint32_t SetBound::indexed_prefix(uint32_t size) const noexcept {
  if (measure_ == SetMeasure::overlap_coefficient && !by_size_) return size;
  const bool is_jaccard = measure_ == SetMeasure::jaccard;
  const uint32_t least = !is_jaccard ? common(size, size) : by_size_ ? common(size, size) : least_share(size);
  return least > size ? 0 : size - least + 1;
}

uint32_t SetBound::probe_prefix(uint32_t size) const noexcept {
  if (is_directed() || measure_ == SetMeasure::overlap_coefficient) return size;
  const uint32_t least = measure_ == SetMeasure::jaccard ? least_share(size) : common(size, size);
  return least > size ? 0 : size - least + 1;
}

}  // namespace neardup
