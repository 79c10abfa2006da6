// The tables that hold the rows of a source. They tell of changes that no trigger reports: TRUNCATE, partitions that
// come and go, a table that is written anew.
#pragma once

#include "pg/jobs/job.h"

namespace neardup {

// "oid file trigger" of each table that has rows of the source, text[], all locked until the transaction ends; 0 where
// a change may come by without being reported: then the next refresh compares all rows again.
Datum source_leaves(const Job& job);

}  // namespace neardup
