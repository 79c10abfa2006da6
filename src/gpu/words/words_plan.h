// The plan for comparing rows of words on a device: which features are dense, and how all is cut to fit in memory.
// Plain C++17.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "gpu/base/memory.h"
#include "gpu/base/slots.h"
#include "gpu/neardup_gpu.h"
#include "gpu/words/words.h"

namespace neardup::gpu {

// Share of a block's words from which on a feature is dense. A product costs four multiplications a pair whatever the
// share s, lists s * s additions into shared memory, computed to be some hundred times as dear (src/gpu/words/README).
constexpr double kDenseFeatureShare = 0.03;
// Entries of the block that are looked at to find out.
constexpr uint64_t kSampleEntries = 1 << 22;

// Multiples that matrices are padded to: of columns of features, of rows and of columns of a tile.
constexpr uint32_t kDenseStep = 32;
constexpr uint32_t kRowStep = 16;
constexpr uint32_t kColumnStep = 32;

inline uint32_t round_up(uint32_t n, uint32_t step) noexcept { return (n + step - 1) / step * step; }

// Checks what comes over the boundary; throws Error{invalid_argument}. Entries are checked when they are copied.
inline void check_word_rows(const NeardupGpuWordRows& rows, uint32_t words) {
  const auto refuse = [](const std::string& what) { throw Error(Errc::invalid_argument, what); };
  if (rows.rows > words || rows.first > words - rows.rows)
    refuse("rows must be of words below " + std::to_string(words));
  if (rows.begin == nullptr) refuse("begin must not be null");
  for (uint32_t i = 0; i < rows.rows; ++i)
    if (rows.begin[i] > rows.begin[i + 1]) refuse("row " + std::to_string(i) + " ends before it begins");
  if (rows.begin[rows.rows] != rows.begin[0] && (rows.features == nullptr || rows.values == nullptr))
    refuse("features and values must not be null");
}
inline void check_word_block(const NeardupGpuWordBlock& block) {
  const auto refuse = [](const std::string& what) { throw Error(Errc::invalid_argument, what); };
  if (block.words < 1 || block.words > 1u << 24) refuse("words must be 1 to 2^24: " + std::to_string(block.words));
  if (block.features < 1 || block.features > 1u << 25)
    refuse("features must be 1 to 2^25: " + std::to_string(block.features));
  if (block.k < 1 || block.k > 65535) refuse("k must be 1 to 65535: " + std::to_string(block.k));
  if (block.weights == nullptr) refuse("weights must not be null");
  check_word_rows(block.rows, block.words);
  for (uint32_t w = 0; w < block.words; ++w)
    if (block.weights[w] >> 30 != 0) refuse("the weight of word " + std::to_string(w) + " is 2^30 or more");
}

// Features that many words have, most frequent first: by a sample of the rows.
inline std::vector<uint32_t> dense_features(const NeardupGpuWordBlock& block, double share) {
  const NeardupGpuWordRows& rows = block.rows;
  std::vector<uint32_t> out;
  if (rows.rows == 0) return out;
  const uint64_t entries = rows.begin[rows.rows] - rows.begin[0];
  const auto step = static_cast<uint32_t>(std::min<uint64_t>(rows.rows, entries / kSampleEntries + 1));
  std::vector<uint32_t> counts(block.features);
  uint32_t sampled = 0;
  for (uint32_t i = 0; i < rows.rows; i += step, ++sampled)
    for (uint64_t e = rows.begin[i]; e < rows.begin[i + 1]; ++e) {
      if (rows.features[e] >= block.features) throw Error(Errc::invalid_argument, "a feature is out of range");
      ++counts[rows.features[e]];
    }
  const double least = std::max(1.0, share * sampled);
  for (uint32_t f = 0; f < block.features; ++f)
    if (counts[f] >= least) out.push_back(f);
  std::stable_sort(out.begin(), out.end(), [&](uint32_t x, uint32_t y) { return counts[x] > counts[y]; });
  if (out.size() > kMaxDense) out.resize(kMaxDense);
  return out;
}

struct WordPlan {
  uint32_t slice_columns = 0;  // words of the block that a device holds at once
  uint32_t slices = 0;
  uint64_t slice_entries = 0;  // of the slice that has most
  uint32_t strip_rows = 0;     // rows that are compared at once
  uint64_t strip_entries = 0;
  uint32_t dense = 0;          // features
  uint32_t dense_columns = 0;  // the same, padded
  uint32_t room = 0;           // pairs that a piece may find
  uint64_t bytes = 0;

  uint32_t stride() const noexcept { return round_up(slice_columns, kColumnStep); }
  uint32_t segments() const noexcept { return (slice_columns + kSegment - 1) / kSegment; }
};

constexpr uint32_t kWordSlots = 2;
constexpr uint32_t kMaxStripRows = 4096;
// With fewer rows rather more slices, and with smaller slices rather fewer dense features.
constexpr uint32_t kGoodStrip = 256;
constexpr uint32_t kGoodSlice = 4096;

// row_entries: of the longest row that will be compared. temporary: bytes for running sums of so many. False: it cannot
// be done within `limit` bytes.
inline bool plan_words(const NeardupGpuWordBlock& block, uint32_t dense, uint64_t row_entries, uint64_t limit,
                       const std::function<uint64_t(uint32_t)>& temporary, WordPlan* plan) {
  const NeardupGpuWordRows& rows = block.rows;
  const uint32_t n = std::max(1u, rows.rows);
  const uint64_t all = rows.rows == 0 ? 0 : rows.begin[rows.rows] - rows.begin[0];
  const uint32_t most_strip = std::min(kMaxStripRows, round_up(block.words, kRowStep));
  const uint32_t room = fitting_room(uint64_t{n} * block.words, kWordSlots * sizeof(Pair), limit / 8);

  for (;; dense /= 2) {
    for (uint32_t cuts = 1;; cuts *= 2) {
      WordPlan p;
      p.dense = dense;
      p.dense_columns = round_up(dense, kDenseStep);
      p.room = room;
      p.slice_columns = (n - 1) / cuts + 1;
      if (cuts > 1) p.slice_columns = std::min(n, round_up(p.slice_columns, kColumnStep));
      p.slices = (n - 1) / p.slice_columns + 1;
      for (uint32_t s = 0; s < p.slices && rows.rows != 0; ++s) {
        const uint32_t first = s * p.slice_columns;
        const uint32_t end = std::min(n, first + p.slice_columns);
        p.slice_entries = std::max(p.slice_entries, rows.begin[end] - rows.begin[first]);
      }
      const bool least_slice = p.slice_columns <= kColumnStep;
      const uint64_t lists = uint64_t{p.segments()} * block.features + 1;
      if (p.slice_entries < UINT32_MAX && lists < INT32_MAX) {
        const uint64_t stride = p.stride();
        // Entries as they come and in lists; begins of rows and lists; matrices; weights, bounds and counts of columns.
        uint64_t slice = p.slice_entries * 10 + 4 * (uint64_t{p.slice_columns} + 1) + 8 * lists +
                         stride * 3 * p.dense_columns +
                         stride * (8 + ColumnBounds::kCounts / ColumnBounds::kBlockColumns * 4) +
                         temporary(static_cast<uint32_t>(lists));
        if (dense != 0) slice += uint64_t{block.features} * 4;
        for (uint32_t strip = most_strip;; strip /= 2) {
          p.strip_rows = strip;
          // Some more than usual, so that strips are seldom cut for that.
          p.strip_entries = std::max(row_entries, strip * (all / n + all / n / 4 + 16));
          const uint64_t padded = round_up(strip, kRowStep);
          const uint64_t slot = p.strip_entries * 6 + 4 * (uint64_t{strip} + 1) + uint64_t{strip} * 8 +
                                padded * 3 * p.dense_columns + padded * stride * (dense != 0 ? 8 : 4) +
                                uint64_t{room} * sizeof(Pair) + sizeof(Counters);
          p.bytes = slice + kWordSlots * slot;
          if (p.bytes <= limit && p.strip_entries < UINT32_MAX) {
            *plan = p;
            return true;
          }
          if (strip <= (dense == 0 && least_slice ? 1 : kGoodStrip)) break;
        }
      }
      if (least_slice || (dense != 0 && p.slice_columns <= kGoodSlice)) break;
    }
    if (dense == 0) return false;
  }
}

// Rows of a strip, which takes some tens of milliseconds.
inline WorkSize strip_size() { return {256, 16, kMaxStripRows, 20, 80}; }

// A piece that found more pairs than there is room for, in two; one pair always fits.
inline std::pair<WordPiece, WordPiece> halves(const WordPiece& piece) noexcept {
  WordPiece one = piece;
  WordPiece two = piece;
  if (piece.rows > 1) {
    one.rows = piece.rows / 2;
    two.row += one.rows;
    two.rows -= one.rows;
  } else {
    one.columns = piece.columns / 2;
    two.column += one.columns;
    two.columns -= one.columns;
  }
  return {one, two};
}

}  // namespace neardup::gpu
