// The condition that an lsh index serves for a predicate's call.
#pragma once

#include "pg/base/pg.h"

#include "pg/lsh/planner/facts/verdict.h"

namespace neardup {

struct KnownColumns;
struct KnownQuery;
struct ProbeEstimate;

// Where a call of a predicate comes from. A call's parse location says so, which equal() ignores and EXPLAIN does not
// show.
enum CallOrigin : int {
  kUsersCall = 0,         // or any other location; its bound must be in range
  kImpliedCall = -19551,  // true wherever a comparison of the query is; any bound is right
  kEqualCall = -19552,    // true where the comparison is, and there only
  kGuardedCall = -19553,  // as kImpliedCall, to be evaluated before row security: by a quiet twin
  kGuardedUsersCall = -19554,
};
// True for a predicate of the query, which raises an error for bounds out of its range.
inline bool is_users_own(int location) {
  return location != kImpliedCall && location != kEqualCall && location != kGuardedCall;
}
inline bool is_guarded(int location) { return location == kGuardedCall || location == kGuardedUsersCall; }

// `key %> query` for the call of a predicate whose argument `key_argument` is the index's column.
struct IndexCondition {
  Expr* condition;  // null when the index cannot or should not be used for it; then
  Verdict verdict;  // says why
  bool exact;       // the condition is true where the call is, and there only
};
IndexCondition index_condition(PlannerInfo* root, IndexOptInfo* index, int column, const FuncExpr* call,
                               int key_argument);
// The same for either argument that is the index's column: a condition, if there is one.
IndexCondition index_condition(PlannerInfo* root, IndexOptInfo* index, const FuncExpr* call);

// The verdict for `key op query` by an operator of the index. *counted, columns: as of index_verdict().
Verdict operator_verdict(PlannerInfo* root, const IndexOptInfo* index, Oid op, Node* query, KnownQuery* known,
                         const ProbeEstimate** counted = nullptr, const KnownColumns* columns = nullptr);
// The verdict for a clause: sig % q, sig %> q, q && q. guarded: row security comes before it.
Verdict clause_verdict(PlannerInfo* root, IndexOptInfo* index, OpExpr* clause, bool guarded);

}  // namespace neardup
