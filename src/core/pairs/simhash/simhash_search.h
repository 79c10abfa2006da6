// The search for near simhashes among values in memory: the inside of SimhashPairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/pairs/pair_search.h"
#include "core/work/parallel.h"

namespace neardup {

// Estimated nanoseconds of one value in one counting sort.
inline constexpr double kSimhashSortCost = 4;

// Values and the rows that they belong to. Those of side A come first; with one set all are of side A.
struct SimhashEntries {
  uint64_t* values;
  uint32_t* rows;
  size_t n_a;
  size_t n;
};

// The pairs of side A or, cross, of side A and side B at distance `most` at most: take(hits, n) on this thread, rows of
// A first. There are pairs. Values have their bits in another order meanwhile. Holds three more entries a value: its
// place in a slice, and on average two copies of that.
SearchCounts search_simhashes(const SimhashEntries& e, bool cross, uint32_t most, unsigned threads, Poller& poller,
                              const std::function<void(const Hit*, size_t)>& take);

}  // namespace neardup
