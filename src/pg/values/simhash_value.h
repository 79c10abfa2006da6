// simhash values as arguments and results: 64 bits by value, as bigint.
#pragma once

#include "core/signature/simhash.h"  // for: what simhash values are compared by
#include "pg/values/values.h"

namespace neardup {

static_assert(FLOAT8PASSBYVAL, "simhash is passed by value: neardup needs a 64-bit server");

inline uint64_t simhash_of_datum(Datum d) { return static_cast<uint64_t>(DatumGetInt64(d)); }
inline Datum simhash_datum(uint64_t v) { return Int64GetDatum(static_cast<int64>(v)); }
inline uint64_t simhash_arg(FunctionCallInfo fcinfo, int n) { return simhash_of_datum(PG_GETARG_DATUM(n)); }

}  // namespace neardup
