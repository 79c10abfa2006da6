// The parts of SimilarWords.
//
// A block's words are columns, 8192 of them a lane: sums of a lane for a row stay in the first-level cache while
// inverted lists are added to them. Features that many words of the block have are kept dense instead, a value for
// every word: there, sums of 256 words stay in registers. Both add integers, so their order does not matter.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "core/kernels/word_kernels.h"
#include "core/word_model/word_row.h"
#include "core/work/workspace.h"

namespace neardup {

// Dense features of a panel: of a tile of words, half a second-level cache.
inline constexpr uint32_t kPanelFeatures = 1024;
// Bounds in single precision are lowered so that no rounding loses a pair.
inline constexpr float kLoweredBound = 1 - 1.0F / (1 << 19);
// Entries of a block, counted in 32 bits.
inline constexpr uint64_t kMaxBlockEntries = uint64_t{1} << 31;

inline constexpr uint32_t kNoFeature = UINT32_MAX;

// Rows one after the other, growing.
class StoredRows {
 public:
  explicit StoredRows(Workspace& ws) : ws_(ws) { clear(); }

  uint32_t size() const noexcept { return size_; }
  uint64_t entries() const noexcept { return size_ == 0 ? 0 : begin_[size_]; }
  WordRow row(uint32_t i) const noexcept { return matrix(0).row(i); }
  WordMatrix matrix(uint32_t first) const noexcept {
    return {begin_.data(), features_.data(), values_.data(), size_, first};
  }

  void add(const WordRow& row) {
    const uint64_t n = entries();
    reserve(begin_, size_ + 1, size_t{size_} + 2);
    reserve(features_, n, n + row.size);
    reserve(values_, n, n + row.size);
    begin_[0] = 0;
    if (row.size > 0) {
      std::memcpy(features_.data() + n, row.features, row.size * sizeof(uint32_t));
      std::memcpy(values_.data() + n, row.values, row.size * sizeof(uint16_t));
    }
    begin_[++size_] = n + row.size;
  }
  void clear() noexcept { size_ = 0; }
  void release() noexcept {
    size_ = 0;
    begin_ = {};
    features_ = {};
    values_ = {};
  }

 private:
  template <class T>
  void reserve(Array<T>& a, size_t used, size_t n) {
    if (n <= a.size()) return;
    resize_polled(&a, std::max<size_t>({n, a.size() + a.size() / 2, 1024}), std::min(used, a.size()), ws_.ledger,
                  ws_.poller);
  }

  Workspace& ws_;
  uint32_t size_ = 0;
  Array<uint64_t> begin_;
  Array<uint32_t> features_;
  Array<uint16_t> values_;
};

// The features that the words of a block have, numbered through.
class FeatureSet {
 public:
  FeatureSet(Ledger& ledger, uint32_t features)
      : words_(ledger, features / 64 + 1), before_(ledger, features / 64 + 1) {
    clear();
  }
  void clear() noexcept {
    std::memset(words_.data(), 0, words_.size() * sizeof(uint64_t));
    size_ = 0;
  }
  void add(uint32_t feature) noexcept {
    uint64_t& word = words_[feature / 64];
    const uint64_t bit = uint64_t{1} << feature % 64;
    size_ += (word & bit) == 0;
    word |= bit;
  }
  uint32_t size() const noexcept { return size_; }
  void number() noexcept {
    uint32_t n = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      before_[i] = n;
      n += static_cast<uint32_t>(std::popcount(words_[i]));
    }
  }
  // kNoFeature: no word of the block has it.
  uint32_t at(uint32_t feature) const noexcept {
    const uint64_t word = words_[feature / 64];
    const uint64_t bit = uint64_t{1} << feature % 64;
    if ((word & bit) == 0) return kNoFeature;
    return before_[feature / 64] + static_cast<uint32_t>(std::popcount(word & (bit - 1)));
  }

 private:
  Array<uint64_t> words_;
  Array<uint32_t> before_;
  uint32_t size_ = 0;
};

// The memory of a thread: a strip of rows, and sums of a lane for each of them.
struct SimilarWordsWorker {
  Array<uint32_t> sums;
  Array<WordProbe> lists;     // of each row: features that the block has in lists,
  Array<WordProbe> dense;     // and dense ones, in order
  Array<size_t> list_begin;   // by row, and one behind
  Array<size_t> dense_begin;  // by row and panel, and one behind
  Array<uint32_t> found;      // of a piece of a lane
  Array<float> heaps;         // the best k of each row, least first
  Array<uint32_t> held;       // how many that are
  uint64_t additions = 0;
};

}  // namespace neardup
