// The similarity condition of a join.
#pragma once

#include "core/lsh/lsh_query.h"
#include "pg/base/pg.h"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace neardup {

// Where the bound of a condition comes from: neardup.jaccard_threshold, a comparison, or the third argument of a named
// predicate, which raises an error for a bound out of its range.
enum class JoinBound : int { setting, comparison, argument };

// measure(outer, inner) is at least, or of distances at most, bound wherever the condition is true.
struct JoinCondition {
  // jaccard, hamming, ctph_edit_rate, bit_hamming, or one of sets, for which the outer value is the set and the inner
  // one the query: the others have no engine
  Measure measure;
  Node* outer;  // of columns of the outer side only
  Node* inner;
  JoinBound bound_from;
  Node* bound;           // float8, the same for all rows; null: of JoinBound::setting
  RestrictInfo* origin;  // the query's own
};

// False where the clause is no such condition between the two sides.
bool find_join_condition(PlannerInfo* root, Relids outer, Relids inner, RestrictInfo* clause, JoinCondition* out);

}  // namespace neardup
