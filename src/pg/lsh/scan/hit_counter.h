// Counting the hits of a unit's rows: gathered where they are many, else in the table.
#pragma once

#include "pg/lsh/scan/hit_table.h"
#include "pg/lsh/scan/tid_sink.h"

namespace neardup {

// Plain data, zeroed before init().
class HitCounter {
 public:
  // most_bytes: what a scan may hold.
  void init(MemoryContext context, size_t most_bytes);

  // Queries have so many groups from now on.
  void set_groups(uint32_t ngroups);

  // Begins a unit whose first groups have so many entries.
  void begin(uint64_t expected);

  bool gathers() const { return gathers_; }
  GatheredHits& gathered() { return gathered_; }
  HitTable& table() { return table_; }

  // Counts in the table from now on, with what was gathered; false if there is no room.
  bool move_into_table();

  // False: no room. insert: rows not seen yet come in, too.
  bool count(const uint64_t* tids, uint32_t n, bool insert) {
    if (n == 0) return true;
    if (gathers_) {
      if (uint64_t* to = gathered_.place(n)) {
        memcpy(to, tids, sizeof(uint64_t) * n);
        gathered_.added(n);
        return true;
      }
      if (!move_into_table()) return false;
    }
    if (insert) return table_.count(tids, n);
    table_.count_seen(tids, n);
    return true;
  }

  // Where so many TIDs can be put instead, before placed(); null: to be counted by count().
  uint64_t* place(uint32_t n) { return gathers_ ? gathered_.place(n) : nullptr; }
  void placed(uint32_t n) { gathered_.added(n); }

  // Begins a unit that is counted in the table.
  void begin_table(uint64_t expected);

 private:
  bool gathers_;
  HitTable table_;
  GatheredHits gathered_;
  uint32_t ngroups_;
};

// Counts the hits that a list is. insert: of rows not seen yet, too.
class HitSink final : public TidSink {
 public:
  HitSink(HitCounter* hits, bool insert) : hits_(hits), insert_(insert) {}
  bool receive(const uint64_t* tids, uint32_t n) override { return hits_->count(tids, n, insert_); }
  uint64_t* room_for(uint32_t n) override { return hits_->place(n); }
  void was_filled(uint32_t n) override { hits_->placed(n); }

 private:
  HitCounter* hits_;
  bool insert_;
};

}  // namespace neardup
