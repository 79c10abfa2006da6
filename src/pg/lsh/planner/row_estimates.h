// The rows that the conditions of a query leave, for PostgreSQL's own estimates.
#pragma once

#include "pg/lsh/planner/facts/plan_measures.h"

namespace neardup {

inline bool is_base(const RelOptInfo* rel) {
  return rel->reloptkind == RELOPT_BASEREL || rel->reloptkind == RELOPT_OTHER_MEMBER_REL;
}

// For all relations of the query level, once, at the first call of the hook: before that no path was made that joins or
// appends.
void estimate_rows(PlannerInfo* root, const PlanMeasures* measures);

}  // namespace neardup
