// All pairs of sets of integers by Jaccard similarity, overlap or containment: exact, within a memory limit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/pairs/pair_search.h"
#include "core/pairs/sets/set_bound.h"

namespace neardup {

// The value of a pair is the number of elements that its sets share; measure_sets() gives the measure.
//
// Containment is directed where there is one set of rows: a pair (a, b) says that a is contained in b, or of
// Measure::query_in_set that a contains b, and where both hold (b, a) is another pair. Rows with equal sets are paired
// both ways. The other measures have one pair of two rows.
//
// Prefix filtering (set_bound.h) by rare elements first, as AllPairs and PPJoin have it (Xiao, Wang, Lin, Yu, Wang:
// Efficient similarity joins for near-duplicate detection, TODS 2011), with filters by size and position. Candidates
// are compared element by element.
//
// Besides the memory limit, each thread holds 16 bytes for each element of the largest set.
class SetPairs final : public PairSearch {
 public:
  // bound: as SetBound takes it.
  SetPairs(Measure measure, double bound, const EngineOptions& options);

  // Appends the next row, copied: of 1 .. 2^31 - 1 elements, else Error{invalid_argument} or Error{too_large}.
  void add(const SetView& set);
  bool add_value(const AnyValue& value) override { return add(value.set), true; }
};

}  // namespace neardup
