// Minutiae of fingerprints: cells of a grid, and the buckets that an index of minutiae_ops puts sets of them into.
#include "core/base/message_text.h"
#include "core/lsh/int_set_keys.h"
#include "pg/base/boundary.h"
#include "pg/values/arrays.h"
#include "pg/values/int_set_value.h"

extern "C" {
#include "utils/geo_decls.h"
}

namespace {

using namespace neardup;

void demand_range(const char* name, int value, uint32_t least, uint32_t most) {
  if (value < static_cast<int>(least) || value > static_cast<int>(most))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s must be between %u and %u: %d", name, least, most, value)));
}

Datum int_array(const int32* values, size_t n) {
  return array_datum(n, INT4OID, [&](size_t i) { return Int32GetDatum(values[i]); });
}

}  // namespace

SQL_FUNCTION(minutiae_cells) {
  const int grid = PG_GETARG_INT32(1);
  const double margin = PG_GETARG_FLOAT8(2);
  demand_range("grid", grid, kLeastGrid, kMaxGrid);
  if (!(margin >= 0 && margin <= 0.5))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("margin must be between 0 and 0.5: %s", shown(margin).text)));
  const auto [values, nulls, n] = array_elements(PG_GETARG_ARRAYTYPE_P(0));
  auto* points = static_cast<GridPoint*>(palloc(sizeof(GridPoint) * static_cast<Size>(Max(n, 1))));
  for (int i = 0; i < n; ++i) {
    if (nulls[i])
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("point %d is NULL", i + 1),
                      errhint("Use array_remove(points, NULL).")));
    const ::Point* p = DatumGetPointP(values[i]);
    if (!(p->x >= 0 && p->x <= 1 && p->y >= 0 && p->y <= 1))
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
               errmsg("point %d lies outside the unit square: (%s,%s)", i + 1, shown(p->x).text, shown(p->y).text),
               errhint("Scale coordinates to 0..1 first.")));
    points[i] = {p->x, p->y};
  }
  int32* cells = static_cast<int32*>(palloc_extended(sizeof(int32) * (static_cast<Size>(n) * 4 + 1), MCXT_ALLOC_HUGE));
  size_t ncells = 0;
  const auto count = static_cast<size_t>(n);
  call_core([&] {
    for (const int64_t cell : point_cells(points, count, static_cast<uint32_t>(grid), margin))
      cells[ncells++] = static_cast<int32>(cell);
  });
  PG_RETURN_DATUM(int_array(cells, ncells));
}

SQL_FUNCTION(neardup_minutiae_buckets) {
  demand_range("functions", PG_GETARG_INT32(1), kLeastFunctions, kMaxFunctions);
  demand_range("cells", PG_GETARG_INT32(2), 1, kMaxFunctionCells);
  demand_range("grid", PG_GETARG_INT32(3), kLeastGrid, kMaxGrid);
  const MinutiaeRules rules{static_cast<uint32_t>(PG_GETARG_INT32(1)), static_cast<uint32_t>(PG_GETARG_INT32(2)),
                            static_cast<uint32_t>(PG_GETARG_INT32(3))};
  const IntSet set = int_set_arg(fcinfo, 0, true);
  int32* buckets = static_cast<int32*>(palloc(sizeof(int32) * rules.functions));
  size_t n = 0;
  call_core([&] {
    for (const uint32_t f : minutiae_buckets(rules, set.elements, set.n)) buckets[n++] = static_cast<int32>(f);
  });
  PG_RETURN_DATUM(int_array(buckets, n));
}
