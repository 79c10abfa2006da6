// Arguments to and results from the SQL functions: text in UTF-8, minhash values, cached constructors.
#pragma once

#include "core/encode.h"
#include "core/shingle.h"
#include "pg/boundary.h"
#include "pg/pg.h"

namespace neardup {

struct Utf8 {
  const uint8_t* data;
  size_t size;
};

// The text in UTF-8: converted from the server encoding when that is another (SQL_ASCII must hold valid UTF-8).
Utf8 utf8_of(const char* data, size_t size);
inline Utf8 utf8_of(const text* t) { return utf8_of(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)); }

// UTF-8 to a text datum in the server encoding.
Datum text_datum_of_utf8(const char* data, size_t size);

// The value as a view; points into the datum or its detoasted copy. Raises data_corrupted for bytes that are no signature.
MinhashView minhash_view(struct varlena* value);
inline MinhashView minhash_arg(FunctionCallInfo fcinfo, int n) { return minhash_view(PG_GETARG_VARLENA_P(n)); }

// The stored form from 32-bit components; null components: empty.
Datum minhash_datum(const MinhashParams& params, const uint32_t* components);
Datum minhash_datum(const uint8_t* stored, size_t size);

// The unit named by a text argument ('word' or 'char').
Unit unit_arg(FunctionCallInfo fcinfo, int n);

// Raises an error that names the threshold unless it is above 0 and at most 1.
void check_threshold(double threshold);

// The last result of a function whose arguments are all constants or parameters, in fn_extra. A generic plan would
// else compute the same signature once a row. The arguments' bytes are compared, since PL/pgSQL keeps an expression's
// state while its variables change.
Datum cached_result(FunctionCallInfo fcinfo, bool* found);
void cache_result(FunctionCallInfo fcinfo, Datum result);

}  // namespace neardup
