// Kernels for minhashes: keys of bands, comparing candidates, comparing all; and what the join (join.h) needs of them.
#pragma once

#include "gpu/base/portable.h"

namespace neardup::gpu {

// Signatures in device memory: `words` 32-bit words a row, a multiple of 4, zeros behind the components.
struct Signatures {
  uint32_t words;
  uint32_t num_perm;
  uint32_t bits;  // of a component: 8, 16 or 32
};

// Components of one word that are equal.
NEARDUP_HD inline uint32_t equal_in_word(uint32_t a, uint32_t b, uint32_t bits) noexcept {
  const uint32_t d = a ^ b;
  if (bits == 32) return d == 0;
  if (bits == 16) return ((d & 0xffff) == 0) + (d >> 16 == 0);
  return ((d & 0xff) == 0) + ((d & 0xff00) == 0) + ((d & 0xff0000) == 0) + (d >> 24 == 0);
}

// The zeros behind the components are equal, too.
NEARDUP_HD inline uint32_t padding(const Signatures& s) noexcept { return s.words * (32 / s.bits) - s.num_perm; }

NEARDUP_HD inline uint32_t component(const uint32_t* row, uint32_t i, uint32_t bits) noexcept {
  if (bits == 32) return row[i];
  if (bits == 16) return row[i / 2] >> 16 * (i % 2) & 0xffff;
  return row[i / 4] >> 8 * (i % 4) & 0xff;
}

NEARDUP_HD inline uint32_t count_equal(const uint32_t* a, const uint32_t* b, const Signatures& s) noexcept {
  const Four* x = reinterpret_cast<const Four*>(a);
  const Four* y = reinterpret_cast<const Four*>(b);
  uint32_t equal = 0;
  for (uint32_t w = 0; w < s.words / 4; ++w) {
    const Four p = x[w];
    const Four q = y[w];
    NEARDUP_UNROLL
    for (uint32_t k = 0; k < 4; ++k) equal += equal_in_word(p.v[k], q.v[k], s.bits);
  }
  return equal - padding(s);
}

// Key of band `band` of `bands`: equal bands have equal keys.
NEARDUP_HD inline uint32_t band_key(const uint32_t* row, uint32_t band, uint32_t bands, const Signatures& s) noexcept {
  uint64_t h = kSeed0;
  for (uint32_t c = band * s.num_perm / bands; c < (band + 1) * s.num_perm / bands; ++c)
    h = mum(h ^ component(row, c, s.bits), kSeed1);
  return static_cast<uint32_t>(h ^ h >> 32);
}

// Grid: rows * stride in blocks of 256, no shared memory. keys: stride words a row, from row `first` on.
struct MakeKeys {
  static constexpr uint32_t kThreads = 256;
  const uint32_t* rows;
  uint32_t* keys;
  Signatures shape;
  uint32_t first;
  uint32_t n;
  uint32_t bands;
  uint32_t stride;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    block.each([&](uint32_t thread) {
      const uint64_t i = uint64_t{block.x()} * kThreads + thread;
      if (i >= uint64_t{n} * stride) return;
      const uint32_t row = first + static_cast<uint32_t>(i / stride);
      const uint32_t band = static_cast<uint32_t>(i % stride);
      keys[size_t{row} * stride + band] =
          band < bands ? band_key(rows + size_t{row} * shape.words, band, bands, shape) : 0;
    });
  }
};

// Key vectors of two slabs, those of y behind those of x, as rows of the join (core/pairs/banding.h has the reasons).
struct MinhashRows {
  const uint32_t* keys_x;
  const uint32_t* keys_y;
  uint32_t n_x;
  uint32_t stride;  // a multiple of 4
  uint32_t bands;
  uint32_t least_hits;

  NEARDUP_HD const uint32_t* keys(uint32_t i) const noexcept {
    return i < n_x ? keys_x + size_t{i} * stride : keys_y + size_t{i - n_x} * stride;
  }
  NEARDUP_HD uint32_t key(uint32_t i, uint32_t band) const noexcept { return keys(i)[band]; }

  // A pair here is a candidate, rows by position.
  NEARDUP_HD bool look(uint32_t i, uint32_t j, uint32_t band, const uint8_t* order, Pair* pair) const noexcept {
    const Four* a = reinterpret_cast<const Four*>(keys(i));
    const Four* b = reinterpret_cast<const Four*>(keys(j));
    uint64_t equal = 0;
    for (uint32_t w = 0; w < stride / 4; ++w) {
      const Four p = a[w];
      const Four q = b[w];
      NEARDUP_UNROLL
      for (uint32_t k = 0; k < 4; ++k) equal |= uint64_t{p.v[k] == q.v[k]} << (4 * w + k);
    }
    equal &= low_bits(bands);
    if (popcount(equal) < least_hits) return false;
    for (uint32_t k = 0; order[k] != band; ++k)
      if (equal >> order[k] & 1) return false;
    *pair = {i, j, 0};
    return true;
  }
};

// Rows of two slabs.
struct SignaturesOfTwo {
  const uint32_t* x;
  const uint32_t* y;
  uint32_t n_x;
  uint32_t row_x, row_y;  // number of the first row of each
};

// Grid: any, block 256, no shared memory. A thread compares a candidate at a time, of as many as there are.
struct CompareCandidates {
  static constexpr uint32_t kThreads = 256;
  SignaturesOfTwo of;
  Signatures shape;
  const Pair* candidates;
  const uint32_t* count;
  uint32_t room;
  uint32_t blocks;  // of the grid
  uint32_t need;
  List<Pair> found;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    block.each([&](uint32_t thread) {
      const uint32_t n = least(*count, room);
      for (uint32_t i = block.x() * kThreads + thread; i < n; i += blocks * kThreads) {
        const Pair c = candidates[i];
        const uint32_t equal = count_equal(row(c.a), row(c.b), shape);
        if (equal >= need) append(found, Pair{number(c.a), number(c.b), equal});
      }
    });
  }
  NEARDUP_HD const uint32_t* row(uint32_t i) const noexcept {
    return i < of.n_x ? of.x + size_t{i} * shape.words : of.y + size_t{i - of.n_x} * shape.words;
  }
  NEARDUP_HD uint32_t number(uint32_t i) const noexcept { return i < of.n_x ? of.row_x + i : of.row_y + i - of.n_x; }
};

// Every pair of a tile. Grid: tile's x and y in blocks of kSide; block 256; kShared bytes. A thread has kThreadPairs
// pairs, all of one x; rows come to shared memory kStagedWords words at a time.
struct CompareSignatures {
  static constexpr uint32_t kThreads = 256;
  static constexpr uint32_t kSide = 32;
  static constexpr uint32_t kThreadPairs = kSide * kSide / kThreads;
  static constexpr uint32_t kStagedWords = 32;
  static constexpr uint32_t kShared = 2 * kSide * (kStagedWords + 1) * 4;

  SignaturesOfTwo of;
  Signatures shape;
  Tile tile;
  uint32_t need;
  List<Pair> found;

  struct Counts {
    uint32_t of[kThreadPairs];
  };

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    uint32_t* const part_x = reinterpret_cast<uint32_t*>(block.shared());
    uint32_t* const part_y = part_x + kSide * (kStagedWords + 1);
    const uint32_t x_first = tile.x_first + block.x() * kSide;
    const uint32_t y_first = tile.y_first + block.y() * kSide;
    const uint32_t n_x = least(kSide, tile.x_first + tile.x_count - x_first);
    const uint32_t n_y = least(kSide, tile.y_first + tile.y_count - y_first);
    if (tile.self && y_first + n_y <= x_first + 1) return;
    typename Block::template PerThread<Counts> counts;
    block.each([&](uint32_t thread) {
      for (uint32_t k = 0; k < kThreadPairs; ++k) counts(thread).of[k] = 0;
    });
    for (uint32_t word = 0; word < shape.words; word += kStagedWords) {
      const uint32_t n = least(kStagedWords, shape.words - word);
      block.each([&](uint32_t thread) {
        for (uint32_t i = thread; i < kSide * kStagedWords; i += kThreads) {
          const uint32_t row = i / kStagedWords;
          const uint32_t w = i % kStagedWords;
          if (w < n && row < n_x)
            part_x[row * (kStagedWords + 1) + w] = of.x[size_t{x_first + row} * shape.words + word + w];
          if (w < n && row < n_y)
            part_y[row * (kStagedWords + 1) + w] = of.y[size_t{y_first + row} * shape.words + word + w];
        }
      });
      block.each([&](uint32_t thread) {
        const uint32_t* a = part_x + thread % kSide * (kStagedWords + 1);
        const uint32_t* b = part_y + thread / kSide * kThreadPairs * (kStagedWords + 1);
        if (thread % kSide >= n_x) return;
        for (uint32_t w = 0; w < n; ++w) {
          NEARDUP_UNROLL
          for (uint32_t k = 0; k < kThreadPairs; ++k)
            if (thread / kSide * kThreadPairs + k < n_y)
              counts(thread).of[k] += equal_in_word(a[w], b[k * (kStagedWords + 1) + w], shape.bits);
        }
      });
    }
    block.each([&](uint32_t thread) {
      const uint32_t x = x_first + thread % kSide;
      if (thread % kSide >= n_x) return;
      NEARDUP_UNROLL
      for (uint32_t k = 0; k < kThreadPairs; ++k) {
        const uint32_t at = thread / kSide * kThreadPairs + k;
        if (at >= n_y || (tile.self && y_first + at <= x)) continue;
        const uint32_t equal = counts(thread).of[k] - padding(shape);
        if (equal >= need) append(found, Pair{of.row_x + x, of.row_y + y_first + at, equal});
      }
    });
  }
};

}  // namespace neardup::gpu
