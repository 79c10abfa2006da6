// The cost of a scan's look-ups, for scans with a condition on the value and for those without.
#pragma once

#include "pg/lsh/planner/facts/index_facts.h"

namespace neardup {

struct LookUp {
  double probes;
  double entries;     // that these meet
  double candidates;  // rows that come out
};

struct EqualityConditions {
  int columns;      // that have one
  double share;     // of the rows that agree with them
  double searches;  // one for each member of a list
  KnownColumns known;
};

inline double table_rows(const IndexOptInfo* index) { return Max(index->rel->tuples, 1.0); }

// counted: in the index, or null; statistics say the rest. equal_share: of the rows that agree with the conditions on
// the other columns.
LookUp expected_look_up(PlannerInfo* root, const IndexOptInfo* index, Node* key, KnownQuery query,
                        const ProbeEstimate* counted, double equal_share);

// searches: so many, each of such look-ups; loops: how often the scan is made, for which pages are read once. *pages:
// that are read.
Cost cost_of_look_ups(PlannerInfo* root, const IndexOptInfo* index, const LookUp& look_up, double searches,
                      double loops, double* pages);

// The cost of reading so many rows of the table, each page once; loops: as above.
Cost cost_of_rows(PlannerInfo* root, const IndexOptInfo* index, double rows, double loops);

// The cost of a search in the order of distance without a condition on the value. nearest_cost.cpp.
Cost nearest_cost(PlannerInfo* root, const IndexPath* path, const EqualityConditions& equal, double loops,
                  double* pages);

}  // namespace neardup
