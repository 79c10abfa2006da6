// All pairs of simhashes within a Hamming distance: exact, within a memory limit.
#pragma once

#include <cstdint>

#include "core/pairs/pair_search.h"

namespace neardup {

// The value of a pair is its distance.
//
// Pigeonhole: of D + 1 disjoint blocks of bits, two values at distance <= D agree in one at least. Values are sorted by
// each block in turn; what shares a bucket shares the block's bits, and large buckets are searched in the same way by
// the bits that are left (G. Manku, A. Jain, A. Das Sarma, WWW 2007, section 3, whose tables these are, without storing
// them).
class SimhashPairs final : public PairSearch {
 public:
  // most: 0..64.
  SimhashPairs(uint32_t most, const EngineOptions& options);

  void add(uint64_t value);
  bool add_value(const AnyValue& value) override { return add(value.simhash), true; }
};

}  // namespace neardup
