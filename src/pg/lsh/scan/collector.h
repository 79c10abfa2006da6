// Candidate rows of a query: what a scan and the planner's estimate have in common.
#pragma once

#include "pg/lsh/scan/candidate_list.h"
#include "pg/lsh/scan/directory_reader.h"
#include "pg/lsh/scan/hit_counter.h"
#include "pg/lsh/scan/probe_set.h"
#include "pg/lsh/scan/unit_lists.h"

namespace neardup {

inline size_t scan_memory() { return static_cast<size_t>(work_mem) * 1024; }

inline constexpr unsigned kOffsetBits = 16;  // of a TID

// The cost of counting an entry, in nanoseconds.
inline constexpr double kCountCost = 4;

struct CollectorEstimate {
  double entries;
  double candidates;
  double near;  // of these, that agree in far more groups than they must: what shares one by chance does not
};

// Looks the groups of a plan up in all runs and pending pages and counts, per row, those that agree.
// Plain data in a memory context of its own.
class Collector {
 public:
  // most_bytes: for hits and the result. snapshot: of the scan, or null.
  void init(Relation index, MemoryContext parent, Snapshot snapshot, size_t most_bytes);

  void set_snapshot(Snapshot snapshot) { reader_.set_snapshot(snapshot); }
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

  // Collects, unless the lists of the least groups that suffice have more than `most` entries. Then the lists are
  // measured, and a part of the rows is collected. For the planner.
  CollectorEstimate estimate(double most);
  double measure();

  void rewind();

  // Looks at the directory as it is now, for config() and the next collection.
  void read_directory() { reader_.read(); }
  const LshConfig& config() const { return reader_.config(); }

 private:
  template <typename Try>
  void try_until_current(Try try_once);
  TidRange next_pass(uint64_t from) const;
  void narrow_pass(uint64_t from);
  uint64_t largest_block() const;
  void sort_candidates();

  ReadOutcome try_collect(const TidRange& tids);
  ReadOutcome collect_unit(uint8_t unit, const TidRange& tids);
  // False for more entries than an estimate wants.
  bool may_read(uint64_t entries);
  // collector_estimate.cpp. pass_over() estimates lists that may not be read by their lengths.
  void pass_over(uint64_t candidates, uint64_t near);
  ReadOutcome pass_over_unit(uint32_t least);
  void try_estimate(double most, const TidRange& tids, int unit);
  int largest_unit() const;
  CollectorEstimate estimate_by_sample(double most);
  double count_near() const;
  // Counts the hits that a group's lists are. insert: of rows not seen yet, too.
  ReadOutcome count_group(uint32_t group, bool insert, const TidRange& tids);
  ReadOutcome count_gathered(uint32_t* probed, const TidRange& tids, bool* counted);
  ReadOutcome count_in_table(uint32_t probed, const TidRange& tids);
  ReadOutcome count_further(uint32_t least, bool all, double row_cost, uint32_t* probed, const TidRange& tids);
  ReadOutcome collect_pending(const TidRange& tids);

  // collector_classes.cpp: classes of rows say how many hits a row needs.
  struct ClassCut;
  ReadOutcome add_classes(const TidRange& tids);
  ReadOutcome collect_by_class(const TidRange& tids);
  ClassCut cheapest_cut() const;
  double row_cost() const;
  ReadOutcome count_first(const ClassCut& cut, const TidRange& tids);
  ReadOutcome add_by_class(const ClassCut& cut, uint32_t probed, const TidRange& tids);

  ReadOutcome try_roster(uint64_t from, uint64_t* next);
  ReadOutcome add_run_roster(RunTree* tree, uint64_t from, uint64_t* complete);

  MemoryContext context_;  // of this object
  size_t most_bytes_;
  double candidate_cost_;  // nanoseconds
  uint64_t pass_;          // heap blocks of a pass; 0: all
  // The following are estimate()'s.
  bool estimates_;
  int only_unit_;        // that is looked at then; below 0: all
  double most_entries_;  // that may be read
  double seen_entries_;
  bool passed_over_;          // there were more
  CollectorEstimate unread_;  // of those: by their lengths
  const ProbesRequest* plan_;
  DirectoryReader reader_;
  ProbeSet probes_;
  UnitLists lists_;
  HitCounter hits_;
  CandidateList list_;
};

// Calls try_once() with an empty list until the directory has not moved on meanwhile.
template <typename Try>
void Collector::try_until_current(Try try_once) {
  for (int attempts = 0;; reader_.stale_again(&attempts)) {
    list_.n = 0;
    reader_.use();
    if (try_once() != ReadOutcome::stale) break;
  }
  reader_.end_attempts();
}

}  // namespace neardup
