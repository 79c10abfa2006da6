#include "pg/values/arrays.h"

namespace neardup {
namespace {

struct ElementLayout {
  int16 length;
  bool by_value;
  char align;
};

// Without a look into the catalog for the types that most calls have.
ElementLayout element_layout(Oid type) {
  switch (type) {
    case TEXTOID:
      return {-1, false, TYPALIGN_INT};
    case INT4OID:
      return {sizeof(int32), true, TYPALIGN_INT};
    case INT8OID:
      return {sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE};
    case FLOAT8OID:
      return {sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE};
    default:
      break;
  }
  ElementLayout layout;
  get_typlenbyvalalign(type, &layout.length, &layout.by_value, &layout.align);
  return layout;
}

}  // namespace

Elements array_elements(ArrayType* array) {
  const Oid type = ARR_ELEMTYPE(array);
  const ElementLayout layout = element_layout(type);
  Elements out;
  deconstruct_array(array, type, layout.length, layout.by_value, layout.align, &out.values, &out.nulls, &out.count);
  return out;
}

const char** strings_of_names(const Elements& names) {
  auto** strings = static_cast<const char**>(palloc(sizeof(char*) * static_cast<size_t>(Max(names.count, 1))));
  for (int i = 0; i < names.count; ++i) strings[i] = pstrdup(NameStr(*DatumGetName(names.values[i])));
  return strings;
}

Datum array_datum(Datum* elements, size_t n, Oid type) {
  const ElementLayout layout = element_layout(type);
  return PointerGetDatum(
      construct_array(elements, static_cast<int>(n), type, layout.length, layout.by_value, layout.align));
}

Datum bigint_array_datum(const int64_t* elements, size_t n) {
  if (n == 0) return PointerGetDatum(construct_empty_array(INT8OID));
  constexpr Size kArrayHeader = ARR_OVERHEAD_NONULLS(1);
  if (n > (MaxAllocSize - kArrayHeader) / sizeof(int64_t))
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("an array of %zu bigints exceeds the limit of 1 GB of a value", n)));
  const Size size = kArrayHeader + n * sizeof(int64_t);
  auto* array = static_cast<ArrayType*>(palloc0(size));
  SET_VARSIZE(array, size);
  array->ndim = 1;
  array->elemtype = INT8OID;
  ARR_DIMS(array)[0] = static_cast<int>(n);
  ARR_LBOUND(array)[0] = 1;
  memcpy(ARR_DATA_PTR(array), elements, n * sizeof(int64_t));
  return PointerGetDatum(array);
}

}  // namespace neardup
