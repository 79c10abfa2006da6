// The k most similar words of every word, exactly, without keeping the matrix of all pairs.
//
// The similarity of two words is an integer over an integer (word_row.h), so that the same words come out on every
// processor and device. Words are compared a block of columns at a time: the rows of the block are kept, as inverted
// lists and, for features that many of its words have, as dense columns; rows before the end of the block stream past.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/word_model/similar_words_impl.h"
#include "core/word_model/word_row.h"
#include "core/word_model/word_tiles.h"
#include "core/work/parallel.h"
#include "core/work/workspace.h"

namespace neardup {

inline constexpr uint32_t kMaxSimilar = 1000;

struct SimilarWord {
  uint32_t word;
  double similarity;
};

struct SimilarOptions {
  uint32_t k = 50;                 // 1 .. kMaxSimilar
  size_t memory_limit = SIZE_MAX;  // bytes; at least the best k of each word, and some rows, are kept whatever it is
  StopCheck* stop = nullptr;
  unsigned threads = 1;
  WordTiles* offload = nullptr;  // asked first; may be null
};

// Use: for each block: load() rows until it says no or there are none left; probe() the rows of all words from 0 to the
// end of the block, in order; end_block(). After the last block, or after any, best() of each word.
class SimilarWords {
 public:
  // weights: of each word. tie: of equally similar words the one with the smaller tie comes first; all different. Both
  // are copied. features: all are below. Error{too_large} for a weight above kMaxFeatureWeight.
  SimilarWords(uint32_t words, const uint32_t* weights, const uint32_t* tie, uint32_t features,
               const SimilarOptions& options);

  // Called before the first block, with what blocks that end before it found for a word, as best() gave it.
  void restore(uint32_t word, const SimilarWord* best, size_t n) {
    for (size_t i = 0; i < n; ++i) offer(word, best[i].word, best[i].similarity);
  }

  // The first word of the block. What was loaded before it is gone.
  void begin_block(uint32_t first);
  // The next word's row, copied. False, and nothing is taken, when the block is full; an empty block takes one.
  bool load(const WordRow& row);
  // The next word's row, from word 0 on, copied.
  void probe(const WordRow& row);
  void end_block();

  // The best so far of a word, most similar first: at most k, of similarity above 0.
  size_t best(uint32_t word, SimilarWord* out) const;

  struct Stats {
    uint64_t pairs = 0;      // of words that were compared
    uint64_t dense = 0;      // of features and blocks: dense columns
    uint64_t additions = 0;  // along inverted lists
    uint32_t blocks = 0;
    bool offloaded = false;  // some of it was done by the offload
    size_t peak_bytes = 0;
  };
  Stats stats() const noexcept {
    Stats now = stats_;
    now.peak_bytes = ws_.ledger.peak();
    return now;
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
