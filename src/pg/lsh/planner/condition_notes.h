// What lsh indexes can do for the conditions of a query, noted while it is planned: for lsh_why_not().
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace neardup {

// Why an index does not serve a condition, or that it does.
enum class Verdict : uint8_t {
  usable,           // the planner may use the index
  no_index,         // the table has no lsh index
  not_valid,        // CREATE INDEX CONCURRENTLY has failed, or is at work
  other_value,      // the index is over another column or expression
  other_measure,    // its operator class serves other measures
  far,              // the condition is true of values that are far from one another
  other_row,        // the other side, or the bound, is of the same table
  partial,          // the conditions of the query do not imply the predicate of the index
  bad_bound,        // no bound of the measure
  below_threshold,  // the index finds nearer values only
  beyond_distance,  // the same, of one that has a greatest distance
  other_signature,  // the signature was made with other parameters than those of the index
  hidden,           // the index does not serve it, and why would say something of rows that row security hides
};

// One condition and one lsh index of the table; or one condition and no index.
struct ConditionNote {
  const char* condition;  // as SQL; of other tables' columns without the parts that are not of this one
  Oid table;
  const char* alias;
  Oid index;  // InvalidOid: the table has none
  Verdict verdict;
  double index_threshold;  // of below_threshold and beyond_distance
};

// Notes are kept from begin to end, in the memory context that is current at the beginning. Not nested. The caller
// plans its query with the (empty) parameters that begin returns: they tell it from the queries of functions that the
// planner calls, whose tables the user may not read.
ParamListInfo begin_condition_notes();
List* end_condition_notes();  // of ConditionNote*
bool are_conditions_noted(const PlannerInfo* root);

// Of the conditions of one base relation; from set_rel_pathlist_hook.
void note_conditions(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte);

}  // namespace neardup
