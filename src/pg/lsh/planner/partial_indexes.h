// Partial indexes: the owner of a table has written their predicates, which a reader's query may not evaluate.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// To be called when all paths of the relation are made. PostgreSQL may check the rows of a bitmap by the predicate of
// the index, which can call any function of the table's owner, and leave out conditions of the query that the predicate
// implies. Afterwards the paths keep the query's own conditions instead, where the predicate would be evaluated, or
// where rows beside it come out of the scan. (Some minor releases keep them in plain scans already, since amoptionalkey
// is false.)
void avoid_predicates(RelOptInfo* rel);

}  // namespace neardup
