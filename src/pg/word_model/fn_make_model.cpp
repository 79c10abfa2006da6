// create_word_model() and drop_word_model(): their arguments.
#include "pg/values/values.h"

#include "pg/values/old_sql.h"
#include "pg/sql/drop_tables.h"
#include "pg/word_model/make_model.h"
#include "pg/word_model/model_state.h"

extern "C" {
#include "catalog/pg_ts_dict.h"
#include "utils/array.h"
}

namespace {

using namespace neardup;

// Arguments of create_word_model(), in its order.
enum Argument : uint8_t {
  kName,
  kQuery,
  kVocabulary,
  kK,
  kWindow,
  kByPosition,
  kFeatures,
  kStopwords,
  kDictionary,
  kContext,
  kDiscount,
  kCommit,
  kCommitEvery,
  kArguments
};

// A parameter of a type that is passed by value, or by a varlena, which is copied.
SqlValue parameter(FunctionCallInfo fcinfo, Argument n, Oid type) {
  if (PG_ARGISNULL(n)) return value(type, 0, true);
  if (get_typbyval(type)) return value(type, PG_GETARG_DATUM(n));
  return value(type, PointerGetDatum(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(n))));
}

// The name of a dictionary with its schema; NULL where there is none.
SqlValue dictionary_name(const SqlValue& dictionary) {
  HeapTuple tuple = dictionary.is_null ? nullptr : SearchSysCache1(TSDICTOID, dictionary.datum);
  if (!HeapTupleIsValid(tuple)) return value(nullptr);
  const auto* form = reinterpret_cast<Form_pg_ts_dict>(GETSTRUCT(tuple));
  const char* name = quote_qualified_identifier(get_namespace_name(form->dictnamespace), NameStr(form->dictname));
  ReleaseSysCache(tuple);
  return value(name);
}

ModelArguments model_arguments(FunctionCallInfo fcinfo) {
  ModelArguments a = {};
  a.query = parameter(fcinfo, kQuery, TEXTOID);
  a.vocabulary = parameter(fcinfo, kVocabulary, INT4OID);
  a.k = parameter(fcinfo, kK, INT4OID);
  a.window = parameter(fcinfo, kWindow, INT4OID);
  a.by_position = parameter(fcinfo, kByPosition, BOOLOID);
  a.features = parameter(fcinfo, kFeatures, INT4OID);
  a.stopwords = parameter(fcinfo, kStopwords, TEXTARRAYOID);
  a.dictionary = parameter(fcinfo, kDictionary, REGDICTIONARYOID);
  a.dictionary_name = dictionary_name(a.dictionary);
  a.context = parameter(fcinfo, kContext, TEXTOID);
  a.discount = parameter(fcinfo, kDiscount, FLOAT8OID);
  return a;
}

double commit_seconds(FunctionCallInfo fcinfo) {
  const char* written = "NULL";
  double seconds = -1;
  if (!PG_ARGISNULL(kCommitEvery)) {
    const Datum every = PG_GETARG_DATUM(kCommitEvery);
    written = DatumGetCString(DirectFunctionCall1(interval_out, every));
    seconds = DatumGetFloat8(DirectFunctionCall2(interval_part, CStringGetTextDatum("epoch"), every));
  }
  if (seconds < 0)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("commit_every must not be negative: %s", written)));
  return seconds;
}

bool commits(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(kCommit))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("commit must not be NULL")));
  const bool commit = PG_GETARG_BOOL(kCommit);
  if (commit && !may_commit(fcinfo))
    ereport(ERROR,
            (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION), errmsg("create_word_model cannot run inside a transaction block"),
             errhint("Call it alone with autocommit on, or pass commit => false.")));
  return commit;
}

}  // namespace

// create_word_model(name text, query text, ..)
SQL_FUNCTION(neardup_create_word_model) {
  demand_arguments(fcinfo, kArguments);
  ModelRun run = {};
  run.function = fcinfo->flinfo->fn_oid;
  run.commits = commits(fcinfo);
  if (SPI_connect_ext(run.commits ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  if (PG_ARGISNULL(kQuery)) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("query must not be NULL")));
  run.seconds = commit_seconds(fcinfo);
  run.name = PG_ARGISNULL(kName) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(kName));
  run.arguments = model_arguments(fcinfo);
  make_model(run);
  SPI_finish();
  PG_RETURN_NULL();
}

// drop_word_model(name text)
SQL_FUNCTION(neardup_drop_word_model) {
  const Oid function = fcinfo->flinfo->fn_oid;
  SPI_connect();
  const NewName name = model_name(PG_ARGISNULL(0) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(0)));
  const ModelNames model = model_names(name, function);
  const Oid words = find_relation(model.words);
  const Oid settings = find_relation(model.settings);
  Oid tables[2];
  int n = 0;
  if (is_words_table(words, function)) tables[n++] = words;
  if (is_settings_table(settings, function)) tables[n++] = settings;
  if (n == 0) ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("there is no word model \"%s\"", name.name)));
  const CatalogPath path = CatalogPath::begin();
  drop_tables(tables, n);
  path.end();
  SPI_finish();
  PG_RETURN_VOID();
}
