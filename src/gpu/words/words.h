// Kernels for rows of words: numerators of a tile of pairs, and the pairs to report.
//
// The numerator of two words is the sum over common features of both values: A B' + B A', A the values and B ones where
// there is a value. For features that many words have ("dense") it is a product of matrices of int8 (the Multiplier of
// the Gpu); for the others lists of the words of the block that have a feature are added up in shared memory. All sums
// are exact: integers below 2^31, because weights are below 2^30.
#pragma once

#include "gpu/base/portable.h"

namespace neardup::gpu {

// A value 1..32767 in two digits that int8 holds: value = 256 * high + low, high 0..128, low -127..128. What is stored
// are -high, -low and, where a row has a feature, -1: the products are right, and all fit for the whole range, which no
// two digits of base 256 do as they are. Sums of high are at most 128, of low 128, for a feature and side: with at most
// kMaxDense dense features far below 2^31, in whatever order a product is added up.
struct Digits {
  int8_t high;  // negated
  int8_t low;   // negated
};
constexpr int8_t kHere = -1;
constexpr uint32_t kMaxDense = 1 << 20;
NEARDUP_HD constexpr Digits to_digits(uint32_t value) noexcept {
  const int32_t high = static_cast<int32_t>((value + 127) >> 8);
  return {static_cast<int8_t>(-high), static_cast<int8_t>(256 * high - static_cast<int32_t>(value))};
}

// Rows on the device: row i has the entries begin[i] .. begin[i + 1] - 1.
struct WordRowsView {
  const uint32_t* begin;
  const uint32_t* features;
  const uint16_t* values;
};

// The columns of dense features in the matrices; null: there are none.
constexpr uint32_t kNotDense = UINT32_MAX;
struct DenseColumns {
  const uint32_t* of;
  NEARDUP_HD uint32_t operator()(uint32_t feature) const noexcept { return of == nullptr ? kNotDense : of[feature]; }
};

// Grid: rows. Writes the dense entries of each row into its part of the matrices, which were cleared: `columns` of
// high digits, as many of low ones, as many of kHere.
struct ExpandRows {
  static constexpr uint32_t kThreads = 256;
  WordRowsView rows;
  DenseColumns dense;
  uint32_t columns;
  int8_t* matrix;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    const uint32_t row = block.x();
    int8_t* const to = matrix + size_t{row} * 3 * columns;
    block.each([&](uint32_t thread) {
      for (uint32_t e = rows.begin[row] + thread; e < rows.begin[row + 1]; e += kThreads) {
        const uint32_t c = dense(rows.features[e]);
        if (c == kNotDense) continue;
        const Digits d = to_digits(rows.values[e]);
        to[c] = d.high;
        to[columns + c] = d.low;
        to[2 * columns + c] = kHere;
      }
    });
  }
};

// Words of a block come in segments, for which a block of threads has counters in shared memory. Lists are by segment,
// then feature.
constexpr uint32_t kSegment = 12288;
constexpr uint32_t kValueBits = 15;

// Grid: rows of the block. How many entries each list has.
struct CountLists {
  static constexpr uint32_t kThreads = 256;
  WordRowsView rows;
  DenseColumns dense;
  uint32_t features;
  uint64_t* counts;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    const uint32_t row = block.x();
    uint64_t* const mine = counts + size_t{row / kSegment} * features;
    block.each([&](uint32_t thread) {
      for (uint32_t e = rows.begin[row] + thread; e < rows.begin[row + 1]; e += kThreads)
        if (dense(rows.features[e]) == kNotDense) add_to(mine + rows.features[e], uint64_t{1});
    });
  }
};

// Grid: rows of the block. ends: running sums of the counts; when all is filled, the beginnings. An entry: the word's
// place in its segment, and the value.
struct FillLists {
  static constexpr uint32_t kThreads = 256;
  WordRowsView rows;
  DenseColumns dense;
  uint32_t features;
  uint64_t* ends;
  uint32_t* entries;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    const uint32_t row = block.x();
    uint64_t* const mine = ends + size_t{row / kSegment} * features;
    block.each([&](uint32_t thread) {
      for (uint32_t e = rows.begin[row] + thread; e < rows.begin[row + 1]; e += kThreads)
        if (dense(rows.features[e]) == kNotDense)
          entries[decrement(mine + rows.features[e])] = row % kSegment << kValueBits | rows.values[e];
    });
  }
};

// Rows of words against words of a block. Pairs are those with the block's word behind the row's.
struct WordTile {
  uint32_t first_row;  // word
  uint32_t rows;
  uint32_t first_column;  // word
  uint32_t columns;
  uint32_t stride;  // from one row to the next
  uint32_t* numerators;

  // The first column that makes a pair with a row.
  NEARDUP_HD uint32_t first_pair_column(uint32_t row) const noexcept {
    return first_row + row < first_column ? 0 : least(columns, first_row + row + 1 - first_column);
  }
  // The number of rows that make a pair with a column; they come first.
  NEARDUP_HD uint32_t pair_rows(uint32_t column) const noexcept {
    return first_column + column <= first_row ? 0 : least(rows, first_column + column - first_row);
  }
  NEARDUP_HD uint32_t& at(uint32_t row, uint32_t column) const noexcept {
    return numerators[size_t{row} * stride + column];
  }
};

// Grid: rows, segments; kShared bytes. The numerators: along the lists of a row's features, several at once, each by a
// group of threads; then the products of the dense ones: low where there are any, and the high digits in the tile.
// Threads of a group meet different words; groups meet, so that additions are atomic.
struct AddNumerators {
  static constexpr uint32_t kThreads = 512;
  static constexpr uint32_t kShared = kSegment * 4;
  // A sector of 32 bytes of a list at a time: most lists are short.
  static constexpr uint32_t kGroup = 8;
  WordRowsView rows;
  WordTile tile;
  uint32_t features;
  const uint64_t* begins;
  const uint32_t* entries;
  const int32_t* low;  // null: nothing is dense

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    const uint32_t row = block.x();
    const uint32_t first = block.y() * kSegment;
    const uint32_t n = least(kSegment, tile.columns - first);
    const uint32_t begin = tile.first_pair_column(row);
    if (begin >= first + n) return;
    uint32_t* const sums = reinterpret_cast<uint32_t*>(block.shared());
    const uint64_t* const lists = begins + size_t{block.y()} * features;
    block.each([&](uint32_t thread) {
      for (uint32_t c = thread; c < n; c += kThreads) sums[c] = 0;
    });
    block.each([&](uint32_t thread) {
      for (uint32_t e = rows.begin[row] + thread / kGroup; e < rows.begin[row + 1]; e += kThreads / kGroup) {
        const uint32_t value = rows.values[e];
        const uint64_t end = lists[rows.features[e] + 1];
        for (uint64_t p = lists[rows.features[e]] + thread % kGroup; p < end; p += kGroup) {
          const uint32_t entry = entries[p];
          add_to(sums + (entry >> kValueBits), value + (entry & ((1u << kValueBits) - 1)));
        }
      }
    });
    block.each([&](uint32_t thread) {
      for (uint32_t c = thread; c < n; c += kThreads) {
        if (first + c < begin) continue;
        uint32_t& to = tile.at(row, first + c);
        to = low == nullptr ? sums[c]
                            : sums[c] + (to << 8) + static_cast<uint32_t>(low[size_t{row} * tile.stride + first + c]);
      }
    });
  }
};

// ---------------------------------------------------------------- the pairs to report

// In float32, off by less than 2^-22 of itself. What is compared with a bound is compared with one lowered by 2^-20,
// so that no pair is lost by rounding.
NEARDUP_HD inline float pair_similarity(uint32_t numerator, uint32_t weight, uint32_t other) noexcept {
  return static_cast<float>(numerator) / static_cast<float>(weight + other);
}
NEARDUP_HD inline float lowered(float bound) noexcept { return bound * 0.99999904632568359375f; }

// Similarities from 2^-16 to 1 in buckets, 2^kBits to a factor of 2, and each of these in as many as there are buckets.
// What is below is in the first one.
template <uint32_t kBits>
struct SimilarityScale {
  static constexpr uint32_t kBuckets = 16 << kBits;
  static constexpr uint32_t kBase = (127 - 16) << kBits;
  static constexpr uint32_t kShift = 23 - kBits;
  static constexpr uint32_t kFineShift = kShift - 4 - kBits;

  // 1 counts as what comes before it.
  NEARDUP_HD static uint32_t bits_below_one(float s) noexcept { return least(float_bits(s), 0x3f7fffff); }
  NEARDUP_HD static uint32_t find_bucket(float s) noexcept {
    const uint32_t key = bits_below_one(s) >> kShift;
    return key <= kBase ? 0 : key - kBase;
  }
  // Within its bucket, but the first.
  NEARDUP_HD static uint32_t find_fine_bucket(float s) noexcept {
    return bits_below_one(s) >> kFineShift & (kBuckets - 1);
  }
  // The least similarity of a bucket.
  NEARDUP_HD static float lower_edge(uint32_t bucket, uint32_t fine = 0) noexcept {
    return bucket == 0 ? 0.0f : float_from_bits((bucket + kBase) << kShift | fine << kFineShift);
  }
};

NEARDUP_HD inline float greatest(float a, float b) noexcept { return a < b ? b : a; }

// Where among counts, the last of the best, the k-th best is: of `stride` apart ones, in kBucketParts parts whose sums
// are known. *above: how many are in better ones. 0 also where there are fewer than k.
template <uint32_t kBucketParts, uint32_t kPartBuckets>
NEARDUP_HD uint32_t find_kth(uint32_t k, const uint32_t* counts, const uint32_t* parts, uint32_t stride,
                             uint32_t* above) noexcept {
  uint32_t part = kBucketParts - 1;
  uint32_t sum = 0;
  while (part > 0 && sum + parts[part * stride] < k) sum += parts[part-- * stride];
  uint32_t place = part * kPartBuckets + kPartBuckets - 1;
  while (place > 0 && sum + counts[place * stride] < k) sum += counts[place-- * stride];
  *above = sum;
  return place;
}

// Grid: rows. Raises the bound of each row to where the k-th best of its pairs in the tile lies: to a bucket, then to
// one within it. At least k pairs are there or above, so that what is below is not among the k best.
struct RowBounds {
  using Scale = SimilarityScale<6>;
  static constexpr uint32_t kThreads = 256;
  static constexpr uint32_t kBucketParts = 32;
  static constexpr uint32_t kPartBuckets = Scale::kBuckets / kBucketParts;
  static constexpr uint32_t kShared = (Scale::kBuckets + kBucketParts + 2) * 4;
  WordTile tile;
  const uint32_t* row_weights;
  const uint32_t* column_weights;
  uint32_t k;
  float* bounds;  // lowered

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    const uint32_t row = block.x();
    uint32_t* const counts = reinterpret_cast<uint32_t*>(block.shared());
    uint32_t* const parts = counts + Scale::kBuckets;
    uint32_t* const bucket = parts + kBucketParts;
    uint32_t* const above = bucket + 1;
    const uint32_t weight = row_weights[row];
    const float before = bounds[row];
    for (uint32_t round = 0; round < 2; ++round) {
      block.each([&](uint32_t thread) {
        for (uint32_t b = thread; b < Scale::kBuckets; b += kThreads) counts[b] = 0;
      });
      block.each([&](uint32_t thread) {
        for (uint32_t c = tile.first_pair_column(row) + thread; c < tile.columns; c += kThreads) {
          const uint32_t numerator = tile.at(row, c);
          if (numerator == 0) continue;
          const float s = pair_similarity(numerator, weight, column_weights[c]);
          if (s < before) continue;
          const uint32_t b = Scale::find_bucket(s);
          if (round == 0)
            add_to(counts + b, 1);
          else if (b == *bucket)
            add_to(counts + Scale::find_fine_bucket(s), 1);
        }
      });
      block.each([&](uint32_t thread) {
        if (thread >= kBucketParts) return;
        uint32_t sum = 0;
        // Each thread from another bank.
        for (uint32_t b = 0; b < kPartBuckets; ++b) sum += counts[thread * kPartBuckets + (b + thread) % kPartBuckets];
        parts[thread] = sum;
      });
      block.each([&](uint32_t thread) {
        if (thread != 0) return;
        uint32_t better;
        if (round == 0) {
          *bucket = find_kth<kBucketParts, kPartBuckets>(k, counts, parts, 1, &better);
          *above = better;
        } else if (*bucket != 0) {
          const uint32_t fine = find_kth<kBucketParts, kPartBuckets>(k - *above, counts, parts, 1, &better);
          bounds[row] = greatest(before, lowered(Scale::lower_edge(*bucket, fine)));
        }
      });
    }
  }
};

// The bounds of columns, as RowBounds makes those of rows. Grid: columns in blocks of kBlockColumns. The counts of
// buckets are of all tiles since they were cleared: they stay on the device from one tile to the next. Within a bucket
// only the pairs of this tile are kept apart.
struct ColumnBounds {
  using Scale = SimilarityScale<4>;
  static constexpr uint32_t kThreads = 256;
  static constexpr uint32_t kBlockColumns = 32;
  static constexpr uint32_t kBucketParts = kThreads / kBlockColumns;
  static constexpr uint32_t kPartBuckets = Scale::kBuckets / kBucketParts;
  static constexpr uint32_t kCounts = Scale::kBuckets * kBlockColumns;
  static constexpr uint32_t kShared = (kCounts + kThreads + 2 * kBlockColumns) * 4;
  WordTile tile;
  const uint32_t* row_weights;
  const uint32_t* column_weights;
  uint32_t k;
  uint32_t* all_counts;  // kCounts for each block of columns, by bucket, then column
  float* bounds;         // lowered

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    const uint32_t first = block.x() * kBlockColumns;
    const uint32_t n = least(kBlockColumns, tile.columns - first);
    if (tile.pair_rows(first + n - 1) == 0) return;
    uint32_t* const counts = reinterpret_cast<uint32_t*>(block.shared());
    uint32_t* const parts = counts + kCounts;
    uint32_t* const buckets = parts + kThreads;
    uint32_t* const above = buckets + kBlockColumns;
    uint32_t* const kept = all_counts + size_t{block.x()} * kCounts;
    for (uint32_t round = 0; round < 2; ++round) {
      block.each([&](uint32_t thread) {
        for (uint32_t i = thread; i < kCounts; i += kThreads) counts[i] = round == 0 ? kept[i] : 0;
      });
      block.each([&](uint32_t thread) {
        const uint32_t lane = thread % kBlockColumns;
        if (lane >= n) return;
        const uint32_t weight = column_weights[first + lane];
        const float before = bounds[first + lane];
        const uint32_t rows = tile.pair_rows(first + lane);
        for (uint32_t row = thread / kBlockColumns; row < rows; row += kBucketParts) {
          const uint32_t numerator = tile.at(row, first + lane);
          if (numerator == 0) continue;
          const float s = pair_similarity(numerator, row_weights[row], weight);
          if (s < before) continue;
          const uint32_t b = Scale::find_bucket(s);
          if (round == 0)
            add_to(counts + b * kBlockColumns + lane, 1);
          else if (b == buckets[lane])
            add_to(counts + Scale::find_fine_bucket(s) * kBlockColumns + lane, 1);
        }
      });
      block.each([&](uint32_t thread) {
        if (round == 0)
          for (uint32_t i = thread; i < kCounts; i += kThreads) kept[i] = counts[i];
        uint32_t sum = 0;
        for (uint32_t b = 0; b < kPartBuckets; ++b)
          sum += counts[(thread / kBlockColumns * kPartBuckets + b) * kBlockColumns + thread % kBlockColumns];
        parts[thread] = sum;
      });
      block.each([&](uint32_t thread) {
        if (thread >= n) return;
        uint32_t better;
        if (round == 0) {
          buckets[thread] =
              find_kth<kBucketParts, kPartBuckets>(k, counts + thread, parts + thread, kBlockColumns, &better);
          above[thread] = better;
        } else if (buckets[thread] != 0) {
          const uint32_t fine = find_kth<kBucketParts, kPartBuckets>(k - above[thread], counts + thread, parts + thread,
                                                                     kBlockColumns, &better);
          float& bound = bounds[first + thread];
          bound = greatest(bound, lowered(Scale::lower_edge(buckets[thread], fine)));
        }
      });
    }
  }
};

// A part of a tile.
struct WordPiece {
  uint32_t row, rows;
  uint32_t column, columns;
};

// Grid: the piece's columns in blocks of kThreads * kPerThread, its rows.
struct TellPairs {
  static constexpr uint32_t kThreads = 256;
  static constexpr uint32_t kPerThread = 4;
  WordTile tile;
  WordPiece piece;
  const uint32_t* row_weights;
  const uint32_t* column_weights;
  const float* row_bounds;
  const float* column_bounds;
  List<Pair> found;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    const uint32_t row = piece.row + block.y();
    const uint32_t begin = tile.first_pair_column(row);
    const uint32_t first = piece.column + block.x() * kThreads * kPerThread;
    const uint32_t end = least(piece.column + piece.columns, first + kThreads * kPerThread);
    if (end <= begin) return;
    const uint32_t weight = row_weights[row];
    const float bound = row_bounds[row];
    block.each([&](uint32_t thread) {
      for (uint32_t c = first + thread; c < end; c += kThreads) {
        if (c < begin) continue;
        const uint32_t numerator = tile.at(row, c);
        if (numerator == 0) continue;
        const float s = pair_similarity(numerator, weight, column_weights[c]);
        if (s >= bound || s >= column_bounds[c])
          append(found, Pair{tile.first_row + row, tile.first_column + c, numerator});
      }
    });
  }
};

}  // namespace neardup::gpu
