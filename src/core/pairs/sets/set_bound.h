// How much sets of integers must share to be near: what a bound of a measure means for their sizes.
#pragma once

#include <cstdint>

namespace neardup {

// The measures of two sets x and y, as jaccard_exact(), overlap_exact() and containment_exact() compute them.
// containment: the share of x that is in y; containing: the share of y that is in x. overlap_coefficient: the greater
// of these two, the share of the smaller set that is in the larger one (Szymkiewicz and Simpson).
enum class SetMeasure : uint8_t { jaccard, overlap, containment, containing, overlap_coefficient };

// The measure of two sets of these sizes, above 0, that share so many elements.
double set_measure(SetMeasure measure, uint32_t size_x, uint32_t size_y, uint32_t common) noexcept;

// Prefix filtering (Chaudhuri, Ganti, Kaushik: A primitive operator for similarity joins in data cleaning, ICDE 2006;
// Bayardo, Ma, Srikant: Scaling up all pairs similarity search, WWW 2007). Elements have one order for all sets. Of
// sets that share at least o elements, the first n - o + 1 elements of the one, of n elements, and the first m - o + 1
// of the other have one in common.
//
// One of the sets, the indexed one, is looked up by the elements of the other one, the probe. Of containment the
// indexed set is the one that is contained: any set may contain it, so all elements of a probe are looked up. Of the
// overlap coefficient that is so where a probe is at least as large; else either may be the contained one, and all
// elements are indexed.
class SetBound {
 public:
  // Each number rounds as the division of the measure does. bound: above 0, and at most 1 unless it is of an overlap;
  // else Error{invalid_argument}. by_size: a probe is at least as large as the sets that are indexed.
  SetBound(SetMeasure measure, double bound, bool by_size);

  // The least number of elements that near sets of these sizes share; above the smaller size: such sets are not near.
  uint32_t common(uint32_t indexed, uint32_t probe) const noexcept;

  // Whether sets of these sizes may be near.
  bool may_match(uint32_t indexed, uint32_t probe) const noexcept {
    return common(indexed, probe) <= (indexed < probe ? indexed : probe);
  }

  // How many of its first elements are indexed or looked up; 0: it is near nothing.
  uint32_t indexed_prefix(uint32_t size) const noexcept;
  uint32_t probe_prefix(uint32_t size) const noexcept;

  // Whether a set is near an equal one.
  bool is_near_itself(uint32_t size) const noexcept { return may_match(size, size); }

  // Whether it matters which of two sets is contained in the other.
  bool is_directed() const noexcept { return is_containment(measure_); }
  static bool is_containment(SetMeasure measure) noexcept {
    return measure == SetMeasure::containment || measure == SetMeasure::containing;
  }

 private:
  uint32_t least_share(uint32_t size) const noexcept;

  SetMeasure measure_;
  double bound_;
  bool by_size_;
};

}  // namespace neardup
