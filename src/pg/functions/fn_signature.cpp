// Constructors: documents and sets to minhash values.
#include <vector>

#include "core/signature/sign.h"
#include "pg/values/arrays.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// num_perm, bits and seed: arguments n to n + 2; k: argument 1.
MinhashParams document_params_args(FunctionCallInfo fcinfo, Unit unit, int n) {
  const int64 k = PG_GETARG_INT32(1);
  const int64 num_perm = PG_GETARG_INT32(n);
  const int64 bits = PG_GETARG_INT32(n + 1);
  const int64 seed = PG_GETARG_INT64(n + 2);
  MinhashParams params;
  call_core([&] { params = document_params(unit, k, num_perm, bits, seed); });
  return params;
}

Datum signed_document(const MinhashParams& params, const Bytes& doc) {
  return signed_datum(params, [&](StopCheck* stop, uint32_t* components) {
    return sign_document(params, doc.data, doc.size, stop, components);
  });
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
  return cached_result(fcinfo, [&] {
    const MinhashParams params = set_params_args(fcinfo, kind, 1);
    size_t n;
    const uint64_t* hashes = element_hashes(PG_GETARG_ARRAYTYPE_P(0), type, &n);
    return signed_datum(
        params, [&](StopCheck* stop, uint32_t* components) { return sign_set(params, hashes, n, stop, components); });
  });
}

}  // namespace

SQL_FUNCTION(minhash_from_document) {
  return cached_result(fcinfo, [&] {
    const MinhashParams params = document_params_args(fcinfo, unit_arg(fcinfo, 2), 3);
    return signed_document(params, to_utf8(PG_GETARG_TEXT_PP(0)));
  });
}

SQL_FUNCTION(minhash_from_bytes) {
  return cached_result(fcinfo, [&] {
    const MinhashParams params = document_params_args(fcinfo, Unit::byte, 2);
    return signed_document(params, bytes_arg(fcinfo, 0));
  });
}

SQL_FUNCTION(minhash_like) {
  const MinhashParams params = header_params(*minhash_arg(fcinfo, 1).header);
  // The model mostly is a column: in its place stands what all its rows have in common.
  LOCAL_FCINFO(like, 2);
  InitFunctionCallInfoData(*like, fcinfo->flinfo, 2, fcinfo->fncollation, fcinfo->context, fcinfo->resultinfo);
  like->args[0] = fcinfo->args[0];
  like->args[1] = {minhash_datum(params, nullptr), false};
  return cached_result(like, [&] {
    if (!is_of_text(params.kind))
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the model signature was not made from text"),
               errhint("Make the signature by the function that made the model: see minhash_parameters(model).")));
    return signed_document(params, to_utf8(PG_GETARG_TEXT_PP(0)));
  });
}

SQL_FUNCTION(minhash_from_text_set) { return signed_array(fcinfo, MinhashKind::text_set, TEXTOID); }

SQL_FUNCTION(minhash_from_bigint_set) { return signed_array(fcinfo, MinhashKind::bigint_set, INT8OID); }

SQL_FUNCTION(minhash_import) {
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(0);
  const int64 bits = PG_GETARG_INT32(1);
  const int64 seed = PG_GETARG_INT64(2);
  size_t n;
  const uint64_t* values = element_hashes(array, INT8OID, &n, true);
  MinhashParams params;
  uint32_t components[kMaxNumPerm];
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

SQL_FUNCTION(minhash_union) {
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
SQL_FUNCTION(minhash_union_final) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  call_core([&] { check_has_unions(signature); });
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
