// Functions of SQL that the library no longer serves: those of 0.2.0 and before.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Raises the error of a function whose SQL is of neardup 0.2.0 or before.
[[noreturn]] void refuse_old_sql(FunctionCallInfo fcinfo);

// Raises it if the function was declared with fewer arguments than it has since 0.3.0.
inline void demand_arguments(FunctionCallInfo fcinfo, int count) {
  if (PG_NARGS() < count) refuse_old_sql(fcinfo);
}

}  // namespace neardup
