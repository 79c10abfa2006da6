#include <algorithm>
#include <vector>

#include "core/base/sort_unique.h"
#include "core/exact/int_set.h"
#include "pg/base/boundary.h"
#include "pg/values/int_set_value.h"

#include "pg/values/values.h"

namespace neardup {
namespace {

constexpr size_t kQuicklySorted = 100000;  // takes some milliseconds

}  // namespace

IntSet read_int_set(Datum datum, bool strict) {
  ArrayType* array = DatumGetArrayTypeP(datum);
  const Oid type = ARR_ELEMTYPE(array);
  if (type != INT2OID && type != INT4OID && type != INT8OID) elog(ERROR, "not an array of integers");
  const int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
  IntSet set{
      static_cast<int64_t*>(palloc_extended(sizeof(int64_t) * static_cast<Size>(Max(count, 1)), MCXT_ALLOC_HUGE)), 0,
      -1};
  const uint8* present = ARR_NULLBITMAP(array);
  const char* data = ARR_DATA_PTR(array);
  for (int i = 0; i < count; ++i) {
    if (present != nullptr && (present[i / 8] & (1 << (i % 8))) == 0) {
      if (strict) refuse_null_element(i, "the set", "elements");
      if (set.null_at < 0) set.null_at = i;
      continue;
    }
    if (type == INT2OID) {
      int16 v;
      memcpy(&v, data, sizeof v);
      data += sizeof v;
      set.elements[set.n++] = v;
    } else if (type == INT4OID) {
      int32 v;
      memcpy(&v, data, sizeof v);
      data += sizeof v;
      set.elements[set.n++] = v;
    } else {
      int64_t v;
      memcpy(&v, data, sizeof v);
      data += sizeof v;
      set.elements[set.n++] = v;
    }
  }
  if (set.n <= kQuicklySorted || std::is_sorted(set.elements, set.elements + set.n)) {
    set.n = make_set(set.elements, set.n);
    return set;
  }
  call_core([&] {
    PgStop stop;
    std::vector<int64_t> sorted(set.elements, set.elements + set.n);
    sort_unique(&sorted, &stop);
    std::copy(sorted.begin(), sorted.end(), set.elements);
    set.n = sorted.size();
  });
  return set;
}

}  // namespace neardup
