// Blocks of a simhash as an lsh index stores them: their keys, and what to look up for a greatest Hamming distance.
//
// General pigeonhole: give block i a radius r_i >= -1 so that the sum of (r_i + 1) over the blocks is distance + 1. If
// two values differ in more than r_i bits of every block i, they differ in at least sum (r_i + 1) > distance bits. So
// values within the distance agree in some block i but for r_i bits, and blocks of radius -1 need not be looked at.
// (Qin, Wang, Xiao, Wang, "GPH: Similarity Search in Hamming Space", ICDE 2018, section 4.)
#pragma once

#include <cstdint>

#include "core/base/near_values.h"

namespace neardup {

inline constexpr uint32_t kFewestBlocks = 2;
inline constexpr uint32_t kMaxSimhashBlocks = 7;
inline constexpr uint32_t kDefaultBlocks = 4;
// Wider blocks have shorter lists, which pays from this many rows on.
inline constexpr uint32_t kBlocksOfLargeTables = 3;
inline constexpr double kLargeTable = 1e7;

// A key of 40 bits: 3 of the block's number, from 1 on, then the first 37 of the value turned so that the block comes
// first. Entries of one block value lie side by side, and 37 bits decide most comparisons without the row.
inline constexpr uint32_t kBlockTagBits = 3;
inline constexpr uint32_t kBlockValueBits = 37;

// The first bit of a block; the first of `blocks` blocks are one bit wider where 64 is no multiple. block 0..blocks.
constexpr uint32_t block_begin(uint32_t blocks, uint32_t block) noexcept {
  const uint32_t wide = 64 % blocks;
  return block * (64 / blocks) + (block < wide ? block : wide);
}
constexpr uint32_t block_width(uint32_t blocks, uint32_t block) noexcept {
  return block_begin(blocks, block + 1) - block_begin(blocks, block);
}

constexpr uint64_t block_key(uint32_t blocks, uint32_t block, uint64_t value) noexcept {
  const uint32_t from = block_begin(blocks, block);
  const uint64_t turned = from == 0 ? value : value << from | value >> (64 - from);
  return uint64_t{block + 1} << kBlockValueBits | turned >> (64 - kBlockValueBits);
}

// More look-ups than this are no longer worth it: 15 bits in 4 blocks, 10 in 3.
inline constexpr uint32_t kMaxBlockProbes = 4096;

// Radii for a distance; those that need the fewest look-ups.
struct BlockPlan {
  uint32_t probes;                   // block values within the radii
  int8_t radius[kMaxSimhashBlocks];  // -1: the block is not looked up
};
// False where more than kMaxBlockProbes would be needed. blocks 2..7, distance 0..64.
bool plan_blocks(uint32_t blocks, uint32_t distance, BlockPlan* plan) noexcept;

// The greatest distance that plan_blocks() takes, 63 at most: 64 keeps all values.
uint32_t most_distance(uint32_t blocks) noexcept;

// The least distance beyond this one that all blocks reach by the same radius, for searching ever farther. False where
// that would need more than kMaxReachProbes.
inline constexpr uint32_t kMaxReachProbes = 640;
bool next_reach(uint32_t blocks, double beyond, uint32_t* distance) noexcept;

// Calls take(key) for each value of the block within the radius, the bits after the block being 0.
template <typename Take>
void for_block_values(uint32_t blocks, uint32_t block, uint64_t value, int radius, Take take) {
  const uint32_t width = block_width(blocks, block);
  const uint32_t free_bits = kBlockValueBits - width;
  const uint64_t key = block_key(blocks, block, value) >> free_bits << free_bits;
  for_each_flips(width, radius, [&](uint64_t flips) { take(key ^ flips << free_bits); });
}

// Least distance of a value that is within the radius in `hits` of the plan's probed blocks.
uint32_t least_distance(uint32_t blocks, const BlockPlan& plan, uint32_t hits) noexcept;

}  // namespace neardup
