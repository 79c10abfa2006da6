// Searches among rows that only some others may be near: rows with equal keys (within), rows near in time (at).
#pragma once

#include "pg/pairs/pair_call.h"

namespace neardup {

inline bool is_grouped(const Side& side) {
  return side.source.columns.within != -1 || side.source.columns.at != -1;
}

// Makes side->sort.
void begin_sort(Side* side);
// A row that may be near others. number: of the row in its query.
void sort_row(Side* side, uint64 number, const SourceRow& row);

// Searches the sorted rows of both sides, and fills call->pairs. Ends the sorts.
void search_groups(PairCall* call);

// The sorted rows of one query, group by group, for clusters within groups: calls begin(arg), then
// add(arg, number, signature) for each row in order, then end(arg). Ends the sort.
struct GroupVisitor {
  void (*begin)(void* arg);
  void (*add)(void* arg, uint64 number, const Signature& signature);
  void (*end)(void* arg);
};
void visit_groups(Side* side, const GroupVisitor& visitor, void* arg);

}  // namespace neardup
