// Calls that users write first and that have no meaning: functions of arguments that are nearly right. Each says what
// to write; without it PostgreSQL says that no such function exists.
#include "pg/values/values.h"

#include "pg/base/own_schemas.h"

namespace {

using namespace neardup;

// The text form of every minhash begins so.
constexpr char kMinhashForm[] = "mh1:";

bool is_minhash_form(const text* value) {
  const size_t size = sizeof kMinhashForm - 1;
  return VARSIZE_ANY_EXHDR(value) > size && memcmp(VARDATA_ANY(value), kMinhashForm, size) == 0;
}

// The minhash of its text form.
Datum minhash_of_form(FunctionCallInfo fcinfo, int argument) {
  const Oid type = own_type(fcinfo->flinfo->fn_oid, "minhash");
  Oid input;
  Oid parameter;
  getTypeInputInfo(type, &input, &parameter);
  return OidInputFunctionCall(input, text_to_cstring(PG_GETARG_TEXT_PP(argument)), parameter, -1);
}

}  // namespace

extern "C" {

Datum minhash_jaccard(PG_FUNCTION_ARGS);

// jaccard(a text, b text) -> float8: of two text forms of signatures, which untyped literals may be, their similarity.
SQL_FUNCTION(jaccard_of_texts) {
  if (!is_minhash_form(PG_GETARG_TEXT_PP(0)) || !is_minhash_form(PG_GETARG_TEXT_PP(1)))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("jaccard() compares signatures, not texts"),
                    errhint("Sign the texts, as in jaccard(to_minhash(a), to_minhash(b)); compare_texts(a, b) compares "
                            "two texts by several measures.")));
  return DirectFunctionCall2(minhash_jaccard, minhash_of_form(fcinfo, 0), minhash_of_form(fcinfo, 1));
}

// set_minhash(elements text, num_perm int, bits int, seed bigint): of an untyped literal
SQL_FUNCTION(set_minhash_of_text) {
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("set_minhash() takes an array of text or of bigint"),
           errhint("Write its type, as in '{a,b}'::text[] or '{1,2}'::bigint[]; to_minhash() signs a document.")));
  pg_unreachable();
}

}  // extern "C"
