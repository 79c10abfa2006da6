// Index paths in the order of distance, without a condition on the value.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// True if rows come in the order of their distance, also those that are not in the index.
bool is_nearest(const IndexPath* path);

// Paths of several orders keep the first: an incremental sort adds the others. The executor compares no further
// distance of two rows whose first one is NULL, so it would not order them.
void order_by_first(RelOptInfo* rel);

// Adds the paths of a relation's lsh indexes whose order is the query's, without any condition. PostgreSQL makes only
// those that have a condition on the first column.
void add_nearest_paths(PlannerInfo* root, RelOptInfo* rel);

}  // namespace neardup
