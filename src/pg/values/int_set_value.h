// Arrays of int and bigint as sets.
#pragma once

#include "core/exact/int_set.h"
#include "pg/base/pg.h"

extern "C" {
#include "utils/array.h"
}

namespace neardup {

struct IntSet {
  int64_t* elements;  // ascending, without repeats; palloced
  size_t n;
  int null_at;  // the first NULL, counted from 0; -1: none
};

// strict: a NULL element is an error.
IntSet read_int_set(Datum array, bool strict);
inline IntSet int_set_arg(FunctionCallInfo fcinfo, int n, bool strict) {
  return read_int_set(PG_GETARG_DATUM(n), strict);
}

}  // namespace neardup
