// The type lsh_query, its makers and operators, and jaccard_at_least(): what an lsh index is asked.
#include "pg/lsh/lsh_query.h"

namespace neardup {

LshQueryView lsh_query_view(struct varlena* value) {
  const char* data = VARDATA_ANY(value);
  const size_t size = VARSIZE_ANY_EXHDR(value);
  if (VARATT_IS_SHORT(value)) {
    // Short headers leave the fields unaligned.
    void* copy = palloc(size);
    memcpy(copy, data, size);
    data = static_cast<const char*>(copy);
  }
  LshQueryView v{};
  call_core([&] { v = view_lsh_query(data, size); });
  return v;
}

Datum lsh_query_datum(double bound, const MinhashView& signature) {
  const size_t size = VARHDRSZ + lsh_query_size(signature);
  auto* value = static_cast<struct varlena*>(palloc(size));
  SET_VARSIZE(value, size);
  write_lsh_query(bound, signature, VARDATA(value));
  return PointerGetDatum(value);
}

namespace {

LshQueryView query_arg(FunctionCallInfo fcinfo, int n) { return lsh_query_view(PG_GETARG_VARLENA_P(n)); }

// As jaccard(a, b) in SQL.
double checked_jaccard(const MinhashView& a, const MinhashView& b) {
  demand_comparable(a, b);
  return jaccard_of(a, b);
}

// Leakproof: a threshold from a column may be another's, so only the caller's own constant is named.
double threshold_arg(FunctionCallInfo fcinfo, int n) {
  const double threshold = PG_GETARG_FLOAT8(n);
  if (!(threshold > 0 && threshold <= 1)) {
    if (get_fn_expr_arg_stable(fcinfo->flinfo, n)) check_threshold(threshold);
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("threshold must be above 0 and at most 1")));
  }
  return threshold;
}

}  // namespace
}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(lsh_query_in);
Datum lsh_query_in(PG_FUNCTION_ARGS) {
  const char* text = PG_GETARG_CSTRING(0);
  return datum_from([&] { return lsh_query_from_text(text); });
}

PG_FUNCTION_INFO_V1(lsh_query_out);
Datum lsh_query_out(PG_FUNCTION_ARGS) {
  const LshQueryView v = query_arg(fcinfo, 0);
  const size_t size = 192 + v.signature.size * 4 / 3;
  char* out = static_cast<char*>(palloc(size));
  call_core([&] {
    const std::string text = lsh_query_to_text(v);
    if (text.size() >= size) throw Error(Errc::too_large, "text form of an lsh_query too long");
    memcpy(out, text.c_str(), text.size() + 1);
  });
  PG_RETURN_CSTRING(out);
}

PG_FUNCTION_INFO_V1(lsh_query_recv);
Datum lsh_query_recv(PG_FUNCTION_ARGS) {
  StringInfo buffer = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int size = buffer->len - buffer->cursor;
  const auto* bytes = reinterpret_cast<const uint8_t*>(pq_getmsgbytes(buffer, size));
  return datum_from([&] { return lsh_query_from_wire(bytes, static_cast<size_t>(size)); });
}

PG_FUNCTION_INFO_V1(lsh_query_send);
Datum lsh_query_send(PG_FUNCTION_ARGS) {
  const LshQueryView v = query_arg(fcinfo, 0);
  return datum_from([&] { return lsh_query_to_wire(v); });
}

PG_FUNCTION_INFO_V1(lsh_with_threshold);
Datum lsh_with_threshold(PG_FUNCTION_ARGS) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  return lsh_query_datum(threshold_arg(fcinfo, 1), signature);
}

// What the planner derives from `jaccard(a, b) >= bound`: the comparison takes any bound, so this does.
PG_FUNCTION_INFO_V1(lsh_query_bound);
Datum lsh_query_bound(PG_FUNCTION_ARGS) { return lsh_query_datum(PG_GETARG_FLOAT8(1), minhash_arg(fcinfo, 0)); }

// A jaccard is a number, and PostgreSQL's float8 order puts NaN above all numbers: C's >= agrees.
PG_FUNCTION_INFO_V1(minhash_at_least);
Datum minhash_at_least(PG_FUNCTION_ARGS) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  const LshQueryView query = query_arg(fcinfo, 1);
  PG_RETURN_BOOL(checked_jaccard(signature, query.signature) >= query.bound);
}

PG_FUNCTION_INFO_V1(lsh_query_conflicts);
Datum lsh_query_conflicts(PG_FUNCTION_ARGS) {
  const LshQueryView a = query_arg(fcinfo, 0);
  const LshQueryView b = query_arg(fcinfo, 1);
  const double j = checked_jaccard(a.signature, b.signature);
  PG_RETURN_BOOL(j >= a.bound && j >= b.bound);
}

PG_FUNCTION_INFO_V1(jaccard_at_least);
Datum jaccard_at_least(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  const double threshold = threshold_arg(fcinfo, 2);
  PG_RETURN_BOOL(checked_jaccard(a, b) >= threshold);
}

}  // extern "C"
