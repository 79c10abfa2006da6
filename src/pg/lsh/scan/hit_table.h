// Hits of the rows that a query's lists have: in a table by TID, or gathered where they are many.
#pragma once

#include "core/lsh/row_counter.h"
#include "pg/base/pg.h"

namespace neardup {

// The hits of each row, by open addressing. Plain data, zeroed before init().
class HitTable {
 public:
  void init(MemoryContext context, size_t most_bytes);
  // Queries have so many groups from now on.
  void set_groups(uint32_t ngroups);
  // Empties the table. Most entries are of rows that have several; where they are not, the table grows.
  void begin(uint64_t entries);
  // Gives the memory back.
  void forget();

  // Counts rows, seen before or not, until make_histogram(). False: no room for another row.
  bool count(const uint64_t* tids, uint32_t n) {
    constexpr uint32_t kSlotsAhead = 8;
    const bool is_cached = capacity_ <= kNearSlots;
    for (uint32_t i = 0; !is_cached && i < Min(n, kSlotsAhead); ++i) prefetch(tids[i]);
    for (uint32_t i = 0; i < n; ++i) {
      if (!is_cached && i + kSlotsAhead < n) prefetch(tids[i + kSlotsAhead]);
      const size_t at = slot_place(tids[i]);
      if (slots_[at] != 0)
        slots_[at] += slot_hits(slots_[at]) != kMaxRowHits;
      else if (!insert(tids[i], at, 1))
        return false;
    }
    return true;
  }

  // Adds the rows that the table does not have yet, without a hit. False: no room.
  bool seed(const uint64_t* tids, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) {
      const size_t at = slot_place(tids[i]);
      if (slots_[at] == 0 && !insert(tids[i], at, 0)) return false;
    }
    return true;
  }

  // Called after the last row that may be new.
  void make_histogram();

  // Counts rows seen before, after make_histogram(). Most TIDs of such a list are of others: they are left out first,
  // without a branch.
  void count_seen(const uint64_t* tids, uint32_t n) {
    constexpr uint32_t kSeenBatch = 64;
    uint64_t seen[kSeenBatch];
    for (uint32_t from = 0; from < n; from += kSeenBatch) {
      uint32_t m = 0;
      for (uint32_t i = from; i < Min(n, from + kSeenBatch); ++i) {
        seen[m] = tids[i];
        m += may_have(tids[i]);
      }
      for (uint32_t i = 0; i < m; ++i) {
        uint64_t* slot = &slots_[slot_place(seen[i])];
        const uint32_t hits = slot_hits(*slot);
        if (*slot == 0 || hits == kMaxRowHits) continue;
        --histogram_[Min(hits, bins_)];
        ++histogram_[Min(hits + 1, bins_)];
        ++*slot;
      }
    }
  }

  size_t size() const { return used_; }
  // Rows with so many hits; groups + 1: with more than there are groups.
  uint32_t rows_with(uint32_t hits) const { return histogram_[hits]; }

  // False: the row was not there when the histogram was made.
  bool may_have(uint64_t tid) const {
    const size_t bit = hash(tid) & filter_mask_;
    return (filter_[bit >> 6] >> (bit & 63) & 1) != 0;
  }

  // The hits of a row, or `none` if the table does not have it.
  uint32_t row_hits(uint64_t tid, uint32_t none) const {
    const uint64_t slot = slots_[slot_place(tid)];
    return slot == 0 ? none : slot_hits(slot);
  }

  // Calls f(tid, hits) for each row with so many, in no order that matters.
  template <typename F>
  void at_least(uint32_t least, F f) const {
    for (size_t i = 0; i < used_; ++i) {
      const uint64_t slot = slots_[rows_[i]];
      if (slot_hits(slot) >= least) f(slot >> 16, slot_hits(slot));
    }
  }

 private:
  static constexpr size_t kNearSlots = 4096;  // are in the nearest cache anyway
  static constexpr uint32_t kMaxRowHits = 0xffff;

  static size_t hash(uint64_t tid) { return static_cast<size_t>(tid * 0x9E3779B97F4A7C15u >> 20); }
  static uint32_t slot_hits(uint64_t slot) { return static_cast<uint32_t>(slot & kMaxRowHits); }

  void prefetch(uint64_t tid) const { __builtin_prefetch(&slots_[hash(tid) & (capacity_ - 1)]); }

  // The slot of a row, or the free one that it takes.
  size_t slot_place(uint64_t tid) const {
    size_t at = hash(tid) & (capacity_ - 1);
    while (slots_[at] != 0 && slots_[at] >> 16 != tid) at = (at + 1) & (capacity_ - 1);
    return at;
  }

  void put(size_t at, uint64_t slot) {
    slots_[at] = slot;
    rows_[used_++] = static_cast<uint32_t>(at);
  }

  // at: the free slot of the row. False: no room.
  bool insert(uint64_t tid, size_t at, uint32_t hits) {
    if (2 * (used_ + 1) > capacity_) {
      if (!grow()) return false;
      at = slot_place(tid);
    }
    put(at, tid << 16 | hits);
    return true;
  }

  void allocate(size_t n);
  bool grow();

  uint64_t* slots_;  // TID << 16 | hits; 0 is empty: no TID is 0
  uint32_t* rows_;   // the `used_` slots that hold one, in no order that matters
  size_t capacity_;  // of those that are in use now; a power of two
  size_t allocated_;
  size_t used_;
  size_t most_;  // slots that memory allows
  MemoryContext context_;
  uint32_t* histogram_;  // slots by hits, 0..bins; more hits count as `bins`
  uint32_t bins_;
  uint32_t group_capacity_;
  uint64_t* filter_;  // of the rows seen when the histogram was made
  size_t filter_mask_;
  size_t filter_words_;
};

// The entries of many lists side by side, counted when all are there: several times as fast as the table, but what one
// more list would be good for is not known before. Plain data, zeroed before init().
class GatheredHits {
 public:
  void init(MemoryContext context, size_t most_bytes) {
    context_ = context;
    most_ = Min(most_bytes / sizeof(uint64_t), kMostGathered);
  }

  bool begin(uint64_t expected) {
    if (expected < kLeastGathered || expected > most_) return false;
    if (counter_ == nullptr) counter_ = static_cast<RowCounter*>(MemoryContextAlloc(context_, sizeof(RowCounter)));
    counter_->clear();
    n_ = 0;
    return true;
  }

  uint32_t n() const { return n_; }
  uint64_t* tids() const { return tids_; }
  RowCounter* counter() const { return counter_; }
  bool has_room(uint64_t count) const { return count <= most_ - n_; }

  // Where to put so many more, before added(); null: no room.
  uint64_t* place(uint32_t count) {
    if (!has_room(count)) return nullptr;
    if (n_ + count > capacity_) {
      capacity_ = Min(most_, Max(size_t{n_} + count, Max(2 * capacity_, size_t{2 * kLeastGathered})));
      const size_t bytes = capacity_ * sizeof(uint64_t);
      tids_ = static_cast<uint64_t*>(tids_ == nullptr ? MemoryContextAllocHuge(context_, bytes)
                                                      : repalloc_huge(tids_, bytes));
    }
    return tids_ + n_;
  }

  void added(uint32_t count) {
    n_ += count;
    counter_->add(tids_, n_);
  }

  // Gives the memory back.
  void forget() {
    if (tids_ != nullptr) pfree(tids_);
    tids_ = nullptr;
    n_ = 0;
    capacity_ = 0;
  }

 private:
  static constexpr uint64_t kLeastGathered = 512;   // below so many entries the table is near, and as fast
  static constexpr size_t kMostGathered = 1 << 20;  // entries, which take some ms to count

  MemoryContext context_;
  size_t most_;  // entries that memory allows
  uint64_t* tids_;
  uint32_t n_;
  size_t capacity_;
  RowCounter* counter_;
};

}  // namespace neardup
