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
// The same, of the elements that value(i) returns.
template <typename Value>
Datum array_datum(size_t n, Oid type, Value value) {
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * (n + 1)));
  for (size_t i = 0; i < n; ++i) elements[i] = value(i);
  return array_datum(elements, n, type);
}
Datum bigint_array_datum(const int64_t* elements, size_t n);

}  // namespace neardup
