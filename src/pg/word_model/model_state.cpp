#include "pg/word_model/model_state.h"

#include "pg/base/held_names.h"
#include "pg/base/own_schemas.h"
#include "pg/word_model/word_table.h"

extern "C" {
#include "executor/executor.h"
#include "utils/rls.h"
}

namespace neardup {

namespace {

bool is_plain_typed_table(Oid relation, Oid row_type) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return false;
  const auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  const bool is = form->relkind == RELKIND_RELATION && form->reloftype == row_type;
  ReleaseSysCache(tuple);
  return is;
}

// A policy would be run by whoever reads the table.
bool may_be_read(Oid relation) {
  return relation_owner(relation) == GetUserId() || check_enable_rls(relation, InvalidOid, true) != RLS_ENABLED;
}

// Later statements name them as the caller does: the schema may have another name since they were looked up.
void hold_name(const QualifiedName& name, Oid relation) {
  if (OidIsValid(relation)) held_name(relation);
  if (find_relation(name) != relation)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("name %s now refers to a different relation", name.text()),
                    errdetail("The schema was renamed concurrently.")));
}

void lock_row(const ModelNames& model) {
  uint64 rows = 0;
  ErrorData* error =
      run_undoing([&] { rows = run_statement(model_sql(model, "SELECT FROM {settings} FOR UPDATE NOWAIT")); });
  if (error != nullptr && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE) ReThrowError(error);
  if (error != nullptr)
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("another session is making the word model of %s", model.settings.text())));
  if (rows != 1)
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("%s does not have one row, as the settings of a word model have", model.settings.text()),
                    errhint("drop_word_model() removes it.")));
}

// The columns of a row by their names.
std::optional<Datum> column(HeapTupleHeader row, const char* name) {
  bool is_null;
  const Datum value = GetAttributeByName(row, name, &is_null);
  return is_null ? std::nullopt : std::optional(value);
}

std::optional<int32> int_column(HeapTupleHeader row, const char* name) {
  const std::optional<Datum> value = column(row, name);
  return value ? std::optional(DatumGetInt32(*value)) : std::nullopt;
}

ModelState read_state(HeapTupleHeader row) {
  ModelState state = {};
  state.words = int_column(row, "words");
  state.compared = int_column(row, "compared");
  const std::optional<Datum> started = column(row, "started");
  if (started) state.started = DatumGetTimestampTz(*started);
  state.finished = column(row, "finished").has_value();
  return state;
}

}  // namespace

NewName model_name(const char* given) {
  const int most_bytes = NAMEDATALEN - 1 - static_cast<int>(strlen(kSettingsSuffix));
  return new_name(given, "a word model", most_bytes);
}

ModelNames model_names(const NewName& name, Oid function) {
  return {extension_schema(function), internal_schema(function), QualifiedName(name.schema, name.name),
          QualifiedName(name.schema, psprintf("%s%s", name.name, kSettingsSuffix))};
}

Sql model_sql(const ModelNames& model, Pattern pattern, std::initializer_list<Placeholder> more) {
  const Placeholder names[] = {
      {"neardup", model.neardup}, {"internal", model.internal}, {"words", model.words}, {"settings", model.settings}};
  return sql(pattern, more, names, lengthof(names));
}

bool is_words_table(Oid relation, Oid function) {
  return is_plain_typed_table(relation, own_type(function, "neardup_word"));
}
bool is_settings_table(Oid relation, Oid function) {
  return is_plain_typed_table(relation, own_type(function, "neardup_word_model"));
}

Oid find_relation(const QualifiedName& name) { return relation_named(cstring_to_text(name.text())); }

ModelState lock_model(const ModelNames& model, Oid function) {
  const Oid words = find_relation(model.words);
  const Oid settings = find_relation(model.settings);
  hold_name(model.words, words);
  hold_name(model.settings, settings);
  if (!is_words_table(words, function) || !is_settings_table(settings, function) || !may_be_read(words) ||
      !may_be_read(settings))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("%s is no word model", model.words.text()),
                    errhint("create_word_model() makes one.")));
  if (relation_owner(words) != GetUserId() || relation_owner(settings) != GetUserId())
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("word model %s belongs to another role", model.words.text()),
                    errhint("Only its owner can continue it.")));
  lock_row(model);
  return read_state(DatumGetHeapTupleHeader(one_value(model_sql(model, "SELECT m FROM {settings} m"))));
}

}  // namespace neardup
