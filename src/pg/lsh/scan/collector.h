// Candidate rows of a query: what a scan and the planner's estimate have in common.
#pragma once

#include "pg/lsh/family.h"
#include "pg/lsh/store/tree_cache.h"

namespace neardup {

// What a scan may hold in memory, in bytes.
inline size_t scan_memory() { return static_cast<size_t>(work_mem) * 1024; }

// A candidate: TID << 16 | mismatching groups, which is a lower bound on how many groups differ.
inline uint64_t candidate_tid(uint64_t candidate) { return candidate >> 16; }
inline uint32_t candidate_misses(uint64_t candidate) { return static_cast<uint32_t>(candidate & 0xffff); }

struct CandidateList {
  uint64_t* items;
  size_t n;
  size_t capacity;
};

// Looks the groups of a plan up in all runs and pending pages and counts, per row, those that agree.
// Plain data in a memory context of its own.
class Collector {
 public:
  // most_bytes: for hits and the result. snapshot: of the scan, or null.
  void init(Relation index, MemoryContext parent, Snapshot snapshot, size_t most_bytes);

  void set_snapshot(Snapshot snapshot) { snapshot_ = snapshot; }
  void destroy() { MemoryContextDelete(context_); }

  // The plan that is looked up from now on; it is guaranteed and not `nothing`. Its memory must live as long.
  // salt: of the index's equality columns.
  void set_plan(const ProbesRequest* plan, uint64_t salt = 0);

  // Collects candidates with TIDs at or above `from`, sorted by TID, into list(); as many as memory allows.
  // Returns the TID to go on from, or kAllCollected.
  static constexpr uint64_t kAllCollected = ~uint64_t{0};
  uint64_t collect(uint64_t from);
  // The same for every indexed row, some thousand at a time; misses are 0.
  uint64_t collect_roster(uint64_t from);

  const CandidateList& list() const { return list_; }

  // For the planner: collects, unless the lists of the least groups that suffice have more than `most` entries: then false,
  // with what was counted up to there.
  bool estimate(double most, double* entries, double* candidates);

  // To be called between queries.
  void rewind();

  // Looks at the directory as it is now, for config() and the next collection.
  void read_directory();
  const LshConfig& config() const { return config_; }

 private:
  struct Probe;
  struct Segment;
  struct List;
  struct Group;
  enum class Outcome { done, stale, full };
  enum class Counting { in_table, gathering };

  Outcome try_collect(uint64_t from, uint64_t to);
  Outcome try_roster(uint64_t from, uint64_t* next);
  Outcome collect_unit(uint8_t unit, uint64_t from, uint64_t to);
  // The entries of a probe in a run, with TIDs from `from` up to `to`; false: none.
  static bool range_in(const RunTree& tree, const Probe& probe, uint64_t from, uint64_t to, Entry* begin, Entry* end);
  Outcome find_places(RunTree* tree, uint64_t from, uint64_t to);
  Outcome locate(RunTree* tree, uint64_t from, uint64_t to);
  Outcome count_list(const List& list, bool insert, uint64_t from, uint64_t to);
  Outcome count_group(const Group& group, bool insert, uint64_t from, uint64_t to);
  void count_in_table(uint64_t expected);
  bool move_into_table();
  bool count_tids(const uint64_t* tids, uint32_t n, bool insert);
  Outcome read_segment(const Segment& segment, const Probe& probe, bool insert, uint64_t from, uint64_t to);
  Outcome collect_pending(uint64_t from, uint64_t to);
  bool passes(const Probe& probe, uint64_t key) const;
  uint32_t hits_of_row(const PendingRowView& row) const;
  void order_groups();
  uint64_t largest_block() const;
  // Reads the directory unless that was done just now.
  void use_directory();
  void test_directory();
  void forget_directory();
  void stale_again(int* attempts);
  void end_attempts();
  void add_candidate(uint64_t tid, uint32_t misses);
  template <typename F>
  Outcome for_pending_rows(F f);

  Relation index_;
  Snapshot snapshot_;
  size_t most_bytes_;
  double candidate_cost_;  // nanoseconds
  size_t copied_;  // bytes of lists that were copied, of one unit
  MemoryContext context_;   // of this object
  MemoryContext unit_context_;
  TreeSet** set_;           // what is borrowed, or null; given back when context_ goes
  const LshMeta* directory_;
  RunTree* trees_;          // one for each run of the directory
  LshConfig config_;
  bool pinned_;             // under the maintenance lock
  bool is_read_;            // read_directory() was called just now
  const ProbesRequest* plan_;
  uint64_t salt_;
  Probe* probes_;           // ascending
  uint32_t nprobes_;
  bool prefixes_;
  uint32_t probe_capacity_;
  uint32_t group_capacity_;
  uint64_t pass_;           // heap blocks of a pass; 0: all
  double most_entries_;     // of estimate(); 0: no limit
  double seen_entries_;
  uint64_t filter_[128];
  List* lists_;             // one for each probe
  uint64_t* order_;         // for sorting them
  LeafPlace* places_;       // where each begins in the run that is looked at
  Group* groups_;           // in order of length; after them, by number
  uint64_t* group_order_;   // for sorting them
  uint32_t* histogram_;
  Counting counting_;
  struct HitTable* table_;
  struct GatheredHits* gathered_;
  uint64_t* tids_;          // of one leaf
  Entry* entries_;          // of one leaf, for prefixes
  CandidateList list_;
};

}  // namespace neardup
