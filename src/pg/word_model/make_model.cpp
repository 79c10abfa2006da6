// From one transaction to the next only numbers and names are kept: the tables are looked up again.
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

// Each step begins where the one before has left the model, in whatever transaction.
class ModelMaker {
 public:
  ModelMaker(const ModelRun& run, const ModelNames& names) : run_(run), names_(names) {}

  // Bad arguments are refused before anything is made.
  void make_tables() const {
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
  ModelState begun() const {
    const CatalogPath path = CatalogPath::begin();
    const ModelState state = lock_model(names_, run_.function);
    if (state.finished)
      ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("word model \"%s\" already exists", run_.name),
                      errhint("drop_word_model() removes it.")));
    if (run_with_arguments(
            // 0.1.0 made models without a discount.
            "SELECT FROM {settings} m WHERE (m.query, m.vocabulary, m.k, m.\"window\", m.by_position, "
            "m.features, m.stopwords, m.dictionary, m.context, COALESCE(m.discount, 0)) "
            "IS NOT DISTINCT FROM ($1, $2, $3, $4, $5, $6, $7, $8, $9, COALESCE($10, 0))",
            run_.arguments.query, run_.arguments.dictionary_name) == 0)
      ereport(ERROR,
              (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("word model \"%s\" was begun with other arguments", run_.name),
               errdetail("They stand in %s.", names_.settings.text()),
               errhint("The same arguments continue it; drop_word_model() removes it.")));
    path.end();
    return state;
  }

  // The query is the user's: it runs with his search_path.
  ModelState counted(ModelState state) const {
    const uint64 words = run_with_arguments(
        "INSERT INTO {words} (id, word, frequency, weight, features) "
        "SELECT c.id, c.word, c.frequency, c.weight, c.features_of "
        "FROM {internal}.neardup_count_words($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) c",
        run_.arguments.query, run_.arguments.dictionary);
    state.words = static_cast<int32>(words);
    const CatalogPath path = CatalogPath::begin();
    run("UPDATE {settings} SET words = $1, counted = clock_timestamp()", {value(*state.words)});
    path.end();
    return commit() ? after_commit(state) : state;
  }

  // Further words, for about as long as commits are apart.
  ModelState compared(ModelState state) const {
    const CatalogPath path = CatalogPath::begin();
    const Datum next =
        one_value(model_sql(names_,
                            "WITH s AS MATERIALIZED "
                            "(SELECT * FROM {internal}.neardup_similar_words($1, $2, $3, $4, $5, $6)), "
                            "u AS (UPDATE {words} w SET similar_ids = s.similar_ids, similarities = s.similarities "
                            "FROM s WHERE w.id = s.id "
                            "AND (w.similar_ids = s.similar_ids AND w.similarities = s.similarities) IS NOT TRUE) "
                            "SELECT max(id) + 1 FROM s"),
                  {relation_value(find_relation(names_.words)), value(*state.words), value(columns(*state.words)),
                   run_.arguments.k, value(*state.compared), value(run_.seconds)});
    state.compared = DatumGetInt32(next);
    run("UPDATE {settings} SET compared = $1", {value(*state.compared)});
    path.end();
    return commit() ? after_commit(state) : state;
  }

  void finish() const {
    const CatalogPath path = CatalogPath::begin();
    run("UPDATE {settings} SET finished = clock_timestamp()");
    run("ANALYZE {words}");
    path.end();
  }

 private:
  // An error where one of the names is taken.
  bool tables_are_missing() const {
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

  uint64 run(Pattern statement, std::initializer_list<SqlValue> values = {}) const {
    return run_statement(model_sql(names_, statement), values);
  }

  // $1 to $10: query, vocabulary, k, window, by_position, features, stopwords, dictionary, context, discount. Returns
  // how many rows the statement has returned or changed. One that runs the user's query, with his search_path, names
  // nothing without its schema.
  uint64 run_with_arguments(Pattern statement, const SqlValue& query, const SqlValue& dictionary,
                            std::initializer_list<Placeholder> more = {}) const {
    const ModelArguments& a = run_.arguments;
    return run_statement(model_sql(names_, statement, more),
                         {query, a.vocabulary, a.k, a.window, a.by_position, a.features, a.stopwords, dictionary,
                          a.context, a.discount});
  }

  // True if the documents of the query are text[].
  bool words_are_given() const {
    SPI_connect();
    const bool given = neardup::words_are_given(TextDatumGetCString(run_.arguments.query.datum));
    SPI_finish();
    return given;
  }

  void refuse_bad_arguments(bool given) const {
    const char* nothing = given ? "SELECT NULL::pg_catalog.text[] LIMIT 0" : "SELECT NULL::pg_catalog.text LIMIT 0";
    run_with_arguments("SELECT FROM {internal}.neardup_count_words($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                       value(nothing), run_.arguments.dictionary);
  }

  void create_tables(bool given) const {
    run("CREATE TABLE {words} OF {neardup}.neardup_word (id PRIMARY KEY, word NOT NULL UNIQUE, frequency NOT NULL, "
        "weight NOT NULL, features NOT NULL)");
    made_here(cstring_to_text(names_.words.text()));
    run("ALTER TABLE {words} ALTER COLUMN features SET STORAGE EXTERNAL");
    run("CREATE TABLE {settings} OF {neardup}.neardup_word_model");
    made_here(cstring_to_text(names_.settings.text()));
    // A publication of all tables lets none be updated that has no key.
    run("ALTER TABLE {settings} REPLICA IDENTITY FULL");
    run_with_arguments(
        "INSERT INTO {settings} (query, vocabulary, k, \"window\", by_position, features, stopwords, dictionary, "
        "context, discount, given, compared, started) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, {given}, 0, clock_timestamp())",
        run_.arguments.query, run_.arguments.dictionary_name, {{"given", given ? sql("true") : sql("false")}});
  }

  // The columns of the words' rows.
  int32 columns(int32 words) const {
    const ModelArguments& a = run_.arguments;
    const int32 features = a.features.is_null ? words : Min(DatumGetInt32(a.features.datum), words);
    const int64 places = DatumGetBool(a.by_position.datum) ? int64{2} * DatumGetInt32(a.window.datum) : 1;
    return static_cast<int32>(Min(Max(features, 1) * places, int64{PG_INT32_MAX}));
  }

  // True if this call commits.
  bool commit() const {
    if (run_.commits) commit_statements();
    return run_.commits;
  }

  // The model is locked again, if it is as it was then.
  ModelState after_commit(const ModelState& before) const {
    const CatalogPath path = CatalogPath::begin();
    const ModelState now = lock_model(names_, run_.function);
    path.end();
    if (now.started != before.started || now.words != before.words || now.compared != before.compared || now.finished)
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("word model \"%s\" was created again meanwhile", run_.name)));
    return now;
  }

  const ModelRun& run_;
  const ModelNames& names_;
};

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
