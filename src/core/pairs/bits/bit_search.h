// The search for near bit codes among those in memory: the inside of BitPairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/pairs/pair_search.h"
#include "core/work/parallel.h"

namespace neardup {

// Codes of `words` words each, one behind the other, and the rows that they belong to. Those of side A come first; with
// one set all are of side A.
struct BitEntries {
  const uint64_t* codes;
  const uint32_t* rows;
  size_t words;
  uint32_t bits;  // of a code that may be set; the others are 0
  size_t n_a;
  size_t n;

  const uint64_t* code(size_t i) const noexcept { return codes + i * words; }
};

// Bytes that the search holds for each code.
size_t bit_search_bytes(size_t words, uint32_t most) noexcept;

// The pairs of side A or, cross, of side A and side B at distance `most` at most: take(hits, n) on this thread, rows of
// A first. There are pairs. What the search holds is counted in ws.
SearchCounts search_bits(const BitEntries& e, bool cross, uint32_t most, unsigned threads, Workspace& ws,
                         const std::function<void(const Hit*, size_t)>& take);

}  // namespace neardup
