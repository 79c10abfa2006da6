// All pairs of bit codes within a Hamming distance: exact, within a memory limit.
#pragma once

#include <cstdint>

#include "core/pairs/pair_search.h"
#include "core/signature/bit_code.h"

namespace neardup {

// The value of a pair is its distance.
//
// Pigeonhole with radii (core/lsh/bit_keys.h): give disjoint blocks of bits radii r whose sum of r + 1 is the distance
// + 1; of two codes within the distance one block at least differs in no more than its radius. Codes are sorted by each
// block in turn, and the buckets of two keys so near to each other compared, by the first words of their codes.
class BitPairs final : public PairSearch {
 public:
  // bits: of every code, 64..4096; most: 0..bits.
  BitPairs(uint32_t bits, uint32_t most, const EngineOptions& options);

  void add(const BitCode& code);
  bool add_value(const AnyValue& value) override { return add(value.code), true; }
};

}  // namespace neardup
