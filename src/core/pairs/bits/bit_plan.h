// The plan of a search for near bit codes: which bits of them make up which block, and within which radius.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pairs/bits/bit_search.h"

namespace neardup {

// Blocks of key_bits bits each; the first `wider` have the radius, the others one less.
struct BitPlan {
  unsigned blocks = 1;
  unsigned key_bits = 0;  // 0: one block of no bits, so that all codes are compared with all
  int radius = 0;
  unsigned wider = 1;
  std::vector<uint16_t> placed;  // bit i of the key of block b: placed[b * key_bits + i]

  int radius_in(unsigned block) const noexcept { return block < wider ? radius : radius - 1; }
  uint32_t key(const uint64_t* code, unsigned block) const noexcept {
    uint32_t key = 0;
    const uint16_t* bits = placed.data() + size_t{block} * key_bits;
    for (unsigned i = 0; i < key_bits; ++i) key |= static_cast<uint32_t>(code[bits[i] / 64] >> bits[i] % 64 & 1) << i;
    return key;
  }
};

// The plan with the fewest expected nanoseconds of those that find every pair of the distance. pair_cost: of comparing
// two codes. Codes that depend on each other are looked at: a sample of them says which bits say the same, and how many
// pairs a plan would compare.
BitPlan choose_bit_plan(const BitEntries& e, bool cross, uint32_t most, double pair_cost, Poller& poller);

}  // namespace neardup
