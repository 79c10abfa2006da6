// Arguments to and results from the SQL functions: text in UTF-8, minhash values, cached constructors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/named_values.h"
#include "core/document/shingle.h"
#include "core/signature/minhash.h"
#include "core/signature/minhash_encode.h"
#include "pg/base/boundary.h"
#include "pg/base/pg.h"

namespace neardup {

struct Bytes {
  const uint8_t* data;
  size_t size;

  std::string_view view() const { return {reinterpret_cast<const char*>(data), size}; }
};
using Utf8 = Bytes;  // of a text

inline Bytes bytea_bytes(const bytea* b) {
  return {reinterpret_cast<const uint8_t*>(VARDATA_ANY(b)), static_cast<size_t>(VARSIZE_ANY_EXHDR(b))};
}
inline Bytes bytes_arg(FunctionCallInfo fcinfo, int n) { return bytea_bytes(PG_GETARG_BYTEA_PP(n)); }

// The rest of the message that is argument 0 of a receive function.
Bytes message_arg(FunctionCallInfo fcinfo);

// A copy in `context`, with a byte to spare.
Bytes copy_bytes(const Bytes& bytes, MemoryContext context);

// A varlena of these bytes.
Datum varlena_datum(const void* data, size_t size);

// The text in UTF-8: converted from the server encoding when that is another (SQL_ASCII must hold valid UTF-8).
Utf8 to_utf8(const char* data, size_t size);
inline Utf8 to_utf8(const text* t) { return to_utf8(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)); }

// The same to the server's encoding, palloced, if that has all its characters; else null. *out_size: bytes of it.
char* server_text_if_fits(const char* data, size_t size, size_t* out_size);

// UTF-8 to a text datum in the server encoding.
Datum text_datum_of_utf8(const char* data, size_t size);

// The bytes of a value, as its functions write it: aligned, which those behind a short header are not.
const char* aligned_bytes(struct varlena* value);

// The value as a view; points into the datum or its detoasted copy. ERRCODE_INVALID_BINARY_REPRESENTATION for bytes
// that are no signature.
MinhashView minhash_view(struct varlena* value);
inline MinhashView minhash_arg(FunctionCallInfo fcinfo, int n) { return minhash_view(PG_GETARG_VARLENA_P(n)); }

// The demands of a type modifier of minhash; bits 0: any, num_perm 0: -1 demands nothing.
struct MinhashShape {
  uint32_t num_perm;
  uint32_t bits;
};
MinhashShape minhash_shape(int32 typmod);

// An error that names both unless they were made alike.
inline void demand_comparable(const MinhashView& a, const MinhashView& b) {
  if (!comparable(*a.header, *b.header)) call_core([&] { check_comparable(a, b); });
}

// The operator %, of comparable signatures.
bool is_similar(const MinhashView& a, const MinhashView& b);

// The stored form from 32-bit components; null components: empty.
Datum minhash_datum(const MinhashParams& params, const uint32_t* components);
inline Datum minhash_datum(const uint8_t* stored, size_t size) { return varlena_datum(stored, size); }

// A varlena of the bytes that produce() gives, a vector, which dies inside call_core's world.
template <typename Produce>
Datum datum_from(Produce produce) {
  std::vector<uint8_t>* bytes = nullptr;
  call_core([&] { bytes = new std::vector<uint8_t>(produce()); });
  struct varlena* value = static_cast<struct varlena*>(palloc_extended(VARHDRSZ + bytes->size(), MCXT_ALLOC_NO_OOM));
  if (value != nullptr) {
    SET_VARSIZE(value, VARHDRSZ + bytes->size());
    memcpy(VARDATA(value), bytes->data(), bytes->size());
  }
  delete bytes;
  if (value == nullptr) ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
  return PointerGetDatum(value);
}

// The string that produce() gives, palloced in the same way. room: it is shorter. what: names the value in the error
// for one that is not.
template <typename Produce>
char* cstring_from(size_t room, const char* what, Produce produce) {
  char* out = static_cast<char*>(palloc(room));
  call_core([&] {
    const std::string text = produce();
    if (text.size() >= room) throw Error(Errc::too_large, std::string("text form of ") + what + " too long");
    memcpy(out, text.c_str(), text.size() + 1);
  });
  return out;
}

// Argument n of a function that is not strict; an error that names it where it is NULL.
Datum argument(FunctionCallInfo fcinfo, int n, const char* name);

// The value that a text argument names; an error that lists the names for any other text.
template <typename T, size_t N>
T parse_named(const NamedValue<T> (&table)[N], const char* argument, Datum given, const char* hint = nullptr) {
  const char* name = TextDatumGetCString(given);
  const std::optional<T> value = value_named(table, name);
  if (!value)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s must be %s: \"%s\"", argument, list_names(table, "'", "or").text, name),
                    hint == nullptr ? 0 : errhint("%s", hint)));
  return *value;
}

// The unit that a text argument names.
Unit unit_arg(FunctionCallInfo fcinfo, int n);

// True if a procedure that was called so may commit: not within a transaction block, a function or a subtransaction.
bool may_commit(FunctionCallInfo fcinfo);

// An error for element i, from 0, of an array whose elements may not be NULL; argument: its name.
[[noreturn]] void refuse_null_element(int i, const char* what, const char* argument);

// For ereport(), of a value that is no document: how to make text of it.
int hint_at_text(Oid type);

// Raises an error that names the argument where the interval is negative.
void check_not_negative(const char* argument, const Interval* value);

// Raises an error that names the threshold unless it is above 0 and at most 1. of_bits: it may be of signatures whose
// distance is a number of bits.
void check_threshold(double threshold, bool of_bits = false);

// The last result of a function none of whose arguments names a column, in fn_extra. A generic plan would
// else compute the same signature once a row. The arguments' bytes are compared, since PL/pgSQL keeps an expression's
// state while its variables change. by_value: the type of the result, one for all calls of a function.
Datum cached_result(FunctionCallInfo fcinfo, bool* found);
void cache_result(FunctionCallInfo fcinfo, Datum result, bool by_value);
template <typename Make>
Datum cached_result(FunctionCallInfo fcinfo, Make make, bool by_value = false) {
  bool found;
  const Datum cached = cached_result(fcinfo, &found);
  if (found) return cached;
  const Datum result = make();
  if (!fcinfo->isnull) cache_result(fcinfo, result, by_value);
  return result;
}

// The signature that sign(stop, components) makes in core code; empty where that returns false.
template <typename Sign>
Datum signed_datum(const MinhashParams& params, Sign sign) {
  uint32_t components[kMaxNumPerm];
  bool any = false;
  call_core([&] {
    PgStop stop;
    any = sign(&stop, components);
  });
  return minhash_datum(params, any ? components : nullptr);
}

// The parameters of a signature of a set: num_perm, bits and seed, arguments n to n + 2.
MinhashParams set_params_args(FunctionCallInfo fcinfo, MinhashKind kind, int n);

}  // namespace neardup
