// Bit codes: their Hamming distance.
#include "pg/values/bit_value.h"

namespace {

using namespace neardup;

uint32_t distance_of_arguments(FunctionCallInfo fcinfo) {
  const BitCode a = bit_string_arg(fcinfo, 0);
  const BitCode b = bit_string_arg(fcinfo, 1);
  demand_comparable(a, b);
  return bit_distance(a, b);
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_bit_hamming);
Datum neardup_bit_hamming(PG_FUNCTION_ARGS) { PG_RETURN_INT32(static_cast<int32>(distance_of_arguments(fcinfo))); }

PG_FUNCTION_INFO_V1(neardup_bit_distance);
Datum neardup_bit_distance(PG_FUNCTION_ARGS) { PG_RETURN_FLOAT8(distance_of_arguments(fcinfo)); }

}  // extern "C"
