// Blocks of bit codes as an lsh index stores them: their keys, and what to look up for a greatest Hamming distance.
//
// A code is cut into blocks; bit i belongs to block i mod blocks, so that neighbours, which are often alike, lie in
// different ones. Give block i a radius r_i >= -1: a block is hit where it differs in at most r_i bits, and blocks of
// radius -1 are not looked at. Where a block is missed at least r_i + 1 bits differ, so that of two codes within the
// distance no more blocks can be missed than the distance pays for, the cheapest first. All others are hit: often
// several, and rows with fewer hits need not be looked at. (One block: multi-index hashing, M. Norouzi, A. Punjani,
// D. Fleet, CVPR 2012; several radii: GPH, see simhash_keys.h.)
#pragma once

#include <cstdint>

#include "core/base/near_values.h"
#include "core/lsh/leaf.h"
#include "core/signature/bit_code.h"

namespace neardup {

inline constexpr uint32_t kMostCodeBlocks = 512;
// Wider blocks would have no shorter lists.
inline constexpr uint32_t kMostCodeBlockBits = 26;
// Look-ups that a plan may have: beyond them a scan of all rows is no slower.
inline constexpr uint32_t kMostCodeProbes = 32768;
// An index may be asked for distances up to this part of the bits of a code.
inline constexpr uint32_t kMostDistancePart = 4;
inline constexpr uint32_t kUsualDistancePart = 8;

struct BitLayout {
  uint32_t bits;    // of each code
  uint32_t blocks;  // 1..kMostCodeBlocks, at most as many as bits
  uint32_t most;    // greatest distance that is looked up
  uint32_t scale;   // the rows that were expected are about 2^scale
};

// True if all of the following is defined for the parameters; for those that were read from disk.
bool valid_layout(const BitLayout& layout) noexcept;

// The layout with the fewest expected nanoseconds for a query of the distance. most: at most bits / kMostDistancePart.
BitLayout choose_bit_layout(uint32_t bits, uint32_t most, double rows) noexcept;

constexpr uint32_t code_block_width(const BitLayout& l, uint32_t block) noexcept {
  const uint32_t width = (l.bits - block - 1) / l.blocks + 1;
  return width < kMostCodeBlockBits ? width : kMostCodeBlockBits;
}

// A key: the block's number from 1 on; below it the block's bits, the first one lowest. Where the distances asked for
// are so small that further bits tell unlike codes apart, the bits of the following blocks come behind them, and fill
// the key.
class CodeKeys {
 public:
  explicit CodeKeys(const BitLayout& layout) noexcept;

  uint64_t key(uint32_t block, const BitCode& code) const noexcept;
  // Leading bits of a key that are the block's number and value.
  uint8_t prefix_bits(uint32_t block) const noexcept;
  // Calls take(key) for each value of the block within the radius, the bits behind the block being 0.
  template <typename Take>
  void for_each_near(uint32_t block, const BitCode& code, int radius, Take take) const {
    const uint32_t free_bits = kKeyBits - prefix_bits(block);
    const uint64_t first = key(block, code) >> free_bits << free_bits;
    for_each_flips(code_block_width(layout_, block), radius, [&](uint64_t flips) { take(first ^ flips << free_bits); });
  }
  bool has_further_bits() const noexcept { return field_bits_ != code_block_width(layout_, 0); }

 private:
  BitLayout layout_;
  uint32_t field_bits_;  // below the block's number
};

// Radii for a distance. The first `wider` blocks have radius + 1, the others radius.
struct CodePlan {
  int radius;         // -1: only the wider ones are looked at
  uint32_t wider;     // blocks
  uint32_t groups;    // blocks that are looked at
  uint32_t slack;     // of these, that a code within the distance may miss; below groups
  uint32_t probes;    // block values within the radii
  double entries;     // that the look-ups meet, as a multiple of the rows; estimated
  double candidates;  // the share of the rows that come out; estimated

  int radius_in(uint32_t block) const noexcept { return block < wider ? radius + 1 : radius; }
};
// The plan with the fewest expected nanoseconds. False where each would take more than kMostCodeProbes look-ups.
bool plan_codes(const BitLayout& layout, uint32_t distance, CodePlan* plan) noexcept;

// The next distance beyond this one for searching ever farther: a quarter, a half, then all of what the index is made
// for. False where that is known already.
bool next_code_reach(const BitLayout& layout, double beyond, uint32_t* distance) noexcept;

// Least distance of a code that hits `hits` of the plan's groups, at most all.
uint32_t least_code_distance(const CodePlan& plan, uint32_t hits) noexcept;

}  // namespace neardup
