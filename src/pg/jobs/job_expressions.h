// Expressions that a job is given as text, over its source: checked, and written so that they mean the same under any
// search_path. Errors name the expression.
#pragma once

#include "pg/jobs/job.h"

namespace neardup {

// The expression, read in the current search_path, with all names in it qualified; null where it is null. An error for
// what is not one expression over the source alone: subqueries, aggregates, window functions and sets are none.
const char* qualified_expression(Oid source, const char* expression);

// Its type: of a domain the type below it, text where it is unknown. An error for volatile functions, too.
Oid expression_type(Oid source, const char* expression);

// Adds the columns that it reads, each as its number - FirstLowInvalidHeapAttributeNumber; 0 for the whole row.
Bitmapset* add_read_columns(Bitmapset* columns, Oid source, const char* expression);

// True if it has the same value for a row at any time.
bool is_immutable(Oid source, const char* expression);

// Qualifies the expressions of a job that 0.2.0 made, and the profile's name of one that 0.1.0 made, in the current
// search_path.
void qualify_expressions(JobRow* row);

}  // namespace neardup
