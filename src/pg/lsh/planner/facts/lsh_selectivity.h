// How many rows and pairs a similarity condition keeps.
#pragma once

#include "core/lsh/lsh_query.h"
#include "pg/base/pg.h"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace neardup {

// Of a predicate's call: the share of rows of one table, or of pairs of two, as clause_selectivity() means it.
double predicate_selectivity(PlannerInfo* root, Measure measure, Oid predicate, List* args, int var_relid,
                             JoinType jointype, const SpecialJoinInfo* sjinfo);

}  // namespace neardup
