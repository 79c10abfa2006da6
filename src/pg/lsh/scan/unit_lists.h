// The lists of a query's probes in the runs of one unit: where they lie, how long they are, and what is in them.
#pragma once

#include "pg/lsh/scan/directory_reader.h"
#include "pg/lsh/scan/probe_set.h"
#include "pg/lsh/scan/tid_sink.h"

namespace neardup {

// Plain data, zeroed before init().
class UnitLists {
 public:
  // most_bytes: what a scan may hold.
  void init(Relation index, MemoryContext parent, size_t most_bytes);

  void set_probes(ProbeSet* probes);

  void clear();
  // Adds what a run of the unit has. Short lists are copied while their leaf is locked; of longer ones the length is
  // noted.
  ReadOutcome locate(RunTree* tree, const TidRange& tids);
  void order_groups();
  void forget() { MemoryContextReset(unit_context_); }

  // Groups are counted from 0 in order of their length, which is that of their probes' lists.
  uint64_t length(uint32_t group) const { return groups_[group].length; }
  uint64_t length(uint32_t first, uint32_t end) const {
    uint64_t length = 0;
    for (uint32_t g = first; g < end; ++g) length += groups_[g].length;
    return length;
  }
  ReadOutcome read_group(uint32_t group, const TidRange& tids, TidSink* sink);

  // The group of a class of rows, which no order moves.
  uint32_t group_of_class(uint32_t c) const { return probes_->plan().ngroups + c; }

 private:
  struct Segment;
  struct List {
    Segment* first;
    uint64_t length;
  };
  struct Group {
    uint64_t length;  // below 2^48: of TIDs in a table
    uint32_t first;   // of its probes, kNoProbe at the end
  };

  bool find_places(RunTree* tree, const TidRange& tids, uint32_t from, uint32_t to, const LeafPlace** last);
  bool read_places(RunTree* tree, const TidRange& tids, uint32_t from, uint32_t to);
  uint32_t longest_copy() const;
  Segment* add_segment(uint32_t probe, RunTree* tree, const LeafPlace& place, uint32_t room);
  void copy_list(uint32_t probe, const LeafView& leaf, uint32_t first, uint32_t last, const TidRange& tids);
  bool measure_rest(uint32_t probe, RunTree* tree, const Entry& end);
  uint32_t copy_passing(uint32_t probe, const LeafView& leaf, uint32_t first, uint32_t last, const TidRange& tids,
                        uint64_t* out) const;
  ReadOutcome read_segment(const Segment& segment, uint32_t probe, const TidRange& tids, TidSink* sink);
  uint32_t all_groups() const { return probes_->plan().ngroups + probes_->plan().nclasses; }

  Relation index_;
  MemoryContext context_;
  MemoryContext unit_context_;
  size_t most_copied_;  // bytes of lists that are copied generously
  size_t copied_;       // of this unit
  ProbeSet* probes_;
  uint32_t probe_capacity_;
  List* lists_;        // one for each probe
  LeafPlace* places_;  // where each begins in the run that is looked at
  uint32_t group_capacity_;
  Group* groups_;          // in order of length, then classes; after them, by number
  uint64_t* group_order_;  // for sorting them
  uint64_t* tids_;         // of one leaf
};

}  // namespace neardup
