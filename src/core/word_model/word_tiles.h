// To what the search for similar words may be offloaded: another device, such as a GPU.
#pragma once

#include <cstdint>
#include <functional>

#include "core/word_model/word_row.h"

namespace neardup {

struct Workspace;

// Rows of words are compared with a block of words, i with j > i. numerator: common_information() of their rows.
class WordTiles {
 public:
  // i: word of a row that was probed; j: word of the block.
  using Found = std::function<void(uint32_t i, uint32_t j, uint32_t numerator)>;

  virtual ~WordTiles() = default;

  // Takes a block in the place of the one before. weights: of all `words` words; features: all are below; k: how many
  // similar words of each count. What is pointed to stays until the next block. cost: nanoseconds that the engine
  // itself would need for all probes of the block, estimated. False: the engine does the block itself. Throws what the
  // poller throws, and Error{device} where the device is required.
  virtual bool begin(const WordMatrix& block, const uint32_t* weights, uint32_t words, uint32_t features, uint32_t k,
                     double cost, Workspace& ws) = 0;

  // Compares rows of words, all before the end of the block, with the block. least[w], of all words: pairs of w with
  // similarity below are of no use to w. For every word of the rows reports all pairs (i, j), j > i, that are among the
  // k most similar of i within the block, and for every word j of the block those that are among its k most similar
  // within the rows, unless below least of that word; equally similar ones all count. May report others; each pair once
  // at most. False, and then nothing counts that was reported: the engine does these rows, and what follows, itself.
  virtual bool probe(const WordMatrix& rows, const float* least, Workspace& ws, const Found& found) = 0;
};

}  // namespace neardup
