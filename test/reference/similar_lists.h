// The similar words that the core's engine finds of rows made for tests, alone or with other tiles at its side.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/word_model/similar_words.h"

#include "test/reference/word_rows.h"

namespace neardup::reference {

using SimilarLists = std::vector<std::vector<std::pair<uint32_t, double>>>;

// block: words of a block at most; 0: as many as the engine takes.
inline SimilarLists find_similar_words(const WordRows& rows, uint32_t k, uint32_t block, WordTiles* offload) {
  const uint32_t n = rows.size();
  std::vector<uint32_t> tie(n);
  std::iota(tie.rbegin(), tie.rend(), 0u);
  SimilarOptions options;
  options.k = k;
  options.offload = offload;
  SimilarWords engine(n, rows.weights.data(), tie.data(), rows.width, options);
  for (uint32_t first = 0; first < n;) {
    engine.begin_block(first);
    uint32_t end = first;
    while (end < n && (block == 0 || end - first < block) && engine.load(rows.matrix(end, end + 1).row(0))) ++end;
    for (uint32_t i = 0; i < end; ++i) engine.probe(rows.matrix(i, i + 1).row(0));
    engine.end_block();
    first = end;
  }
  SimilarLists out(n);
  std::vector<SimilarWord> best(k);
  for (uint32_t i = 0; i < n; ++i) {
    const size_t found = engine.best(i, best.data());
    for (size_t b = 0; b < found; ++b) out[i].emplace_back(best[b].word, best[b].similarity);
  }
  return out;
}

}  // namespace neardup::reference
