// Constructors: documents and sets to minhash values.
#include <vector>

#include "core/signature/sign.h"
#include "pg/values/arrays.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// Room for the components of any signature, on the stack of the C frame.
using Components = uint32_t[kMaxNumPerm];

Datum signed_document(const MinhashParams& params, const uint8_t* text, size_t size) {
  Components components;
  bool any = false;
  call_core([&] {
    PgStop stop;
    any = sign_document(params, text, size, &stop, components);
  });
  return minhash_datum(params, any ? components : nullptr);
}

// A set can lose a NULL; among components the others would move to wrong places.
void refuse_null_component(int i) {
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("component %d is NULL", i + 1),
                  errhint("Components are compared place by place: all have to be there, in their order.")));
}

// The elements of a text[] or bigint[]: hashes for text, values for bigint. Palloc'd.
uint64_t* element_hashes(ArrayType* array, Oid type, size_t* n, bool are_components = false) {
  const bool is_text = type == TEXTOID;
  const auto [values, nulls, count] = array_elements(array);
  auto* hashes = static_cast<uint64_t*>(palloc_extended(sizeof(uint64_t) * (count + 1), MCXT_ALLOC_HUGE));
  for (int i = 0; i < count; ++i) {
    if (nulls[i] && are_components) refuse_null_component(i);
    if (nulls[i]) refuse_null_element(i, "the set", "elements");
    if (is_text) {
      const Utf8 u = to_utf8(DatumGetTextPP(values[i]));
      hashes[i] = element_hash(u.data, u.size);
    } else {
      hashes[i] = static_cast<uint64_t>(DatumGetInt64(values[i]));
    }
  }
  *n = static_cast<size_t>(count);
  return hashes;
}

Datum signed_array(FunctionCallInfo fcinfo, MinhashKind kind, Oid type) {
  bool found;
  const Datum cached = cached_result(fcinfo, &found);
  if (found) return cached;
  const int64 num_perm = PG_GETARG_INT32(1);
  const int64 bits = PG_GETARG_INT32(2);
  const int64 seed = PG_GETARG_INT64(3);
  MinhashParams params;
  call_core([&] { params = set_params(kind, num_perm, bits, seed); });
  size_t n;
  const uint64_t* hashes = element_hashes(PG_GETARG_ARRAYTYPE_P(0), type, &n);
  Components components;
  bool any = false;
  call_core([&] {
    PgStop stop;
    any = sign_set(params, hashes, n, &stop, components);
  });
  const Datum result = minhash_datum(params, any ? components : nullptr);
  cache_result(fcinfo, result);
  return result;
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(minhash_from_document);
Datum minhash_from_document(PG_FUNCTION_ARGS) {
  bool found;
  const Datum cached = cached_result(fcinfo, &found);
  if (found) return cached;
  const int64 k = PG_GETARG_INT32(1);
  const Unit unit = unit_arg(fcinfo, 2);
  const int64 num_perm = PG_GETARG_INT32(3);
  const int64 bits = PG_GETARG_INT32(4);
  const int64 seed = PG_GETARG_INT64(5);
  MinhashParams params;
  call_core([&] { params = document_params(unit, k, num_perm, bits, seed); });
  const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
  const Datum result = signed_document(params, doc.data, doc.size);
  cache_result(fcinfo, result);
  return result;
}

PG_FUNCTION_INFO_V1(minhash_from_bytes);
Datum minhash_from_bytes(PG_FUNCTION_ARGS) {
  bool found;
  const Datum cached = cached_result(fcinfo, &found);
  if (found) return cached;
  const int64 k = PG_GETARG_INT32(1);
  const int64 num_perm = PG_GETARG_INT32(2);
  const int64 bits = PG_GETARG_INT32(3);
  const int64 seed = PG_GETARG_INT64(4);
  MinhashParams params;
  call_core([&] { params = document_params(Unit::byte, k, num_perm, bits, seed); });
  const Bytes doc = bytes_arg(fcinfo, 0);
  const Datum result = signed_document(params, doc.data, doc.size);
  cache_result(fcinfo, result);
  return result;
}

PG_FUNCTION_INFO_V1(minhash_like);
Datum minhash_like(PG_FUNCTION_ARGS) {
  const MinhashParams params = header_params(*minhash_arg(fcinfo, 1).header);
  // The model mostly is a column: in its place stands what all its rows have in common.
  LOCAL_FCINFO(like, 2);
  InitFunctionCallInfoData(*like, fcinfo->flinfo, 2, fcinfo->fncollation, fcinfo->context, fcinfo->resultinfo);
  like->args[0] = fcinfo->args[0];
  like->args[1] = {minhash_datum(params, nullptr), false};
  bool found;
  const Datum cached = cached_result(like, &found);
  if (found) return cached;
  if (!is_of_text(params.kind))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the model signature was not made from text"),
                    errhint("Make the signature by the function that made the model: see minhash_parameters(model).")));
  const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
  const Datum result = signed_document(params, doc.data, doc.size);
  cache_result(like, result);
  return result;
}

PG_FUNCTION_INFO_V1(minhash_from_text_set);
Datum minhash_from_text_set(PG_FUNCTION_ARGS) { return signed_array(fcinfo, MinhashKind::text_set, TEXTOID); }

PG_FUNCTION_INFO_V1(minhash_from_bigint_set);
Datum minhash_from_bigint_set(PG_FUNCTION_ARGS) { return signed_array(fcinfo, MinhashKind::bigint_set, INT8OID); }

PG_FUNCTION_INFO_V1(minhash_import);
Datum minhash_import(PG_FUNCTION_ARGS) {
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(0);
  const int64 bits = PG_GETARG_INT32(1);
  const int64 seed = PG_GETARG_INT64(2);
  size_t n;
  const uint64_t* values = element_hashes(array, INT8OID, &n, true);
  MinhashParams params;
  Components components;
  call_core([&] {
    params = set_params(MinhashKind::imported, static_cast<int64_t>(n), bits, seed);
    const uint64_t limit = 1ULL << bits;
    for (size_t i = 0; i < n; ++i) {
      if (values[i] >= limit)
        throw Error(Errc::invalid_argument,
                    "component " + std::to_string(i + 1) + " must be between 0 and " + std::to_string(limit - 1) +
                        " for " + std::to_string(bits) + " bits: " + std::to_string(static_cast<int64_t>(values[i])),
                    {}, "Import the low bits of each: component & " + std::to_string(limit - 1) + ".");
      components[i] = static_cast<uint32_t>(values[i]);
    }
  });
  // The values are taken as they are, not reduced from 32 bits.
  const size_t width = static_cast<size_t>(bits) / 8;
  auto* stored = static_cast<uint8_t*>(palloc(minhash_size(params, false)));
  write_minhash(params, components, stored);
  for (size_t i = 0; i < n; ++i) {
    uint8_t* to = stored + sizeof(MinhashHeader) + i * width;
    if (width == 4) memcpy(to, &components[i], 4);
    const uint16_t half = static_cast<uint16_t>(components[i]);
    if (width == 2) memcpy(to, &half, 2);
    if (width == 1) *to = static_cast<uint8_t>(components[i]);
  }
  return minhash_datum(stored, minhash_size(params, false));
}

PG_FUNCTION_INFO_V1(minhash_union);
Datum minhash_union(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  auto* out = static_cast<uint8_t*>(palloc(kMaxMinhashSize));
  size_t size = 0;
  call_core([&] {
    const std::vector<uint8_t> stored = unite_minhashes(a, b);
    size = stored.size();
    std::copy(stored.begin(), stored.end(), out);
  });
  return minhash_datum(out, size);
}

// The final function of minhash_union_agg: a single row has met no minhash_union that would have refused it.
PG_FUNCTION_INFO_V1(minhash_union_final);
Datum minhash_union_final(PG_FUNCTION_ARGS) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  call_core([&] { check_has_unions(signature); });
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

}  // extern "C"
