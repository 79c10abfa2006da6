// Expressions that may be evaluated before row security, and rows that the planner may count.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// True if row security, or a view that is a security barrier, comes before the query's own conditions on the table.
bool hides_rows(const PlannerInfo* root, const RelOptInfo* rel);

// True if the planner may count the rows that an index has for a value. It may not where rows are hidden, of which
// EXPLAIN would tell, nor where the query will end in an error, since its user lacks a privilege: PostgreSQL checks
// them after planning, and shows the plan before (debug_print_plan).
bool may_count_rows(PlannerInfo* root, const RelOptInfo* rel);

// Orders by quiet twins in the index paths of a relation that hides rows: the executor evaluates the order of rows
// before row security. A path that cannot is one without an order.
void guard_orders(const PlannerInfo* root, RelOptInfo* rel);

// A copy of the operator's call with the quiet twin that the operator family has; null where it has none.
Expr* quiet_call(Oid family, Node* clause);

// True if evaluating the expressions tells nothing of the values that they are given: they are leakproof, or make an
// lsh_query whose bound is a constant in its range.
bool reveals_nothing(Node* node);

}  // namespace neardup
