// Types of what a job reads from its source: whether their values have an order, and whose they are.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// True if the type, and all that it is made of, is the caller's own or a superuser's: others may have made casts and
// checks that a conversion runs.
bool is_trusted_type(Oid type);

// An error for a type whose values cannot be compared, and for those that check_range() refuses. what: the column or
// argument, for the error.
void check_order(Oid type, const char* what);

// An error for a range type of another role: ANALYZE measures ranges by a function of their type.
void check_range(Oid type, const char* what);

}  // namespace neardup
