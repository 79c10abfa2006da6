// See make_model.h. From one transaction to the next only numbers and names are kept: the tables are looked up again.
#include "pg/word_model/word_run.h"

#include "pg/base/held_names.h"
#include "pg/sql/statement_scope.h"
#include "pg/word_model/make_model.h"
#include "pg/word_model/model_state.h"

extern "C" {
#include "utils/regproc.h"
}

namespace neardup {

namespace {

// Each step begins where the one before has left the model, in whatever transaction.
class ModelMaker {
 public:
  ModelMaker(const ModelRun& run, const ModelNames& names) : run_(run), names_(names) {}

  void make_tables() const;
  ModelState begun() const;
  ModelState counted(ModelState state) const;
  ModelState compared(ModelState state) const;
  void finish() const;

 private:
  bool tables_are_missing() const;
  bool words_are_given() const;
  void refuse_bad_arguments(bool given) const;
  void create_tables(bool given) const;
  uint64 run_with_arguments(const Sql& statement, const SqlValue& query, const SqlValue& dictionary) const;
  int32 columns(int32 words) const;
  bool commit() const;
  ModelState after_commit(const ModelState& before) const;

  const ModelRun& run_;
  const ModelNames& names_;
};

// Named as under our search_path, which the error ends.
[[noreturn]] void name_is_taken(Oid relation) {
  CatalogPath::begin();
  ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
                  errmsg("relation \"%s\" already exists",
                         DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relation))))));
  pg_unreachable();
}

// The session that creates both tables holds locks on them until other sessions can see both.
void wait_for_maker(Oid relation) {
  LockRelationOid(relation, AccessShareLock);
  UnlockRelationOid(relation, AccessShareLock);
}

// An error where one of the names is taken.
bool ModelMaker::tables_are_missing() const {
  Oid words = find_relation(names_.words);
  Oid settings = find_relation(names_.settings);
  if (OidIsValid(words) != OidIsValid(settings)) {
    wait_for_maker(OidIsValid(words) ? words : settings);
    words = find_relation(names_.words);
    settings = find_relation(names_.settings);
  }
  if (OidIsValid(words) && OidIsValid(settings)) return false;
  if (OidIsValid(words) || OidIsValid(settings)) name_is_taken(OidIsValid(words) ? words : settings);
  return true;
}

// With $1 to $10, as statements.h has them; how many rows it has returned or changed.
uint64 ModelMaker::run_with_arguments(const Sql& statement, const SqlValue& query, const SqlValue& dictionary) const {
  const ModelArguments& a = run_.arguments;
  return run_statement(statement, {query, a.vocabulary, a.k, a.window, a.by_position, a.features, a.stopwords,
                                   dictionary, a.context, a.discount});
}

// True if the documents of the query are text[].
bool ModelMaker::words_are_given() const {
  SPI_connect();
  const bool given = neardup::words_are_given(TextDatumGetCString(run_.arguments.query.datum));
  SPI_finish();
  return given;
}

void ModelMaker::refuse_bad_arguments(bool given) const {
  const char* nothing = given ? "SELECT NULL::pg_catalog.text[] LIMIT 0" : "SELECT NULL::pg_catalog.text LIMIT 0";
  run_with_arguments(count_nothing(names_), value(nothing), run_.arguments.dictionary);
}

void ModelMaker::create_tables(bool given) const {
  run_statement(create_words(names_));
  made_here(cstring_to_text(names_.words.text()));
  run_statement(store_features_as_they_are(names_));
  run_statement(create_settings(names_));
  made_here(cstring_to_text(names_.settings.text()));
  run_statement(identify_settings_by_all(names_));
  run_with_arguments(insert_settings(names_, given), run_.arguments.query, run_.arguments.dictionary_name);
}

// Bad arguments are refused before anything is made.
void ModelMaker::make_tables() const {
  while (tables_are_missing()) {
    const bool given = words_are_given();
    refuse_bad_arguments(given);
    const CatalogPath path = CatalogPath::begin();
    made_first({names_.words, names_.settings}, [&] { create_tables(given); });
    path.end();
    commit();
  }
}

// The model, locked, if it is the one that is asked for, and not finished.
ModelState ModelMaker::begun() const {
  const CatalogPath path = CatalogPath::begin();
  const ModelState state = lock_model(names_, run_.function);
  if (state.finished)
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("word model \"%s\" already exists", run_.name),
                    errhint("drop_word_model() removes it.")));
  if (run_with_arguments(find_made_alike(names_), run_.arguments.query, run_.arguments.dictionary_name) == 0)
    ereport(ERROR,
            (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("word model \"%s\" was begun with other arguments", run_.name),
             errdetail("They stand in %s.", names_.settings.text()),
             errhint("The same arguments continue it; drop_word_model() removes it.")));
  path.end();
  return state;
}

// The query is the user's: it runs with his search_path.
ModelState ModelMaker::counted(ModelState state) const {
  const uint64 words = run_with_arguments(count_words(names_), run_.arguments.query, run_.arguments.dictionary);
  state.words = static_cast<int32>(words);
  const CatalogPath path = CatalogPath::begin();
  run_statement(mark_counted(names_), {value(*state.words)});
  path.end();
  return commit() ? after_commit(state) : state;
}

// The columns of the words' rows.
int32 ModelMaker::columns(int32 words) const {
  const ModelArguments& a = run_.arguments;
  const int32 features = a.features.is_null ? words : Min(DatumGetInt32(a.features.datum), words);
  const int64 places = DatumGetBool(a.by_position.datum) ? int64{2} * DatumGetInt32(a.window.datum) : 1;
  return static_cast<int32>(Min(Max(features, 1) * places, int64{PG_INT32_MAX}));
}

// Further words, for about as long as commits are apart.
ModelState ModelMaker::compared(ModelState state) const {
  const CatalogPath path = CatalogPath::begin();
  const Datum next = one_value(compare_words(names_), {value(REGCLASSOID, find_relation(names_.words)),
                                                       value(*state.words), value(columns(*state.words)),
                                                       run_.arguments.k, value(*state.compared), value(run_.seconds)});
  state.compared = DatumGetInt32(next);
  run_statement(mark_compared(names_), {value(*state.compared)});
  path.end();
  return commit() ? after_commit(state) : state;
}

void ModelMaker::finish() const {
  const CatalogPath path = CatalogPath::begin();
  run_statement(mark_finished(names_));
  run_statement(analyze_words(names_));
  path.end();
}

// True if this call commits.
bool ModelMaker::commit() const {
  if (run_.commits) commit_statements();
  return run_.commits;
}

// The model is locked again, if it is as it was then.
ModelState ModelMaker::after_commit(const ModelState& before) const {
  const CatalogPath path = CatalogPath::begin();
  const ModelState now = lock_model(names_, run_.function);
  path.end();
  if (now.started != before.started || now.words != before.words || now.compared != before.compared || now.finished)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("word model \"%s\" was created again meanwhile", run_.name)));
  return now;
}

}  // namespace

void make_model(const ModelRun& run) {
  const ModelNames names = model_names(model_name(run.name), run.function);
  const ModelMaker maker(run, names);
  maker.make_tables();
  ModelState state = maker.begun();
  if (!state.words) state = maker.counted(state);
  while (state.compared && *state.compared < *state.words) state = maker.compared(state);
  maker.finish();
}

}  // namespace neardup
