// The k most similar words of every word, exactly, without keeping the matrix of all pairs.
//
// The similarity of two words is an integer over an integer (word_row.h), so that the same words come out on every
// processor and device. Words are compared a block of columns at a time: the rows of the block are kept, as inverted
// lists and, for features that many of its words have, as dense columns; rows before the end of the block stream past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/stop.h"
#include "core/word_model/word_row.h"
#include "core/word_model/word_tiles.h"

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
  ~SimilarWords();

  // Is called before the first block, with what blocks that end before it found for a word, as best() gave it.
  void restore(uint32_t word, const SimilarWord* best, size_t n);

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
  const Stats& stats() const noexcept;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace neardup
