// An expression that a user gives as text, and an operator written into one.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace neardup {

// The one expression that the text is, not yet analysed; null when it is several, none, or what only a whole SELECT
// has: clauses behind it, or "*". Errors of syntax are PostgreSQL's.
const ResTarget* parse_one_expression(const char* source);

// OPERATOR(schema.name)
const char* operator_sql(Oid number);

}  // namespace neardup
