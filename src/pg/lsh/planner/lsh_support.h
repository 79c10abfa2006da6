// The condition that an lsh index serves for a predicate's call.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace neardup {

// Where a call of a predicate comes from. A call's parse location says so, which equal() ignores and EXPLAIN does not
// show.
enum CallOrigin : int {
  kUsersCall = 0,         // or any other location; its bound must be in range
  kImpliedCall = -19551,  // true wherever a comparison of the query is; any bound is right
  kEqualCall = -19552,    // true where the comparison is, and there only
  kGuardedCall = -19553,  // as kImpliedCall, to be evaluated before row security: by a quiet twin
  kGuardedUsersCall = -19554,
};
// Whether it is a predicate of the query, which raises an error for bounds out of its range.
inline bool is_users_own(int location) {
  return location != kImpliedCall && location != kEqualCall && location != kGuardedCall;
}
inline bool is_guarded(int location) { return location == kGuardedCall || location == kGuardedUsersCall; }

// `key %> query` for predicate(args) where argument `key_argument` is the index's column; null when the index cannot or
// should not be used for it. location: of the call. *exact: it is true where the call is, and there only.
Expr* index_condition(PlannerInfo* root, IndexOptInfo* index, int column, Oid predicate, List* args, int key_argument,
                      int location, bool* exact);

}  // namespace neardup
