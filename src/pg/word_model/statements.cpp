#include "pg/word_model/statements.h"

namespace neardup {

namespace {

Sql model_sql(const ModelNames& model, Pattern pattern, std::initializer_list<Placeholder> more = {}) {
  const Placeholder names[] = {
      {"neardup", model.neardup}, {"internal", model.internal}, {"words", model.words}, {"settings", model.settings}};
  return sql(pattern, more, names, lengthof(names));
}

}  // namespace

Sql count_nothing(const ModelNames& model) {
  return model_sql(model, "SELECT FROM {internal}.neardup_count_words($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)");
}

Sql count_words(const ModelNames& model) {
  return model_sql(model,
                   "INSERT INTO {words} (id, word, frequency, weight, features) "
                   "SELECT c.id, c.word, c.frequency, c.weight, c.features_of "
                   "FROM {internal}.neardup_count_words($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) c");
}

Sql create_words(const ModelNames& model) {
  return model_sql(model,
                   "CREATE TABLE {words} OF {neardup}.neardup_word (id PRIMARY KEY, word NOT NULL UNIQUE, "
                   "frequency NOT NULL, weight NOT NULL, features NOT NULL)");
}

Sql store_features_as_they_are(const ModelNames& model) {
  return model_sql(model, "ALTER TABLE {words} ALTER COLUMN features SET STORAGE EXTERNAL");
}

Sql create_settings(const ModelNames& model) {
  return model_sql(model, "CREATE TABLE {settings} OF {neardup}.neardup_word_model");
}

Sql identify_settings_by_all(const ModelNames& model) {
  return model_sql(model, "ALTER TABLE {settings} REPLICA IDENTITY FULL");
}

Sql insert_settings(const ModelNames& model, bool words_are_given) {
  return model_sql(model,
                   "INSERT INTO {settings} (query, vocabulary, k, \"window\", by_position, features, stopwords, "
                   "dictionary, context, discount, given, compared, started) "
                   "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, {given}, 0, clock_timestamp())",
                   {{"given", words_are_given ? sql("true") : sql("false")}});
}

// 0.1.0 made models without a discount.
Sql find_made_alike(const ModelNames& model) {
  return model_sql(model,
                   "SELECT FROM {settings} m WHERE (m.query, m.vocabulary, m.k, m.\"window\", m.by_position, "
                   "m.features, m.stopwords, m.dictionary, m.context, COALESCE(m.discount, 0)) "
                   "IS NOT DISTINCT FROM ($1, $2, $3, $4, $5, $6, $7, $8, $9, COALESCE($10, 0))");
}

Sql lock_settings(const ModelNames& model) { return model_sql(model, "SELECT FROM {settings} FOR UPDATE NOWAIT"); }

Sql read_settings(const ModelNames& model) { return model_sql(model, "SELECT m FROM {settings} m"); }

Sql mark_counted(const ModelNames& model) {
  return model_sql(model, "UPDATE {settings} SET words = $1, counted = clock_timestamp()");
}

Sql compare_words(const ModelNames& model) {
  return model_sql(model,
                   "WITH s AS MATERIALIZED (SELECT * FROM {internal}.neardup_similar_words($1, $2, $3, $4, $5, $6)), "
                   "u AS (UPDATE {words} w SET similar_ids = s.similar_ids, similarities = s.similarities "
                   "FROM s WHERE w.id = s.id "
                   "AND (w.similar_ids = s.similar_ids AND w.similarities = s.similarities) IS NOT TRUE) "
                   "SELECT max(id) + 1 FROM s");
}

Sql mark_compared(const ModelNames& model) { return model_sql(model, "UPDATE {settings} SET compared = $1"); }

Sql mark_finished(const ModelNames& model) {
  return model_sql(model, "UPDATE {settings} SET finished = clock_timestamp()");
}

Sql analyze_words(const ModelNames& model) { return model_sql(model, "ANALYZE {words}"); }

}  // namespace neardup
