// The elements that near sets of integers must share: the meaning of a bound of a measure for their sizes.
#pragma once

#include <cstdint>

#include "core/kinds/measure.h"

namespace neardup {

// Prefix filtering (Chaudhuri, Ganti, Kaushik: A primitive operator for similarity joins in data cleaning, ICDE 2006;
// Bayardo, Ma, Srikant: Scaling up all pairs similarity search, WWW 2007). Elements have one order for all sets. Of
// sets that share at least o elements, the first n - o + 1 elements of the one, of n elements, and the first m - o + 1
// of the other have one in common. Whatever the measure, a set shares the fewest elements with a near one that is a
// part of it.
//
// One of the sets, the indexed one, is looked up by the elements of the other one, the probe. Of containment the
// indexed set is the one that is contained: any set may contain it, so all elements of a probe are looked up. Of the
// overlap coefficient that is so where a probe is at least as large; else either may be the contained one, and all
// elements are indexed.
class SetBound {
 public:
  // measure: of sets. Each number rounds as the measure does. bound: above 0, and at most 1 unless the measure is a
  // count; else Error{invalid_argument}. by_size: a probe is at least as large as the sets that are indexed.
  SetBound(Measure measure, double bound, bool by_size);

  // The least number of elements that near sets of these sizes share; above the smaller size: such sets are not near.
  uint32_t common(uint32_t indexed, uint32_t probe) const noexcept;

  bool may_match(uint32_t indexed, uint32_t probe) const noexcept {
    return common(indexed, probe) <= (indexed < probe ? indexed : probe);
  }

  // The number of its first elements that are indexed or looked up; 0: it is near nothing.
  uint32_t indexed_prefix(uint32_t size) const noexcept;
  uint32_t probe_prefix(uint32_t size) const noexcept;

  // True if a set is near an equal one.
  bool is_near_itself(uint32_t size) const noexcept { return may_match(size, size); }

  // True if it matters which of two sets is contained in the other.
  bool is_directed() const noexcept { return is_directed_; }

 private:
  SetRule rule_;  // of an indexed set and a probe
  double bound_;
  bool by_size_;
  bool is_directed_;
};

}  // namespace neardup
