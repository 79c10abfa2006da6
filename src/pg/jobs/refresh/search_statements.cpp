// The statements that index the signatures, and search by them for rows whose cluster may have changed: see
// refresh_statements.h.
#include "pg/jobs/refresh/refresh_statements.h"

namespace neardup {

namespace {

// ", size" of the set of a row s, where rows come by size.
Sql size_column(const RefreshStep& step, Pattern signature) {
  if (!step.row().compares_containment()) return sql("");
  return sql(", cardinality({signature}) AS size", {{"signature", sql(signature)}});
}

// True if row g comes after row f in the order by which representatives are chosen, that of rows_to_cluster(). Records
// compare as ORDER BY does.
Sql comes_later(const RefreshStep& step) {
  return sql(
      "CASE {by_size}WHEN (g.key IS NULL) OPERATOR(pg_catalog.<>) (f.key IS NULL) THEN g.key IS NULL"
      " WHEN ROW(g.key)::record OPERATOR(pg_catalog.=) ROW(f.key)::record"
      " THEN ROW(g.id)::record OPERATOR(pg_catalog.>) ROW(f.id)::record"
      " ELSE ROW(g.key)::record OPERATOR(pg_catalog.{after}) ROW(f.key)::record END",
      {{"by_size", step.row().compares_containment() ? sql("WHEN g.size <> f.size THEN g.size < f.size ") : sql("")},
       {"after", step.row().keeps_oldest() ? sql(">") : sql("<")}});
}

// True if all rows that meet the condition of the index are similar: nothing else is asked of them.
bool near_is_similar(const RefreshStep& step) {
  return step.source.kind != Kind::ctph && !step.row().verifies() && step.row().at == nullptr &&
         step.row().n_within == 0;
}

// A row e.y may be a representative: no earlier one that has not changed is near.
Sql may_represent(const RefreshStep& step) {
  if (!near_is_similar(step)) return sql("");
  return step_sql(step, R"(
         AND NOT EXISTS (SELECT FROM {edges} s WHERE s.x {same_id} e.x AND s.settled AND NOT s.later
                         AND NOT EXISTS (SELECT FROM {touched} t WHERE t.id {same_id} s.y)))");
}

}  // namespace

// Indexing

Sql forget_gone_signatures(const RefreshStep& step) {
  return step_sql(step, "UPDATE {signatures} SET signature = NULL WHERE gone AND signature IS NOT NULL");
}

Sql create_signature_index(const RefreshStep& step, double slack) {
  return step_sql(step, "CREATE INDEX ON {signatures} USING lsh {class}", {{"class", index_class(step, slack)}});
}

Sql analyze_signatures(const RefreshStep& step) { return step_sql(step, "ANALYZE {signatures}"); }

Sql least_signature_similarity(const RefreshStep& step) {
  return step_sql(step, R"(
    SELECT {neardup}.neardup_search_threshold((SELECT signature FROM {signatures} WHERE signature IS NOT NULL LIMIT 1), $1))");
}

// Finding

Sql count_rows(const RefreshStep& step) { return step_sql(step, "SELECT count(*) FROM {signatures}"); }

Sql count_changed_rows(const RefreshStep& step) {
  return step_sql(step, "SELECT count(*) FROM {signatures} WHERE generation > $1");
}

Sql touch_changed_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    CREATE TEMP TABLE {touched} AS
    SELECT id, false AS searched FROM {signatures} WHERE generation > $1 AND NOT gone)");
}

Sql key_touched_rows(const RefreshStep& step) { return step_sql(step, "ALTER TABLE {touched} ADD PRIMARY KEY (id)"); }

Sql create_edges(const RefreshStep& step) {
  return step_sql(step, R"(
    CREATE TEMP TABLE {edges} AS
    SELECT id AS x, id AS y, false AS later, false AS settled FROM {signatures} WITH NO DATA)");
}

Sql touch_rows_of_changed_representatives(const RefreshStep& step) {
  return step_sql(step, R"(
    INSERT INTO {touched}
    SELECT m.id, false
    FROM {signatures} s JOIN {result} r ON r.id {same_id} s.id JOIN {result} m ON m.cluster = r.cluster
    WHERE s.generation > $1 AND r.survivor
    ON CONFLICT DO NOTHING)");
}

Sql count_touched_rows(const RefreshStep& step) { return step_sql(step, "SELECT count(*) FROM {touched}"); }

Sql count_unsearched_rows(const RefreshStep& step) {
  return step_sql(step, "SELECT count(*) FROM {touched} WHERE NOT searched");
}

Sql analyze_touched_rows(const RefreshStep& step) { return step_sql(step, "ANALYZE {touched}"); }

Sql count_near_rows_of_sample(const RefreshStep& step) {
  return step_sql(step, R"(
    SELECT count(*)
    FROM (SELECT s.signature
          FROM {touched} t JOIN {signatures} s ON s.id {same_id} t.id
          WHERE NOT t.searched AND NOT s.gone AND s.signature IS NOT NULL
          LIMIT {sample}) f
    CROSS JOIN LATERAL (SELECT FROM {signatures} g WHERE NOT g.gone AND {near}) g)",
                  {{"sample", Literal::number(int64{kSampledSearches})},
                   {"near", near_condition(step, "g.signature", "f.signature")}});
}

// settled: a representative that has not changed.
Sql search_near_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    INSERT INTO {edges}
    SELECT f.id, g.id, {later}, r.survivor AND g.generation <= $1
    FROM (SELECT s.id, s.key, s.signature{size_of_f}
          FROM {touched} t JOIN {signatures} s ON s.id {same_id} t.id
          WHERE NOT t.searched AND NOT s.gone AND s.signature IS NOT NULL) f
    CROSS JOIN LATERAL (SELECT g.id, g.key, g.generation{size_of_g} FROM {signatures} g WHERE NOT g.gone AND {near}) g
    LEFT JOIN {result} r ON r.id {same_id} g.id
    WHERE ROW(g.id)::record OPERATOR(pg_catalog.<>) ROW(f.id)::record)",
                  {{"later", comes_later(step)},
                   {"size_of_f", size_column(step, "s.signature")},
                   {"size_of_g", size_column(step, "g.signature")},
                   {"near", near_condition(step, "g.signature", "f.signature")}});
}

Sql mark_searched_rows(const RefreshStep& step) {
  return step_sql(step, "UPDATE {touched} SET searched = true WHERE NOT searched");
}

Sql analyze_edges(const RefreshStep& step) { return step_sql(step, "ANALYZE {edges}"); }

Sql touch_affected_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    INSERT INTO {touched}
    SELECT DISTINCT a.id, false
    FROM (SELECT e.y AS id FROM {edges} e WHERE e.later{may_represent}
          UNION ALL
          SELECT m.id
          FROM {touched} t JOIN {result} r ON r.id {same_id} t.id JOIN {result} m ON m.cluster = r.cluster
          WHERE r.survivor) a
    ON CONFLICT DO NOTHING)",
                  {{"may_represent", may_represent(step)}});
}

Sql touch_near_rows(const RefreshStep& step) {
  return step_sql(step, "INSERT INTO {touched} SELECT DISTINCT y, true FROM {edges} ON CONFLICT DO NOTHING");
}

Sql touch_rows_of_touched_clusters(const RefreshStep& step) {
  return step_sql(step, R"(
    INSERT INTO {touched}
    SELECT DISTINCT m.id, true
    FROM {result} m
    WHERE m.cluster IN (SELECT r.cluster FROM {result} r WHERE EXISTS (SELECT FROM {touched} t WHERE t.id {same_id} r.id)
                        UNION ALL
                        SELECT r.cluster FROM {result} r JOIN {signatures} s ON s.id {same_id} r.id WHERE s.generation > $1)
    ON CONFLICT DO NOTHING)");
}

Sql touch_settled_representatives(const RefreshStep& step) {
  return step_sql(step,
                  "INSERT INTO {touched} SELECT DISTINCT y, true FROM {edges} WHERE settled ON CONFLICT DO NOTHING");
}

Sql touch_representatives_of_changed_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    INSERT INTO {touched}
    SELECT DISTINCT r.representative, true
    FROM {result} r JOIN {signatures} s ON s.id {same_id} r.id
    WHERE s.generation > $1
    ON CONFLICT DO NOTHING)");
}

}  // namespace neardup
