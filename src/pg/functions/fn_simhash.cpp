// SimHash: constructors, the aggregate, measures.
#include <optional>

#include "core/signature/simhash.h"

#include "pg/values/arrays.h"
#include "pg/values/simhash_value.h"

namespace {

using namespace neardup;

Datum simhash_result(FunctionCallInfo fcinfo, const std::optional<uint64_t>& value) {
  if (!value) PG_RETURN_NULL();
  return simhash_datum(*value);
}

// The elements of an array without NULLs.
const Datum* all_elements(ArrayType* array, const char* name, int* n) {
  const Elements e = array_elements(array);
  for (int i = 0; i < e.count; ++i)
    if (e.nulls[i]) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s %d is NULL", name, i + 1)));
  *n = e.count;
  return e.values;
}

SimhashSums* need_sums(FunctionCallInfo fcinfo) {
  MemoryContext context;
  if (!AggCheckCallContext(fcinfo, &context)) elog(ERROR, "simhash_agg called outside an aggregate");
  if (!PG_ARGISNULL(0)) return reinterpret_cast<SimhashSums*>(PG_GETARG_POINTER(0));
  auto* sums = static_cast<SimhashSums*>(MemoryContextAlloc(context, sizeof(SimhashSums)));
  sums->clear();
  return sums;
}

}  // namespace

SQL_FUNCTION(simhash_from_document) {
  return cached_result(
      fcinfo,
      [&]() -> Datum {
        const int64 k = PG_GETARG_INT32(1);
        const Unit unit = unit_arg(fcinfo, 2);
        const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
        std::optional<uint64_t> value;
        call_core([&] {
          PgStop stop;
          value = simhash_document(unit, k, doc.data, doc.size, &stop);
        });
        return simhash_result(fcinfo, value);
      },
      true);
}

SQL_FUNCTION(simhash_from_features) {
  return cached_result(
      fcinfo,
      [&]() -> Datum {
        int features;
        int weights;
        const Datum* feature = all_elements(PG_GETARG_ARRAYTYPE_P(0), "feature", &features);
        const Datum* weight = all_elements(PG_GETARG_ARRAYTYPE_P(1), "weight", &weights);
        if (features != weights)
          ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
                          errmsg("features and weights must have the same length: %d and %d", features, weights)));
        auto* sums = static_cast<SimhashSums*>(palloc(sizeof(SimhashSums)));
        sums->clear();
        for (int i = 0; i < features; ++i) {
          if (i % 4096 == 0) CHECK_FOR_INTERRUPTS();
          const Utf8 u = to_utf8(DatumGetTextPP(feature[i]));
          const double w = DatumGetFloat8(weight[i]);
          call_core([&] { sums->add(simhash_signs(element_hash(u.data, u.size)), w, static_cast<size_t>(i) + 1); });
        }
        return simhash_result(fcinfo, sums->result());
      },
      true);
}

SQL_FUNCTION(simhash_from_vector) {
  return cached_result(
      fcinfo,
      [&]() -> Datum {
        int n;
        const Datum* values = all_elements(PG_GETARG_ARRAYTYPE_P(0), "component", &n);
        auto* vector = static_cast<float*>(palloc(sizeof(float) * Max(n, 1)));
        for (int i = 0; i < n; ++i) vector[i] = DatumGetFloat4(values[i]);
        std::optional<uint64_t> value;
        call_core([&] {
          PgStop stop;
          value = simhash_vector(vector, static_cast<size_t>(n), &stop);
        });
        return simhash_result(fcinfo, value);
      },
      true);
}

// (state, feature [, weight]): rows with a NULL are passed over.
SQL_FUNCTION(simhash_agg_add) {
  SimhashSums* sums = need_sums(fcinfo);
  if (PG_ARGISNULL(1) || (PG_NARGS() > 2 && PG_ARGISNULL(2))) PG_RETURN_POINTER(sums);
  const Utf8 u = to_utf8(PG_GETARG_TEXT_PP(1));
  const double weight = PG_NARGS() > 2 ? PG_GETARG_FLOAT8(2) : 1;
  call_core([&] { sums->add(simhash_signs(element_hash(u.data, u.size)), weight); });
  PG_RETURN_POINTER(sums);
}

SQL_FUNCTION(simhash_agg_combine) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  }
  SimhashSums* sums = need_sums(fcinfo);
  const auto* other = reinterpret_cast<const SimhashSums*>(PG_GETARG_POINTER(1));
  call_core([&] { sums->merge(*other); });
  PG_RETURN_POINTER(sums);
}

SQL_FUNCTION(simhash_agg_serialize) { return varlena_datum(PG_GETARG_POINTER(0), sizeof(SimhashSums)); }

SQL_FUNCTION(simhash_agg_deserialize) {
  if (!AggCheckCallContext(fcinfo, nullptr)) elog(ERROR, "simhash_agg called outside an aggregate");
  const bytea* in = PG_GETARG_BYTEA_PP(0);
  if (VARSIZE_ANY_EXHDR(in) != sizeof(SimhashSums)) elog(ERROR, "simhash_agg: bad partial state");
  void* sums = palloc(sizeof(SimhashSums));
  memcpy(sums, VARDATA_ANY(in), sizeof(SimhashSums));
  PG_RETURN_POINTER(sums);
}

SQL_FUNCTION(simhash_agg_final) {
  if (!AggCheckCallContext(fcinfo, nullptr)) elog(ERROR, "simhash_agg called outside an aggregate");
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const std::optional<uint64_t> value = reinterpret_cast<const SimhashSums*>(PG_GETARG_POINTER(0))->result();
  if (!value) PG_RETURN_NULL();
  return simhash_datum(*value);
}

SQL_FUNCTION(simhash_hamming) { PG_RETURN_INT32(hamming_distance(simhash_arg(fcinfo, 0), simhash_arg(fcinfo, 1))); }

SQL_FUNCTION(simhash_hamming_float) {
  PG_RETURN_FLOAT8(hamming_distance(simhash_arg(fcinfo, 0), simhash_arg(fcinfo, 1)));
}

SQL_FUNCTION(simhash_cosine_estimate) {
  PG_RETURN_FLOAT8(simhash_cosine(hamming_distance(simhash_arg(fcinfo, 0), simhash_arg(fcinfo, 1))));
}
