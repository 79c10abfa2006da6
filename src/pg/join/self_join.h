// Joins of a table with itself, whose rows are read once.
#pragma once

#include "pg/join/join_condition.h"
#include "pg/join/join_keys.h"

namespace neardup {

// True if both sides read the same rows of one table, and the conditions compare the same values of them. Not in
// statements that lock or change rows, which may evaluate a side again.
bool is_self_join(PlannerInfo* root, const RelOptInfo* outer, const RelOptInfo* inner, const JoinCondition& condition,
                  const JoinKeys& keys);

// True if, in a self-join, a condition is false for each row with itself, as a.id < b.id is. clauses: RestrictInfo,
// those that decide whether rows match.
bool omits_itself(const RelOptInfo* outer, const RelOptInfo* inner, List* clauses);

// The outer side's path with the columns of both sides; null where it returns no others than its own.
Path* path_for_both(PlannerInfo* root, const RelOptInfo* outer, const RelOptInfo* inner, const Path* path);

// A copy of the expression over the other side of a self-join.
Node* over_other_side(const Node* expression, Index from, Index to);

}  // namespace neardup
