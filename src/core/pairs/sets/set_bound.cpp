// See set_bound.h.
#include "core/pairs/sets/set_bound.h"

#include <string>

#include "core/base/error.h"
#include "core/base/message_text.h"

namespace neardup {
namespace {

// The number of elements of a set of this size that are looked at, where near ones share at least so many.
uint32_t prefix(uint32_t size, uint32_t least) noexcept { return least > size ? 0 : size - least + 1; }

}  // namespace

SetBound::SetBound(Measure measure, double bound, bool by_size)
    : rule_(info(measure == Measure::query_in_set ? Measure::set_in_query : measure).rule),
      bound_(bound),
      by_size_(by_size),
      is_directed_(neardup::is_directed(measure)) {
  const bool is_count = info(measure).range.most > 1;
  if (bound > 0 && (bound <= 1 || is_count)) return;
  throw Error(Errc::invalid_argument,
              "threshold is " + number_text(bound) + ", it must be above 0" + (is_count ? "" : " and at most 1"));
}

uint32_t SetBound::common(uint32_t indexed, uint32_t probe) const noexcept {
  return rule_.least_common(bound_, indexed, probe);
}

uint32_t SetBound::indexed_prefix(uint32_t size) const noexcept {
  return prefix(size, by_size_ ? common(size, size) : least_part_of_first(rule_, bound_, size));
}

uint32_t SetBound::probe_prefix(uint32_t size) const noexcept {
  return prefix(size, least_part_of_second(rule_, bound_, size));
}

}  // namespace neardup
