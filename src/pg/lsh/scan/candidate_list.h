// Candidate rows of a query.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// A candidate: TID << 16 | mismatching groups, which is a lower bound on how many groups differ.
inline uint64_t candidate_tid(uint64_t candidate) { return candidate >> 16; }
inline uint32_t candidate_misses(uint64_t candidate) { return static_cast<uint32_t>(candidate & 0xffff); }

// Plain data, zeroed before use but for its context.
struct CandidateList {
  MemoryContext context;
  uint64_t* items;
  size_t n;
  size_t capacity;

  void add(uint64_t tid, uint32_t misses) {
    if (n == capacity) grow();
    items[n++] = tid << 16 | misses;
  }

 private:
  void grow() {
    capacity = Max(size_t{64}, 2 * capacity);
    const size_t bytes = capacity * sizeof(uint64_t);
    items =
        static_cast<uint64_t*>(items == nullptr ? MemoryContextAllocHuge(context, bytes) : repalloc_huge(items, bytes));
  }
};

}  // namespace neardup
