// Joins of a table with itself, whose rows are read once.
#pragma once

#include "pg/join/join_condition.h"

namespace neardup {

// Whether both sides read the same rows of one table, and the condition compares the same value of them. Not in
// statements that lock or change rows, which may evaluate a side again.
bool is_self_join(PlannerInfo* root, const RelOptInfo* outer, const RelOptInfo* inner, const JoinCondition& condition);

// The outer side's path with the columns of both sides; null where it returns no others than its own.
Path* path_for_both(PlannerInfo* root, const RelOptInfo* outer, const RelOptInfo* inner, const Path* path);

// A copy of the expression over the other side of a self-join.
Node* over_other_side(const Node* expression, Index from, Index to);

}  // namespace neardup
