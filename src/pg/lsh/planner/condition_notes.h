// Notes on the conditions of a query that lsh indexes could serve, taken while it is planned: for lsh_why_not().
#pragma once

#include "pg/base/pg.h"
#include "pg/lsh/planner/facts/verdict.h"

namespace neardup {

// One condition and one lsh index of the table; or one condition and no index.
struct ConditionNote {
  const char* condition;  // as SQL; of other tables' columns without the parts that are not of this one
  Oid table;              // InvalidOid: rows that are of no table
  // The relation as it is written in the query. The range table of the finished plan has the same pointer, whatever
  // number the relation has there, and of two relations with one alias each its own.
  const Alias* relation;
  Oid index;  // InvalidOid: the table has none
  Verdict verdict;
  double limit;  // of below_threshold and beyond_distance: what the index finds

  // A condition between relations, as the query has it for the topmost parents of partitions; else null.
  const PlannerInfo* root;
  const RestrictInfo* join_clause;
};

// Notes of one planning, in the memory context that is current at the beginning. May be nested.
struct ConditionNotes {
  List* notes;  // of ConditionNote*
  List* joins;  // of joins by similarity
  MemoryContext context;
  // The caller plans its query with these (empty) parameters: they tell it from the queries of functions that the
  // planner calls, whose tables the user may not read.
  ParamListInfo parameters;
  ConditionNotes* outer;
};
void begin_condition_notes(ConditionNotes* notes);
// After the planning, also if that ends in an error. Conditions that a Similarity Join of the plan answers have one
// note left, with that verdict.
void end_condition_notes(ConditionNotes* notes);
bool are_conditions_noted(const PlannerInfo* root);

// Notes the conditions of one relation of a query; for set_rel_pathlist_hook.
void note_conditions(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte);

void note_similarity_join(const PlannerInfo* root, const Bitmapset* outer, const Bitmapset* inner);

}  // namespace neardup
