// Row security: what may be evaluated before it. And whether the planner may count rows at all.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace neardup {

// Whether row security, or a view that is a security barrier, comes before the query's own conditions on the table.
bool hides_rows(const PlannerInfo* root, const RelOptInfo* rel);

// Whether the planner may count how many rows an index has for a value. Not where rows are hidden, of which EXPLAIN
// would tell; nor where the query is to end in an error, since its user lacks a privilege: PostgreSQL checks them after
// planning, and shows the plan to who asks for it (debug_print_plan) before.
bool may_count_rows(PlannerInfo* root, const RelOptInfo* rel);

// Orders by quiet twins in the index paths of a relation that hides rows: the executor evaluates the order of rows
// before row security. A path that cannot is one without an order.
void guard_orders(const PlannerInfo* root, RelOptInfo* rel);

// A copy of the operator's call with the quiet twin that the operator family has; null where it has none.
Expr* quiet_call(Oid family, Node* clause);

// Whether evaluating the expressions tells nothing of the values that they are given, as PostgreSQL means it; calls of
// makers of lsh_querys whose bound is a constant in its range are, too.
bool reveals_nothing(Node* node);

}  // namespace neardup
