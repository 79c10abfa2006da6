// Bit codes: their Hamming distance, and the conditions on it that an lsh index serves.
#include "core/lsh/lsh_query.h"
#include "pg/values/bit_value.h"
#include "pg/values/lsh_query_value.h"

namespace {

using namespace neardup;

uint32_t distance_of(const BitCode& a, const BitCode& b) {
  demand_comparable(a, b);
  return bit_distance(a, b);
}

uint32_t distance_of_arguments(FunctionCallInfo fcinfo) {
  return distance_of(bit_string_arg(fcinfo, 0), bit_string_arg(fcinfo, 1));
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_bit_hamming);
Datum neardup_bit_hamming(PG_FUNCTION_ARGS) { PG_RETURN_INT32(static_cast<int32>(distance_of_arguments(fcinfo))); }

PG_FUNCTION_INFO_V1(neardup_bit_distance);
Datum neardup_bit_distance(PG_FUNCTION_ARGS) { PG_RETURN_FLOAT8(distance_of_arguments(fcinfo)); }

PG_FUNCTION_INFO_V1(bit_hamming_at_most);
Datum bit_hamming_at_most(PG_FUNCTION_ARGS) {
  const double distance = bound_arg(fcinfo, 2, LshMeasure::bit_hamming);
  PG_RETURN_BOOL(distance_of_arguments(fcinfo) <= distance);
}

// What the planner derives from `bit_hamming(a, b) <= bound`, for any bound; the strict one stands for the named
// predicate. A bit string that is no code has a query, too: the operator raises the error that the condition raises.

PG_FUNCTION_INFO_V1(lsh_bit_query);
Datum lsh_bit_query(PG_FUNCTION_ARGS) {
  return lsh_query_datum(bit_query(bit_string_arg(fcinfo, 0), PG_GETARG_FLOAT8(1)));
}

PG_FUNCTION_INFO_V1(lsh_bit_query_strict);
Datum lsh_bit_query_strict(PG_FUNCTION_ARGS) {
  const double bound = bound_arg(fcinfo, 1, LshMeasure::bit_hamming);
  return lsh_query_datum(bit_query(bit_string_arg(fcinfo, 0), bound));
}

PG_FUNCTION_INFO_V1(bit_within);
Datum bit_within(PG_FUNCTION_ARGS) {
  const LshQueryView query = kept_query(fcinfo);
  if (query.measure != LshMeasure::bit_hamming)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the lsh_query is not one of a bit string")));
  PG_RETURN_BOOL(within(query.measure, distance_of(bit_string_arg(fcinfo, 0), query.code), query.bound));
}

}  // extern "C"
