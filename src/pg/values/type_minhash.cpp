// The type minhash: text and binary forms, type modifier, order and hash, parts.
#include <algorithm>

#include "pg/values/values.h"
#include "pg/values/arrays.h"
#include "pg/base/result_row.h"

// postgres.h hides it under another name in some versions.
extern "C" {
#include "common/hashfn.h"
}

namespace {

using namespace neardup;

// Type modifier: num_perm << 8 | bits, bits 0 when only num_perm was given.
int32 minhash_typmod(int num_perm, int bits) { return num_perm << 8 | bits; }

// Raises an error unless the signature has the shape that the column demands.
void check_typmod(const MinhashView& v, int32 typmod) {
  if (typmod < 0) return;
  const auto [num_perm, bits] = minhash_shape(typmod);
  if (v.num_perm() == num_perm && (bits == 0 || v.bits() == bits)) return;
  ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                  bits == 0 ? errmsg("signature of %u components does not fit minhash(%u)", v.num_perm(), num_perm)
                            : errmsg("signature of %u components of %u bits does not fit minhash(%u,%u)", v.num_perm(),
                                     v.bits(), num_perm, bits),
                  errhint("The type modifier checks and never converts; sign the documents with that num_perm.")));
}

int compare(const struct varlena* a, const struct varlena* b) {
  const size_t na = VARSIZE_ANY_EXHDR(a);
  const size_t nb = VARSIZE_ANY_EXHDR(b);
  const int c = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), std::min(na, nb));
  return c != 0 ? (c < 0 ? -1 : 1) : na < nb ? -1 : na > nb;
}

// Comparison functions must not leak: sorts call them in a long-lived context.
int compare_args(FunctionCallInfo fcinfo) {
  struct varlena* a = PG_GETARG_VARLENA_PP(0);
  struct varlena* b = PG_GETARG_VARLENA_PP(1);
  const int c = compare(a, b);
  PG_FREE_IF_COPY(a, 0);
  PG_FREE_IF_COPY(b, 1);
  return c;
}

// The origin of a signature, in the words of minhash_parameters().
struct Origin {
  const char* source;
  const char* unit;  // null: of no text
};

Origin minhash_origin(MinhashKind kind) {
  switch (kind) {
    case MinhashKind::word:
      return {"text", "word"};
    case MinhashKind::character:
      return {"text", "char"};
    case MinhashKind::byte:
      return {"bytea", "byte"};
    case MinhashKind::text_set:
      return {"text[]", nullptr};
    case MinhashKind::bigint_set:
      return {"bigint[]", nullptr};
    case MinhashKind::imported:
      return {"import", nullptr};
    case MinhashKind::weighted:
      return {"weighted", nullptr};
    case MinhashKind::line:
      return {"text", "line"};
    case MinhashKind::paragraph:
      return {"text", "paragraph"};
    case MinhashKind::code:
      return {"text", "code"};
  }
  return {"import", nullptr};
}

}  // namespace

namespace neardup {

MinhashShape minhash_shape(int32 typmod) {
  if (typmod < 0) return {0, 0};
  return {static_cast<uint32_t>(typmod) >> 8, static_cast<uint32_t>(typmod) & 255};
}

}  // namespace neardup

SQL_FUNCTION(minhash_in) {
  const char* text = PG_GETARG_CSTRING(0);
  const int32 typmod = PG_GETARG_INT32(2);
  const Datum value = datum_from([&] { return minhash_from_text(text); });
  check_typmod(minhash_view(reinterpret_cast<struct varlena*>(DatumGetPointer(value))), typmod);
  return value;
}

SQL_FUNCTION(minhash_out) {
  const MinhashView v = minhash_arg(fcinfo, 0);
  const size_t room = 128 + v.size * 4 / 3;
  PG_RETURN_CSTRING(cstring_from(room, "a signature", [&] { return minhash_to_text(v); }));
}

SQL_FUNCTION(minhash_recv) {
  const int32 typmod = PG_GETARG_INT32(2);
  const Bytes message = message_arg(fcinfo);
  const Datum value = datum_from([&] { return minhash_from_wire(message.data, message.size); });
  check_typmod(minhash_view(reinterpret_cast<struct varlena*>(DatumGetPointer(value))), typmod);
  return value;
}

SQL_FUNCTION(minhash_send) {
  const MinhashView v = minhash_arg(fcinfo, 0);
  return datum_from([&] { return minhash_to_wire(v); });
}

SQL_FUNCTION(minhash_typmod_in) {
  int n = 0;
  const int32* args = ArrayGetIntegerTypmods(PG_GETARG_ARRAYTYPE_P(0), &n);
  if (n < 1 || n > 2)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid type modifier for minhash"),
                    errhint("Write minhash(num_perm) or minhash(num_perm, bits), as minhash(128, 32).")));
  call_core([&] {
    check_num_perm(args[0]);
    if (n == 2) check_bits(args[1]);
  });
  PG_RETURN_INT32(minhash_typmod(args[0], n == 2 ? args[1] : 0));
}

SQL_FUNCTION(minhash_typmod_out) {
  const int32 typmod = PG_GETARG_INT32(0);
  if (typmod < 0) PG_RETURN_CSTRING(pstrdup(""));
  const auto [num_perm, bits] = minhash_shape(typmod);
  PG_RETURN_CSTRING(bits == 0 ? psprintf("(%u)", num_perm) : psprintf("(%u,%u)", num_perm, bits));
}

SQL_FUNCTION(minhash_check_typmod) {
  check_typmod(minhash_arg(fcinfo, 0), PG_GETARG_INT32(1));
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

#define COMPARISON(name, test)          \
  SQL_FUNCTION(name) {                  \
    const int c = compare_args(fcinfo); \
    PG_RETURN_BOOL(test);               \
  }
COMPARISON(minhash_eq, c == 0)
COMPARISON(minhash_ne, c != 0)
COMPARISON(minhash_lt, c < 0)
COMPARISON(minhash_le, c <= 0)
COMPARISON(minhash_gt, c > 0)
COMPARISON(minhash_ge, c >= 0)
#undef COMPARISON

SQL_FUNCTION(minhash_cmp) { PG_RETURN_INT32(compare_args(fcinfo)); }

SQL_FUNCTION(minhash_hash) {
  struct varlena* v = PG_GETARG_VARLENA_PP(0);
  const Datum h = hash_any(reinterpret_cast<unsigned char*>(VARDATA_ANY(v)), static_cast<int>(VARSIZE_ANY_EXHDR(v)));
  PG_FREE_IF_COPY(v, 0);
  return h;
}

SQL_FUNCTION(minhash_hash_extended) {
  struct varlena* v = PG_GETARG_VARLENA_PP(0);
  const Datum h = hash_any_extended(reinterpret_cast<unsigned char*>(VARDATA_ANY(v)),
                                    static_cast<int>(VARSIZE_ANY_EXHDR(v)), PG_GETARG_INT64(1));
  PG_FREE_IF_COPY(v, 0);
  return h;
}

SQL_FUNCTION(minhash_parameters) {
  const MinhashView v = minhash_arg(fcinfo, 0);
  const MinhashParams p = header_params(*v.header);
  const Origin origin = minhash_origin(p.kind);
  enum Column { kFormat, kSource, kUnit, kK, kNumPerm, kBits, kSeed, kTokenizer, kColumns };
  ResultRow<Column> row;
  row.set(kFormat, Int32GetDatum(v.header->format));
  row.set(kSource, CStringGetTextDatum(origin.source));
  if (origin.unit != nullptr) row.set(kUnit, CStringGetTextDatum(origin.unit));
  if (p.k != 0) row.set(kK, Int32GetDatum(p.k));
  row.set(kNumPerm, Int32GetDatum(p.num_perm));
  row.set(kBits, Int32GetDatum(p.bits));
  row.set(kSeed, Int64GetDatum(p.seed));
  if (p.tokenizer != 0) row.set(kTokenizer, Int32GetDatum(p.tokenizer));
  return row.datum(fcinfo);
}

SQL_FUNCTION(minhash_components) {
  const MinhashView v = minhash_arg(fcinfo, 0);
  return array_datum(v.num_perm(), INT8OID, [&](size_t i) {
    return Int64GetDatum(static_cast<int64>(component_at(v, static_cast<uint32_t>(i))));
  });
}
