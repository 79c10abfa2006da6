// Edit distances of whole documents.
#include "core/exact/edit_distance.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

struct Documents {
  Unit unit;
  Bytes a;
  Bytes b;
};

Documents text_args(FunctionCallInfo fcinfo) {
  return {Unit::character, to_utf8(PG_GETARG_TEXT_PP(0)), to_utf8(PG_GETARG_TEXT_PP(1))};
}

Documents bytea_args(FunctionCallInfo fcinfo) { return {Unit::byte, bytes_arg(fcinfo, 0), bytes_arg(fcinfo, 1)}; }

Datum edit_distance_datum(FunctionCallInfo fcinfo, const Documents& d) {
  const int32 most = PG_GETARG_INT32(2);
  if (most < 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_distance must be at least 0: %d", most)));
  std::optional<uint64_t> distance;
  call_core([&] {
    PgStop stop;
    EditOptions options;
    options.stop = &stop;
    distance = edit_distance(d.unit, d.a.data, d.a.size, d.b.data, d.b.size, static_cast<uint64_t>(most), options);
  });
  if (!distance) PG_RETURN_NULL();
  PG_RETURN_INT32(static_cast<int32>(*distance));
}

Datum edit_rate_datum(FunctionCallInfo fcinfo, const Documents& d) {
  const double most = PG_GETARG_FLOAT8(2);
  std::optional<double> rate;
  call_core([&] {
    PgStop stop;
    EditOptions options;
    options.stop = &stop;
    rate = edit_rate(d.unit, d.a.data, d.a.size, d.b.data, d.b.size, most, options);
  });
  if (!rate) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*rate);
}

}  // namespace

SQL_FUNCTION(edit_distance_text) { return edit_distance_datum(fcinfo, text_args(fcinfo)); }

SQL_FUNCTION(edit_distance_bytea) { return edit_distance_datum(fcinfo, bytea_args(fcinfo)); }

SQL_FUNCTION(edit_rate_text) { return edit_rate_datum(fcinfo, text_args(fcinfo)); }

SQL_FUNCTION(edit_rate_bytea) { return edit_rate_datum(fcinfo, bytea_args(fcinfo)); }
