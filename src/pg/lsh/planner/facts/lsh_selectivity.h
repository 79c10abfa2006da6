// The share of rows and pairs that a similarity condition keeps.
#pragma once

#include "core/lsh/lsh_query.h"
#include "pg/base/pg.h"

namespace neardup {

// The share of rows of one table, or of pairs of two, that a predicate's call keeps, as clause_selectivity() means it.
double predicate_selectivity(PlannerInfo* root, Measure measure, Oid predicate, List* args, int var_relid,
                             JoinType jointype, const SpecialJoinInfo* sjinfo);

}  // namespace neardup
