// What a scan's look-ups cost, for the costs of scans with a condition on the value and of those without.
#pragma once

#include "pg/lsh/planner/facts/index_facts.h"

namespace neardup {

// What looking up a condition on the value takes.
struct LookUp {
  double probes;
  double entries;     // that these meet
  double candidates;  // rows that come out
};

// The conditions on the columns before the value.
struct EqualityConditions {
  int columns;      // that have one
  double share;     // of the rows that agree with them
  double searches;  // one for each member of a list
  KnownColumns known;
};

inline double table_rows(const IndexOptInfo* index) { return Max(index->rel->tuples, 1.0); }

// By what was counted in the index, if anything was, and by statistics where it was not counted to the end.
// equal_share: of the rows that agree with the conditions on the other columns.
LookUp expected_look_up(PlannerInfo* root, const IndexOptInfo* index, Node* key, KnownQuery query,
                        const ProbeEstimate* counted, double equal_share);

// searches: so many, each of such look-ups; loops: how often the scan is made, for which pages are read once. *pages:
// that are read.
Cost cost_of_look_ups(PlannerInfo* root, const IndexOptInfo* index, const LookUp& look_up, double searches,
                      double loops, double* pages);

// Of reading so many rows of the table, each page once; loops: as above.
Cost cost_of_rows(PlannerInfo* root, const IndexOptInfo* index, double rows, double loops);

// What a search in the order of distance costs that has no condition on the value. nearest_cost.cpp.
Cost nearest_cost(PlannerInfo* root, const IndexPath* path, const EqualityConditions& equal, double loops,
                  double* pages);

}  // namespace neardup
