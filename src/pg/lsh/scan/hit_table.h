// Hits of the rows that a query's lists have: in a table by TID, or gathered where they are many.
#pragma once

#include "core/lsh/row_counter.h"
#include "pg/base/pg.h"

namespace neardup {

// TID << 16 | hits, open addressing. Slot value 0 is empty: no TID is 0. Plain data, zeroed before use.
struct HitTable {
  uint64_t* slots;
  uint32_t* rows;   // the `used` slots that hold one, in no order that matters
  size_t capacity;  // of those that are in use now; a power of two
  size_t allocated;
  size_t used;
  size_t most;  // slots that memory allows
  MemoryContext context;
  uint32_t* histogram;  // slots by hits, 0..bins; more hits count as `bins`
  uint32_t bins;
  uint64_t* filter;  // of the rows seen when the histogram was made
  size_t filter_mask;
  size_t filter_words;

  static constexpr size_t kNearSlots = 4096;  // are in the nearest cache anyway

  // Slots, and rows for the half of them that is filled at most; zeroed.
  void allocate(size_t n) {
    char* memory = static_cast<char*>(MemoryContextAllocExtended(
        context, n * sizeof(uint64_t) + n / 2 * sizeof(uint32_t), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
    slots = reinterpret_cast<uint64_t*>(memory);
    rows = reinterpret_cast<uint32_t*>(slots + n);
    allocated = n;
  }

  // Gives the memory back.
  void forget() {
    if (slots != nullptr) pfree(slots);
    slots = nullptr;
    allocated = 0;
  }

  void put(size_t at, uint64_t slot) {
    slots[at] = slot;
    rows[used++] = static_cast<uint32_t>(at);
  }

  // The slot of a row, or the free one that it takes.
  size_t slot_place(uint64_t tid) const {
    size_t at = hash(tid) & (capacity - 1);
    while (slots[at] != 0 && slots[at] >> 16 != tid) at = (at + 1) & (capacity - 1);
    return at;
  }

  // For one more row, whose slot is *at. False: there is none.
  bool make_room(uint64_t tid, size_t* at) {
    if (2 * (used + 1) <= capacity) return true;
    if (!grow()) return false;
    *at = slot_place(tid);
    return true;
  }

  static size_t hash(uint64_t tid) { return static_cast<size_t>(tid * 0x9E3779B97F4A7C15u >> 20); }

  // Most entries are of rows that have several; where they are not, the table grows.
  void reset(size_t entries) {
    size_t want = 256;
    while (want < entries && want < most) want *= 2;
    if (want > allocated) {
      if (slots != nullptr) pfree(slots);
      allocate(want);
    } else {
      memset(slots, 0, want * sizeof(uint64_t));
    }
    capacity = want;
    used = 0;
  }

  bool grow() {
    if (capacity * 2 > most) return false;
    const size_t old_capacity = capacity;
    uint64_t* old = slots;
    capacity *= 2;
    if (capacity <= allocated) {
      old =
          static_cast<uint64_t*>(MemoryContextAllocExtended(context, old_capacity * sizeof(uint64_t), MCXT_ALLOC_HUGE));
      memcpy(old, slots, old_capacity * sizeof(uint64_t));
      memset(slots, 0, capacity * sizeof(uint64_t));
    } else {
      allocate(capacity);
    }
    used = 0;
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old[i] == 0) continue;
      size_t at = hash(old[i] >> 16) & (capacity - 1);
      while (slots[at] != 0) at = (at + 1) & (capacity - 1);
      put(at, old[i]);
    }
    pfree(old);
    return true;
  }

  // Of each; false: no room for another row. insert: rows not seen yet come in, too, and the histogram is left for
  // make_histogram().
  template <bool insert>
  bool count(const uint64_t* tids, uint32_t n) {
    if (!insert) {
      count_seen(tids, n);
      return true;
    }
    if (capacity <= kNearSlots) {
      for (uint32_t i = 0; i < n; ++i)
        if (!count<insert>(tids[i])) return false;
      return true;
    }
    constexpr uint32_t kSlotsAhead = 8;
    for (uint32_t i = 0; i < Min(n, kSlotsAhead); ++i) __builtin_prefetch(&slots[hash(tids[i]) & (capacity - 1)]);
    for (uint32_t i = 0; i < n; ++i) {
      if (i + kSlotsAhead < n) __builtin_prefetch(&slots[hash(tids[i + kSlotsAhead]) & (capacity - 1)]);
      if (!count<insert>(tids[i])) return false;
    }
    return true;
  }

  // Most TIDs of a list that is read for rows seen before are of others: they are left out first, without a branch.
  void count_seen(const uint64_t* tids, uint32_t n) {
    constexpr uint32_t kSeenBatch = 64;
    uint64_t seen[kSeenBatch];
    for (uint32_t from = 0; from < n; from += kSeenBatch) {
      uint32_t m = 0;
      for (uint32_t i = from; i < Min(n, from + kSeenBatch); ++i) {
        const size_t bit = hash(tids[i]) & filter_mask;
        seen[m] = tids[i];
        m += filter[bit >> 6] >> (bit & 63) & 1;
      }
      for (uint32_t i = 0; i < m; ++i) count<false>(seen[i]);
    }
  }

  template <bool insert>
  bool count(uint64_t tid) {
    size_t at = slot_place(tid);
    if (slots[at] != 0) {
      const uint32_t hits = static_cast<uint32_t>(slots[at] & 0xffff);
      if (hits == 0xffff) return true;
      if (!insert) {
        --histogram[Min(hits, bins)];
        ++histogram[Min(hits + 1, bins)];
      }
      ++slots[at];
      return true;
    }
    if (!insert) return true;
    if (!make_room(tid, &at)) return false;
    put(at, tid << 16 | 1);
    return true;
  }

  // Puts rows in that are not yet, without a hit. False: no room.
  bool seed(const uint64_t* tids, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) {
      size_t at = slot_place(tids[i]);
      if (slots[at] != 0) continue;
      if (!make_room(tids[i], &at)) return false;
      put(at, tids[i] << 16);
    }
    return true;
  }

  // False: it was not there when the histogram was made.
  bool may_have(uint64_t tid) const {
    const size_t bit = hash(tid) & filter_mask;
    return (filter[bit >> 6] >> (bit & 63) & 1) != 0;
  }

  // The hits of a row, or `none` if the table does not have it.
  uint32_t row_hits(uint64_t tid, uint32_t none) const {
    const uint64_t slot = slots[slot_place(tid)];
    return slot == 0 ? none : static_cast<uint32_t>(slot & 0xffff);
  }

  // Calls f(tid, hits) for each row with so many, in no order that matters.
  template <typename F>
  void at_least(uint32_t least, F f) const {
    for (size_t i = 0; i < used; ++i) {
      const uint64_t slot = slots[rows[i]];
      const uint32_t hits = static_cast<uint32_t>(slot & 0xffff);
      if (hits >= least) f(slot >> 16, hits);
    }
  }

  // After the last row that is seen first.
  void make_histogram() {
    memset(histogram, 0, sizeof(uint32_t) * (bins + 1));
    const size_t words = capacity / 8;  // 8 bits a slot
    if (words > filter_words) {
      if (filter != nullptr) pfree(filter);
      filter = static_cast<uint64_t*>(MemoryContextAllocExtended(context, words * sizeof(uint64_t), MCXT_ALLOC_HUGE));
      filter_words = words;
    }
    memset(filter, 0, words * sizeof(uint64_t));
    filter_mask = words * 64 - 1;
    for (size_t i = 0; i < used; ++i) {
      const uint64_t slot = slots[rows[i]];
      ++histogram[Min(static_cast<uint32_t>(slot & 0xffff), bins)];
      const size_t bit = hash(slot >> 16) & filter_mask;
      filter[bit >> 6] |= uint64_t{1} << (bit & 63);
    }
  }
};

// The entries of many lists side by side, counted when all are there: several times as fast as the table, but what one
// more list would be good for is not known before. Plain data, zeroed before use.
struct GatheredHits {
  MemoryContext context;
  size_t most;  // entries that memory allows
  uint64_t* tids;
  uint32_t n;
  size_t room;
  RowCounter* counter;

  static constexpr uint64_t kLeastGathered = 512;   // below so many entries the table is near, and as fast
  static constexpr size_t kMostGathered = 1 << 20;  // are counted in some ms

  // Forgets those of before. Whether so many are better gathered.
  bool begin(uint64_t expected) {
    if (expected < kLeastGathered || expected > most) return false;
    if (counter == nullptr) counter = static_cast<RowCounter*>(MemoryContextAlloc(context, sizeof(RowCounter)));
    counter->clear();
    n = 0;
    return true;
  }

  // Where to put so many more, before added(); null: no room.
  uint64_t* place(uint32_t count) {
    if (count > most - n) return nullptr;
    if (n + count > room) {
      room = Min(most, Max(size_t{n} + count, Max(2 * room, size_t{2 * kLeastGathered})));
      const size_t bytes = room * sizeof(uint64_t);
      tids =
          static_cast<uint64_t*>(tids == nullptr ? MemoryContextAllocHuge(context, bytes) : repalloc_huge(tids, bytes));
    }
    return tids + n;
  }

  void added(uint32_t count) {
    n += count;
    counter->add(tids, n);
  }

  // Gives the memory back.
  void forget() {
    if (tids != nullptr) pfree(tids);
    tids = nullptr;
    n = 0;
    room = 0;
  }
};

}  // namespace neardup
