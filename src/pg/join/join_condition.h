// The similarity condition of a join.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace neardup {

// What the engine compares. Of a ctph digest the edit rate; a score has no engine.
enum class JoinMeasure : int { jaccard, hamming, edit_rate };

// measure(outer, inner) is at least, or of distances at most, bound wherever the condition is true.
struct JoinCondition {
  JoinMeasure measure;
  Node* outer;  // of columns of the outer side only
  Node* inner;
  Node* bound;           // float8, the same for all rows; null: neardup.jaccard_threshold
  RestrictInfo* origin;  // the query's own
};

// False where the clause is no such condition between the two sides.
bool find_join_condition(PlannerInfo* root, Relids outer, Relids inner, RestrictInfo* clause, JoinCondition* out);

}  // namespace neardup
