// All pairs of ctph digests by edit rate: exact, within a memory limit.
#pragma once

#include <cstdint>

#include "core/pairs/pair_search.h"
#include "core/signature/ctph.h"

namespace neardup {

// The similarity that a value of CtphPairs stands for: 1 - d / s; 0 where s is 0.
inline double ctph_similarity(uint32_t value) noexcept {
  const uint32_t sum = value & 0xffff;
  return sum == 0 ? 0 : 1 - static_cast<double>(value >> 16) / static_cast<double>(sum);
}

// Digests are near when their similarity, 1 - ctph_edit_rate() as that is computed, is at least a threshold. The value
// of a pair is d << 16 | s: Levenshtein distance and sum of the lengths of the parts that are compared
// (common_parts()). Equal digests whose part 1 is empty are not near each other.
//
// Components report rows with equal digests as a star. values_with() gives values also of rows that are not
// near; 0 where no block size is common or both parts are empty.
//
// Every pair of parts of one block size is looked at, some nanoseconds each: lengths and symbols rule nearly all out.
class CtphPairs final : public PairSearch {
 public:
  // threshold above 0, at most 1; else Error{invalid_argument}.
  CtphPairs(double threshold, const EngineOptions& options);

  // Appends the next row, copied. Error{incomparable} unless it is of the kind of the rows before, of either set. At
  // most 2^31 rows, else Error{too_large}.
  void add(const CtphView& digest);
  bool add_value(const AnyValue& value) override { return add(value.digest), true; }
};

}  // namespace neardup
