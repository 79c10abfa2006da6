// Conditions for indexes, derived from those of a query.
#pragma once

#include "pg/lsh/planner/facts/plan_measures.h"

namespace neardup {

struct Derivation {
  const PlanMeasures* measures;
  List* originals;  // RestrictInfo, at the place of the one that was derived from it in:
  List* derived;
  List* calls;            // FuncExpr: the derived calls of predicates
  List* guarded;          // members of derived that are evaluated before row security
  const RelOptInfo* rel;  // whose boolean columns and guarded clauses are looked for; null: of none
  bool matched;           // a clause other than a call was derived, which an index of the relation matches
};

// node: a RestrictInfo, or AND or OR of such as RestrictInfo.orclause has them. The same pointer when nothing was
// derived.
Node* derive(Derivation* d, Node* node);

// The list with its members derived; the same list when none was.
List* derive_list(Derivation* d, List* list);

// A predicate's call that is true wherever the clause is, in which the clause and its arguments are not to be changed;
// null for clauses that are no comparison of a measure with a bound, and no predicate.
FuncExpr* implied_call(const PlanMeasures* measures, Node* clause);

// True if the clause compares a measure with a bound, near or far.
bool compares_measure(const PlanMeasures* measures, Node* clause);

}  // namespace neardup
