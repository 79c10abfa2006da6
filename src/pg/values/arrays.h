// Arrays as arguments and results.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "utils/array.h"
}

namespace neardup {

struct Elements {
  Datum* values;
  bool* nulls;
  int count;
};

// All elements of an array of any type; palloced.
Elements array_elements(ArrayType* array);

// The strings of names, none of which is NULL; palloced.
const char** strings_of_names(const Elements& names);

// An array of one dimension, none of whose elements is NULL.
Datum array_datum(Datum* elements, size_t n, Oid type);
Datum bigint_array_datum(const int64_t* elements, size_t n);

}  // namespace neardup
