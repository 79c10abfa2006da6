// Kernels for simhashes: comparing all, and what the join by blocks of bits (join.h) needs of them.
#pragma once

#include "gpu/base/portable.h"

namespace neardup::gpu {

// Grid: tile's x in blocks of kThreads * kPerThread, tile's y in chunks of kStagedValues; block kThreads; kShared
// bytes. Bound by the two population counts of a pair.
struct CompareSimhashes {
  static constexpr uint32_t kThreads = 128;
  static constexpr uint32_t kPerThread = 4;
  static constexpr uint32_t kStagedValues = 1024;
  static constexpr uint32_t kShared = kStagedValues * 8;

  const uint64_t* values_x;
  const uint64_t* values_y;
  uint32_t row_x;  // number of the first row of each slab
  uint32_t row_y;
  Tile tile;
  uint32_t most;
  List<Pair> found;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    uint64_t* const staged = reinterpret_cast<uint64_t*>(block.shared());
    const uint32_t x_first = tile.x_first + block.x() * kThreads * kPerThread;
    const uint32_t x_end = tile.x_first + tile.x_count;
    const uint32_t y_first = tile.y_first + block.y() * kStagedValues;
    const uint32_t n = least(tile.y_first + tile.y_count, y_first + kStagedValues) - y_first;
    if (tile.self && y_first + n <= x_first + 1) return;
    block.each([&](uint32_t thread) {
      for (uint32_t i = thread; i < n; i += kThreads) staged[i] = values_y[y_first + i];
    });
    block.each([&](uint32_t thread) {
      uint64_t mine[kPerThread];
      NEARDUP_UNROLL
      for (uint32_t k = 0; k < kPerThread; ++k) {
        const uint32_t x = x_first + k * kThreads + thread;
        mine[k] = x < x_end ? values_x[x] : 0;
      }
      for (uint32_t i = 0; i < n; ++i) {
        const uint64_t other = staged[i];
        NEARDUP_UNROLL
        for (uint32_t k = 0; k < kPerThread; ++k) {
          const uint32_t distance = popcount(mine[k] ^ other);
          if (distance > most) continue;
          const uint32_t x = x_first + k * kThreads + thread;
          if (x < x_end && (!tile.self || y_first + i > x))
            append(found, Pair{row_x + x, row_y + y_first + i, distance});
        }
      }
    });
  }
};

// Values of two slabs, those of y behind those of x, as rows of the join: of D + 1 disjoint blocks of bits two values
// at distance <= D agree in one.
struct SimhashRows {
  const uint64_t* x;
  const uint64_t* y;
  uint32_t n_x;
  uint32_t row_x, row_y;
  uint32_t most;
  uint32_t blocks;

  NEARDUP_HD uint64_t value(uint32_t i) const noexcept { return i < n_x ? x[i] : y[i - n_x]; }
  NEARDUP_HD uint32_t row(uint32_t i) const noexcept { return i < n_x ? row_x + i : row_y + i - n_x; }

  // 32 bits of a block at most: what is equal in a block has equal keys.
  NEARDUP_HD uint32_t block_key(uint64_t v, uint32_t number) const noexcept {
    const uint32_t first = 64 * number / blocks;
    const uint32_t bits = least(32, 64 * (number + 1) / blocks - first);
    return static_cast<uint32_t>(v >> first & low_bits(bits));
  }
  NEARDUP_HD uint32_t key(uint32_t i, uint32_t number) const noexcept { return block_key(value(i), number); }

  // Rows i and j share a key of block `number`: whether they are a pair, told by this block and by none before it.
  NEARDUP_HD bool look(uint32_t i, uint32_t j, uint32_t number, const uint8_t* order, Pair* pair) const noexcept {
    const uint64_t difference = value(i) ^ value(j);
    const uint32_t distance = popcount(difference);
    if (distance > most) return false;
    for (uint32_t k = 0; order[k] != number; ++k)
      if (block_key(difference, order[k]) == 0) return false;
    *pair = {row(i), row(j), distance};
    return true;
  }
};

}  // namespace neardup::gpu
