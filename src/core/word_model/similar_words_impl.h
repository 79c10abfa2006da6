// The inside of SimilarWords: similar_words.cpp (the best of each word, and the course of a search),
// similar_words_block.cpp (the block's words as columns), similar_words_probe.cpp (rows against them).
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
#include "core/word_model/similar_words.h"
#include "core/work/parallel.h"
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

class SimilarWords::Engine {
 public:
  Engine(uint32_t words, const uint32_t* weights, const uint32_t* tie, uint32_t features,
         const SimilarOptions& options);

  void restore(uint32_t word, const SimilarWord* best, size_t n) {
    for (size_t i = 0; i < n; ++i) offer(word, best[i].word, best[i].similarity);
  }
  void begin_block(uint32_t first);
  bool load(const WordRow& row);
  void probe(const WordRow& row);
  void end_block();
  size_t best(uint32_t word, SimilarWord* out) const;
  const Stats& stats() noexcept {
    stats_.peak_bytes = ws_.ledger.peak();
    return stats_;
  }

 private:
  uint32_t lanes() const noexcept { return (block_.size() + kLaneWords - 1) / kLaneWords; }
  uint32_t lane_size(uint32_t lane) const noexcept {
    return std::min<uint32_t>(kLaneWords, width_ - lane * static_cast<uint32_t>(kLaneWords));
  }
  static size_t lane_stride(uint32_t size) noexcept { return (size + kTileWords - 1) / kTileWords * kTileWords; }
  uint64_t block_limit() const noexcept { return ws_.limit == SIZE_MAX ? UINT64_MAX : ws_.limit - ws_.limit / 4; }
  uint64_t block_bytes(uint64_t entries, uint64_t rows, uint64_t features) const noexcept;
  uint32_t fewest_dense() const;
  void prepare();
  void build();
  void flush();
  void run();
  void work(SimilarWordsWorker& w, size_t task, HitSink& sink);
  void translate(SimilarWordsWorker& w, uint32_t first, uint32_t n);
  void add_dense(SimilarWordsWorker& w, uint32_t n, uint32_t lane, uint32_t start, HitSink& sink);
  void add_lists(SimilarWordsWorker& w, uint32_t n, uint32_t lane, uint32_t start, HitSink& sink);
  void select(SimilarWordsWorker& w, uint32_t first, uint32_t n, uint32_t lane, HitSink& sink);
  void found(uint32_t i, uint32_t j, uint32_t sum) {
    const double similarity = static_cast<double>(sum) / static_cast<double>(uint64_t{weights_[i]} + weights_[j]);
    offer(i, j, similarity);
    offer(j, i, similarity);
  }
  void offer(uint32_t word, uint32_t other, double similarity);
  bool before(double a, uint32_t a_word, double b, uint32_t b_word) const noexcept {
    return a != b ? a > b : tie_[a_word] < tie_[b_word];
  }

  Workspace ws_;
  const uint32_t words_;
  const uint32_t k_;
  const uint32_t features_;
  const unsigned threads_;
  WordTiles* offload_;
  Stats stats_;

  Array<uint32_t> weights_;
  Array<float> float_weights_;
  Array<uint32_t> tie_;
  // The best k of each word as a heap, the last of them first; and what another must reach at least.
  Array<double> similarity_;
  Array<uint32_t> similar_;
  Array<uint32_t> held_;
  Array<float> least_;
  Array<float> bounds_;  // least_ as it was when the rows began to be probed

  uint32_t first_ = 0;  // of the block
  uint32_t width_ = 0;  // words of it
  bool loading_ = false;
  bool offloaded_ = false;  // the offload has the block
  StoredRows block_;
  FeatureSet set_;
  Array<uint32_t> counts_;  // of each feature of the set: words of the block
  Array<uint32_t> places_;  // of each: list << 1, or dense feature << 1 | 1
  uint32_t lists_ = 0;
  uint32_t dense_ = 0;
  uint32_t panels_ = 0;
  Array<uint32_t> offsets_;  // [lane][list], and one behind
  Array<uint32_t> entries_;
  Array<uint16_t> values_;  // [256 words][dense feature][word]

  uint32_t next_row_ = 0;  // that is to be probed
  uint32_t rows_at_once_ = 0;
  StoredRows probes_;
  uint32_t strip_ = 0;  // rows of a task
  std::vector<SimilarWordsWorker> workers_;
};

}  // namespace neardup
