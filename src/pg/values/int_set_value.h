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

inline SetView view_of(const IntSet& set) { return view_of(set.elements, set.n); }

// strict: a NULL element is an error.
IntSet int_set_of(Datum array, bool strict);
inline IntSet int_set_arg(FunctionCallInfo fcinfo, int n, bool strict) {
  return int_set_of(PG_GETARG_DATUM(n), strict);
}

}  // namespace neardup
