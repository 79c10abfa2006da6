// The type ctph: text and binary forms, order and hash; constructors and measures.
#include <algorithm>

#include "core/ctph.h"
#include "core/ctph_compare.h"
#include "pg/values.h"

extern "C" {
#include "common/hashfn.h"
}

namespace {

using namespace neardup;

CtphView ctph_view(const struct varlena* value) {
  CtphView v;
  call_core([&] { v = view_ctph(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)); });
  return v;
}
CtphView ctph_arg(FunctionCallInfo fcinfo, int n) { return ctph_view(PG_GETARG_VARLENA_PP(n)); }

std::vector<uint8_t> stored(const CtphDigest& digest) {
  std::vector<uint8_t> bytes(ctph_size(view_of(digest)));
  write_ctph(view_of(digest), bytes.data());
  return bytes;
}

// is_long: of at most `length` characters; else ssdeep's.
Datum digest_of(const uint8_t* bytes, size_t size, bool is_long, int64 length) {
  return datum_from([&] {
    PgStop stop;
    return stored(is_long ? ctph_long(bytes, size, length, &stop) : ctph(bytes, size, &stop));
  });
}

int compare_args(FunctionCallInfo fcinfo) {
  struct varlena* a = PG_GETARG_VARLENA_PP(0);
  struct varlena* b = PG_GETARG_VARLENA_PP(1);
  const size_t na = VARSIZE_ANY_EXHDR(a);
  const size_t nb = VARSIZE_ANY_EXHDR(b);
  const int c = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), std::min(na, nb));
  PG_FREE_IF_COPY(a, 0);
  PG_FREE_IF_COPY(b, 1);
  return c != 0 ? (c < 0 ? -1 : 1) : na < nb ? -1 : na > nb;
}

int score_of(FunctionCallInfo fcinfo) {
  const CtphView a = ctph_arg(fcinfo, 0);
  const CtphView b = ctph_arg(fcinfo, 1);
  int score = 0;
  call_core([&] { score = ctph_score(a, b); });
  return score;
}

double rate_of(FunctionCallInfo fcinfo) {
  const CtphView a = ctph_arg(fcinfo, 0);
  const CtphView b = ctph_arg(fcinfo, 1);
  double rate = 1;
  call_core([&] { rate = ctph_edit_rate(a, b); });
  return rate;
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(ctph_in);
Datum ctph_in(PG_FUNCTION_ARGS) {
  const char* text = PG_GETARG_CSTRING(0);
  return datum_from([&] { return stored(ctph_from_text(text)); });
}

PG_FUNCTION_INFO_V1(ctph_out);
Datum ctph_out(PG_FUNCTION_ARGS) {
  const CtphView v = ctph_arg(fcinfo, 0);
  const size_t room = v.part1.size() + v.part2.size() + 64;
  char* out = static_cast<char*>(palloc(room));
  call_core([&] {
    const std::string text = ctph_to_text(v);
    if (text.size() >= room) throw Error(Errc::too_large, "text form of a digest too long");
    std::copy(text.c_str(), text.c_str() + text.size() + 1, out);
  });
  PG_RETURN_CSTRING(out);
}

PG_FUNCTION_INFO_V1(ctph_recv);
Datum ctph_recv(PG_FUNCTION_ARGS) {
  StringInfo buffer = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int size = buffer->len - buffer->cursor;
  const auto* bytes = reinterpret_cast<const uint8_t*>(pq_getmsgbytes(buffer, size));
  return datum_from([&] {
    view_ctph(bytes, static_cast<size_t>(size));
    return std::vector<uint8_t>(bytes, bytes + size);
  });
}

PG_FUNCTION_INFO_V1(ctph_send);
Datum ctph_send(PG_FUNCTION_ARGS) {
  const struct varlena* value = PG_GETARG_VARLENA_PP(0);
  ctph_view(value);
  bytea* out = static_cast<bytea*>(palloc(VARHDRSZ + VARSIZE_ANY_EXHDR(value)));
  SET_VARSIZE(out, VARHDRSZ + VARSIZE_ANY_EXHDR(value));
  memcpy(VARDATA(out), VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
  PG_RETURN_BYTEA_P(out);
}

#define COMPARISON(name, test)               \
  PG_FUNCTION_INFO_V1(name);                 \
  Datum name(PG_FUNCTION_ARGS) {             \
    const int c = compare_args(fcinfo);      \
    PG_RETURN_BOOL(test);                    \
  }
COMPARISON(ctph_eq, c == 0)
COMPARISON(ctph_ne, c != 0)
COMPARISON(ctph_lt, c < 0)
COMPARISON(ctph_le, c <= 0)
COMPARISON(ctph_gt, c > 0)
COMPARISON(ctph_ge, c >= 0)
#undef COMPARISON

PG_FUNCTION_INFO_V1(ctph_cmp);
Datum ctph_cmp(PG_FUNCTION_ARGS) { PG_RETURN_INT32(compare_args(fcinfo)); }

PG_FUNCTION_INFO_V1(ctph_hash);
Datum ctph_hash(PG_FUNCTION_ARGS) {
  struct varlena* v = PG_GETARG_VARLENA_PP(0);
  const Datum h =
      hash_any(reinterpret_cast<unsigned char*>(VARDATA_ANY(v)), static_cast<int>(VARSIZE_ANY_EXHDR(v)));
  PG_FREE_IF_COPY(v, 0);
  return h;
}

PG_FUNCTION_INFO_V1(ctph_hash_extended);
Datum ctph_hash_extended(PG_FUNCTION_ARGS) {
  struct varlena* v = PG_GETARG_VARLENA_PP(0);
  const Datum h = hash_any_extended(reinterpret_cast<unsigned char*>(VARDATA_ANY(v)),
                                    static_cast<int>(VARSIZE_ANY_EXHDR(v)), PG_GETARG_INT64(1));
  PG_FREE_IF_COPY(v, 0);
  return h;
}

PG_FUNCTION_INFO_V1(ctph_from_document);
Datum ctph_from_document(PG_FUNCTION_ARGS) {
  bool found;
  const Datum cached = cached_result(fcinfo, &found);
  if (found) return cached;
  const Utf8 doc = utf8_of(PG_GETARG_TEXT_PP(0));
  const Datum result = digest_of(doc.data, doc.size, PG_NARGS() > 1, PG_NARGS() > 1 ? PG_GETARG_INT32(1) : 0);
  cache_result(fcinfo, result);
  return result;
}

PG_FUNCTION_INFO_V1(ctph_from_bytes);
Datum ctph_from_bytes(PG_FUNCTION_ARGS) {
  bool found;
  const Datum cached = cached_result(fcinfo, &found);
  if (found) return cached;
  const bytea* doc = PG_GETARG_BYTEA_PP(0);
  const Datum result = digest_of(reinterpret_cast<const uint8_t*>(VARDATA_ANY(doc)), VARSIZE_ANY_EXHDR(doc),
                                 PG_NARGS() > 1, PG_NARGS() > 1 ? PG_GETARG_INT32(1) : 0);
  cache_result(fcinfo, result);
  return result;
}

PG_FUNCTION_INFO_V1(ctph_score_of);
Datum ctph_score_of(PG_FUNCTION_ARGS) { PG_RETURN_INT32(score_of(fcinfo)); }

PG_FUNCTION_INFO_V1(ctph_edit_rate_of);
Datum ctph_edit_rate_of(PG_FUNCTION_ARGS) { PG_RETURN_FLOAT8(rate_of(fcinfo)); }

PG_FUNCTION_INFO_V1(ctph_score_at_least);
Datum ctph_score_at_least(PG_FUNCTION_ARGS) {
  const double least = PG_GETARG_FLOAT8(2);
  if (!(least >= 0 && least <= 100))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("score must be from 0 to 100: %g", least)));
  PG_RETURN_BOOL(score_of(fcinfo) >= least);
}

PG_FUNCTION_INFO_V1(ctph_edit_rate_at_most);
Datum ctph_edit_rate_at_most(PG_FUNCTION_ARGS) {
  const double most = PG_GETARG_FLOAT8(2);
  if (!(most >= 0 && most <= 1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("rate must be from 0 to 1: %g", most)));
  PG_RETURN_BOOL(rate_of(fcinfo) <= most);
}

}  // extern "C"
