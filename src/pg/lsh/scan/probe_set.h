// The probes of a query, in order of their keys.
#pragma once

#include "pg/lsh/family.h"
#include "pg/lsh/store/run_reader.h"
#include "pg/lsh/store/stored_keys.h"

namespace neardup {

// TIDs from `from` on, below `to`.
struct TidRange {
  uint64_t from;
  uint64_t to;

  bool has(uint64_t tid) const { return from <= tid && tid < to; }
};

// Keys first..last.
struct Probe {
  uint64_t first;
  uint64_t last;
  const LshProbe* source;
  uint32_t next;  // of its group, or kNoProbe
};
inline constexpr uint32_t kNoProbe = ~uint32_t{0};

// The entries of a probe in a run, with TIDs of the range; false: none. Of a prefix the TIDs are not in order.
inline bool entries_in(const RunTree& tree, const Probe& probe, const TidRange& tids, Entry* begin, Entry* end) {
  const bool whole = probe.first == probe.last;
  *begin = {probe.first, whole ? tids.from : 0};
  *end = {probe.last, whole ? tids.to : kMaxTid};
  if (*begin < tree.lo()) *begin = tree.lo();
  if (tree.hi() < *end) *end = tree.hi();
  return *begin < *end;
}

// Plain data, zeroed before init().
class ProbeSet {
 public:
  void init(MemoryContext context) { context_ = context; }

  // The probes from now on. The plan's memory must live as long. salt: of the index's equality columns.
  void set(const ProbesRequest* plan, uint64_t salt);

  const ProbesRequest& plan() const { return *plan_; }
  uint32_t size() const { return n_; }
  uint32_t capacity() const { return capacity_; }
  Probe& at(uint32_t i) { return probes_[i]; }
  const Probe& at(uint32_t i) const { return probes_[i]; }

  bool has_prefixes() const { return prefixes_; }
  // True if entries of a probe have to be looked at one by one.
  bool is_checked() const { return prefixes_ || plan_->check != nullptr; }

  // True if an entry with this stored key counts for the probe that found it.
  bool passes(const Probe& probe, uint64_t key) const {
    if (plan_->check == nullptr) return true;
    return plan_->check(plan_, probe.source, key ^ salt_) ||
           (key == 1 && plan_->check(plan_, probe.source, kRosterKey ^ salt_));  // see salted_key()
  }

  // A row that has all its keys at hand.
  struct RowHits {
    uint32_t hits;   // groups' probes that it has keys of
    uint32_t least;  // with so many it qualifies; kNeverQualifies: with none
  };
  static constexpr uint32_t kNeverQualifies = ~uint32_t{0};
  RowHits hits_of_row(const PendingRowView& row) const;

 private:
  // Bits for the keys' low ends: most keys of a pending row are no probe's.
  static constexpr uint64_t kKeyFilterBits = 8192;

  void reserve(uint32_t n);
  uint64_t filter_bit(uint64_t key) const { return filter_[key % kKeyFilterBits / 64] >> (key % 64) & 1; }

  MemoryContext context_;
  const ProbesRequest* plan_;
  uint64_t salt_;
  Probe* probes_;    // ascending
  uint64_t* order_;  // for sorting them
  uint32_t n_;
  uint32_t capacity_;
  bool prefixes_;
  uint64_t filter_[kKeyFilterBits / 64];
};

}  // namespace neardup
