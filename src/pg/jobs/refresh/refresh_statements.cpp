// See refresh_statements.h. Parts of a statement that a job may lack begin with the comma or AND that joins them.
#include "pg/jobs/refresh/refresh_statements.h"

#include <cmath>

namespace neardup {

namespace {

// A document or signature has another content than when it was signed, or another of its columns differs. Without a
// version all are read.
Sql content_differs(const RefreshStep& step) {
  return sql("ROW(g.id, g.content)::record OPERATOR(pg_catalog.*<>) ROW(l.id, {content})::record OR {kept_differ}",
             {{"content", content_sql(step.row(), step.source.kind, step.job.function, "l.body")},
              {"kept_differ", kept_differ(step.source, "g", "l")}});
}

Sql row_differs(const RefreshStep& step) {
  if (!step.source.stored) return content_differs(step);
  return sql(
      "g.version IS NULL OR g.origin IS DISTINCT FROM l.origin OR g.place IS DISTINCT FROM l.place"
      " OR g.version IS DISTINCT FROM l.version");
}

// The rows (id, gone) that are new or gone, or of which `differs` is true. One join of all rows where the equality of
// ids allows it, else one join for each side.
Sql changed_rows(const RefreshStep& step, const Sql& differs) {
  if (step.source.joins_fully)
    return step_sql(step, R"((SELECT COALESCE(l.id, g.id) AS id, l.is_there IS NULL AS gone
          FROM (SELECT true AS is_there, r.* FROM ({rows}) r) l FULL JOIN {signatures} g ON g.id {same_id} l.id
          WHERE CASE WHEN l.is_there THEN g.id IS NULL OR g.gone OR {differs} ELSE NOT g.gone END))",
                    {{"differs", differs}});
  return step_sql(step, R"((SELECT l.id, false AS gone
          FROM ({rows}) l LEFT JOIN {signatures} g ON g.id {same_id} l.id
          WHERE g.id IS NULL OR g.gone OR {differs}
          UNION ALL
          SELECT g.id, true
          FROM {signatures} g
          WHERE NOT g.gone AND NOT EXISTS (SELECT FROM ({rows}) l WHERE l.id {same_id} g.id)))",
                  {{"differs", differs}});
}

// ", key, within_1, .., at"
Sql kept_names(const RefreshStep& step) {
  SqlList names("");
  for (int i = 0; i < step.source.n_kept; ++i) names.add(sql(", {name}", {{"name", step.source.kept[i]}}));
  return names.all();
}

// The columns of {signatures} that signing writes.
Sql signed_columns(const RefreshStep& step) {
  return sql("id, signature, content, origin, place, version, generation, gone{kept_names}",
             {{"kept_names", kept_names(step)}});
}

// The listed rows l of a batch that have not gone, with their content. OFFSET 0: it is computed once.
Sql listed_rows(const RefreshStep& step) {
  return step_sql(step, R"((SELECT l.*, {content} AS content
                FROM {todo} t JOIN ({rows}) l ON l.id {same_id} t.id
                WHERE t.n > $1 AND t.n <= $2 AND NOT t.gone
                OFFSET 0))",
                  {{"content", content_sql(step.row(), step.source.kind, step.job.function, "l.body")}});
}

// A value that is equal for equal values, by a hash of its type or as text.
Sql hashable(Oid type, const SqlPiece& value) {
  const bool has_hash = OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc);
  return has_hash ? sql("{value}", {{"value", value}}) : sql("format('%s', {value})", {{"value", value}});
}

// The team of a row: passages are counted among rows that may be copies of each other.
Sql team(const RefreshStep& step, const Identifier& alias) {
  const JobRow& row = step.row();
  if (row.n_within == 0) return sql("0::int8");
  SqlList within;
  for (int i = 0; i < row.n_within; ++i)
    within.add(hashable(source_column_type(row.source, row.within[i], "within"),
                        sql("{alias}.{name}", {{"alias", alias}, {"name", step.source.kept[i + 1]}})));
  return sql("hash_record_extended(ROW({within})::record, 0)", {{"within", within.all()}});
}

// " AND .." where the signature of a row o that is known may be kept for the row l that it is now: another team cuts
// other passages.
Sql same_team(const RefreshStep& step) {
  if (!step.row().has_passages || step.row().n_within == 0) return sql("");
  return sql(" AND NOT ({kept_differ})", {{"kept_differ", kept_differ(step.source, "o", "l")}});
}

// The windows that are cut out of the document of a row `alias`; null: none.
const CutWindows* cut_windows(const RefreshStep& step, const Identifier& alias) {
  if (!step.profile.cuts() || !step.row().has_passages) return nullptr;
  auto* windows = static_cast<CutWindows*>(palloc(sizeof(CutWindows)));
  *windows = {internal_schema(step.job.function), step.job.passages_oid, step.row().passages_key, team(step, alias)};
  return windows;
}

// The signature of a row b that is signed anew.
Sql new_signature(const RefreshStep& step) {
  const JobRow& row = step.row();
  if (row.body != nullptr) {
    const auto signature_sql = row.compares_sets() ? fingerprints_sql : signing_sql;
    return signature_sql(step.profile, step.job.neardup, row.body_type, sql("b.body"),
                         cut_windows(step, Identifier("b")));
  }
  if (!row.compares_sets()) return sql("b.body");
  return sql("{internal}.neardup_distinct_elements(b.body)", {{"internal", internal_schema(step.job.function)}});
}

// ", key = EXCLUDED.key, .."
Sql kept_assignments(const RefreshStep& step) {
  SqlList assignments("");
  for (int i = 0; i < step.source.n_kept; ++i)
    assignments.add(sql(", {name} = EXCLUDED.{name}", {{"name", step.source.kept[i]}}));
  return assignments.all();
}

// "ROW(g.within_1, ..) AS within" and the like: what all_clusters() reads beside id and signature.
Sql clustered_columns(const RefreshStep& step) {
  SqlList columns("");
  if (step.row().n_within > 0) {
    SqlList within;
    for (int i = 0; i < step.row().n_within; ++i) within.add(sql("g.{name}", {{"name", step.source.kept[i + 1]}}));
    columns.add(sql(", ROW({within}) AS within", {{"within", within.all()}}));
  }
  if (step.row().at != nullptr) columns.add(sql(", g.at AS at"));
  if (step.row().verifies()) {
    if (step.row().body == nullptr) no_profile(step.row().profile);
    columns.add(
        sql(", {document} AS doc", {{"document", document_sql(step.profile, step.job.neardup, step.row().body_type,
                                                              sql("l.body"), cut_windows(step, Identifier("l")))}}));
  }
  return columns.all();
}

// Those of the result that are as in the source, with the name that they have there.
struct WithinSql {
  Sql names;        // ", tenant"
  Sql values;       // ", g.within_1"
  Sql differ;       // " OR ROW(o.tenant)::record *<> ROW(g.within_1)::record"
  Sql assignments;  // ", tenant = EXCLUDED.tenant"
  Sql join;         // what g is
};
WithinSql within_sql(const RefreshStep& step) {
  SqlList names("");
  SqlList values("");
  SqlList differ("");
  SqlList assignments("");
  for (int i = 0; i < step.row().n_within; ++i) {
    const Identifier name(step.row().within[i]);
    const Identifier stored = step.source.kept[i + 1];
    names.add(sql(", {name}", {{"name", name}}));
    values.add(sql(", g.{stored}", {{"stored", stored}}));
    differ.add(sql(" OR ROW(o.{name})::record OPERATOR(pg_catalog.*<>) ROW(g.{stored})::record",
                   {{"name", name}, {"stored", stored}}));
    assignments.add(sql(", {name} = EXCLUDED.{name}", {{"name", name}}));
  }
  return {names.all(), values.all(), differ.all(), assignments.all(),
          step.row().n_within == 0 ? sql("") : step_sql(step, " JOIN {signatures} g ON g.id {same_id} f.id")};
}

// Signatures g that have gone since rows were clustered last; an index finds them.
Sql gone_since(const RefreshStep& step) {
  return sql("g.gone AND g.generation > {clustered}", {{"clustered", Literal::number(step.row().clustered)}});
}

// A row r of the result that has gone; part: only touched rows are in {fresh}.
Sql is_gone(const RefreshStep& step, bool part) {
  return part ? step_sql(step, "EXISTS (SELECT FROM {signatures} g WHERE {gone_since} AND g.id {same_id} r.id)",
                         {{"gone_since", gone_since(step)}})
              : step_sql(step, "NOT EXISTS (SELECT FROM {fresh} f WHERE f.id {same_id} r.id)");
}

// A domain may not take the NULL that names the type; all_clusters() has one form for integers.
TypeName clustered_id_type(const RefreshStep& step) {
  const Oid type = step.source.id_type;
  return TypeName(type == INT2OID || type == INT4OID || type == INT8OID ? INT8OID : type);
}

// True if a call by name finds the function that hashes a type: it takes the type itself, and outside pg_catalog
// another one may have its name.
bool is_called_by_name(Oid function, Oid type) {
  Oid* arguments;
  int n;
  get_func_signature(function, &arguments, &n);
  return get_func_namespace(function) == PG_CATALOG_NAMESPACE && arguments[0] == getBaseType(type);
}

// The hash of the ids of a row r of the result. Types without a hash are hashed as text.
Sql hash_of_ids(Oid id_type) {
  const Sql of_match = sql("COALESCE(hashfloat8extended(r.similarity, r.survivor::integer), r.survivor::integer)");
  const Sql rest = sql("hashint8extended(r.cluster, {of_match})", {{"of_match", of_match}});
  const Oid function = lookup_type_cache(id_type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc;
  if (!OidIsValid(function))
    return sql("hashtextextended(format('%s', ROW(r.id, r.representative)), {rest})", {{"rest", rest}});
  if (!is_called_by_name(function, id_type))
    return sql("hash_record_extended(ROW(r.id, r.representative)::record, {rest})", {{"rest", rest}});
  return sql("{hash}(r.id, {hash}(r.representative, {rest}))",
             {{"hash", Identifier(get_func_name(function))}, {"rest", rest}});
}

}  // namespace

// Listing

Sql create_shape(const RefreshStep& step) {
  return step_sql(step, "CREATE TEMP TABLE {shape} AS SELECT * FROM ({rows}) l WITH NO DATA");
}

Sql forget_versions(const RefreshStep& step) {
  return step_sql(step, "UPDATE {signatures} SET version = NULL WHERE version IS NOT NULL");
}

// Parallel workers can read both tables, and nothing is joined. A row without a version may have changed.
Sql is_unchanged(const RefreshStep& step) {
  const Sql hash = sql("{internal}.neardup_version_hash(origin, place, version, $1)",
                       {{"internal", internal_schema(step.job.function)}});
  const Sql versions = sql("count(*) AS n, count(version) AS known, sum({hash}) AS hashes", {{"hash", hash}});
  return step_sql(step, R"(
    SELECT l.n = g.n AND l.known = l.n AND g.known = g.n AND l.hashes IS NOT DISTINCT FROM g.hashes
    FROM (SELECT {versions} FROM ({rows}) r) l, (SELECT {versions} FROM {signatures} WHERE NOT gone) g)",
                  {{"versions", versions}});
}

Sql list_changed_rows(const RefreshStep& step) {
  return step_sql(step, "CREATE TEMP TABLE {todo} AS SELECT row_number() OVER () AS n, t.* FROM {changed_rows} t",
                  {{"changed_rows", changed_rows(step, row_differs(step))}});
}

Sql is_id_missing(const RefreshStep& step) {
  return step_sql(step, "SELECT EXISTS (SELECT FROM {todo} WHERE id IS NULL)");
}

Sql index_listed_rows(const RefreshStep& step) { return step_sql(step, "CREATE INDEX ON {todo} (n)"); }
Sql analyze_listed_rows(const RefreshStep& step) { return step_sql(step, "ANALYZE {todo}"); }

Sql count_known_rows(const RefreshStep& step) {
  return step_sql(step, "SELECT count(*) FROM {signatures} g WHERE NOT g.gone");
}

Sql count_added_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    SELECT (SELECT count(*) FROM {todo} t
            WHERE NOT t.gone AND NOT EXISTS (SELECT FROM {signatures} g WHERE NOT g.gone AND g.id {same_id} t.id))
           - (SELECT count(*) FROM {todo} t WHERE t.gone))");
}

// The contents of rows are compared: one that was written again as it was is in no queue.
Sql list_unqueued_changes(const RefreshStep& step) {
  return step_sql(step, R"(
    SELECT format('%s', c.id), 'source'::text,
           CASE WHEN c.gone THEN 'gone'
                WHEN EXISTS (SELECT FROM {signatures} g WHERE g.id {same_id} c.id AND NOT g.gone) THEN 'changed'
                ELSE 'new' END,
           'queued'::text
    FROM {changed_rows} c
    WHERE NOT EXISTS (SELECT FROM {queue} q WHERE q.id {same_id} c.id OR q.id IS NULL))",
                  {{"changed_rows", changed_rows(step, content_differs(step))}});
}

// Counting

Sql fill_passages(const RefreshStep& step) {
  const JobRow& row = step.row();
  const Sql within = row.n_within == 0 ? sql("") : sql(", {team} AS within", {{"team", team(step, Identifier("l"))}});
  const Sql documents = step_sql(
      step, "SELECT 0 AS id, {document} AS body{within} FROM ({rows}) l",
      {{"document", document_sql(step.profile, step.job.neardup, row.body_type, sql("l.body"))}, {"within", within}});
  return step_sql(step, "INSERT INTO {passages} (number, windows) {windows}",
                  {{"passages", step.job.passages},
                   {"windows", frequent_windows_sql(step.profile, internal_schema(step.job.function), documents)}});
}

// Signing

Sql sign_new_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    INSERT INTO {signatures} ({columns})
    SELECT b.id, {new_signature}, b.content, b.origin, b.place, b.version, $3, false{kept_values}
    FROM {listed_rows} b)",
                  {{"columns", signed_columns(step)},
                   {"new_signature", new_signature(step)},
                   {"kept_values", kept_columns(step.source, "b")},
                   {"listed_rows", listed_rows(step)}});
}

Sql sign_listed_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    INSERT INTO {signatures} AS g ({columns})
    SELECT b.id, CASE WHEN b.same THEN b.signature ELSE {new_signature} END, b.content, b.origin, b.place, b.version,
           CASE WHEN b.changed THEN $3 ELSE b.generation END, false{kept_values}
    FROM (SELECT l.*, o.signature, COALESCE(o.generation, 0) AS generation,
                 o.id IS NOT NULL AND NOT o.gone AND o.content IS NOT DISTINCT FROM l.content{same_team} AS same,
                 o.id IS NULL OR o.gone OR o.content IS DISTINCT FROM l.content OR {kept_differ}
                   OR ROW(o.id)::record OPERATOR(pg_catalog.*<>) ROW(l.id)::record
                   OR ($4 AND (o.origin IS DISTINCT FROM l.origin OR o.place IS DISTINCT FROM l.place
                               OR o.version IS DISTINCT FROM l.version)) AS changed
          FROM {listed_rows} l LEFT JOIN {signatures} o ON o.id {same_id} l.id
          OFFSET 0) b
    ON CONFLICT (id) DO UPDATE
    SET id = EXCLUDED.id, signature = EXCLUDED.signature, content = EXCLUDED.content, origin = EXCLUDED.origin,
        place = EXCLUDED.place, version = EXCLUDED.version, generation = EXCLUDED.generation, gone = false{kept_assignments})",
                  {{"columns", signed_columns(step)},
                   {"new_signature", new_signature(step)},
                   {"kept_values", kept_columns(step.source, "b")},
                   {"kept_differ", kept_differ(step.source, "o", "l")},
                   {"same_team", same_team(step)},
                   {"listed_rows", listed_rows(step)},
                   {"kept_assignments", kept_assignments(step)}});
}

Sql mark_gone_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    UPDATE {signatures} g SET gone = true, generation = $3
    FROM {todo} t
    WHERE t.n > $1 AND t.n <= $2 AND t.gone AND g.id {same_id} t.id AND NOT g.gone)");
}

Sql row_with_null_element(const RefreshStep& step) {
  return step_sql(step, R"(
    SELECT (SELECT format('%s', b.id)
            FROM {listed_rows} b
            WHERE EXISTS (SELECT FROM unnest(b.body) e WHERE e IS NULL)
            LIMIT 1))",
                  {{"listed_rows", listed_rows(step)}});
}

// Clustering

Sql rows_to_cluster(const RefreshStep& step, bool part) {
  const Sql documents = step.row().verifies() ? step_sql(step, " JOIN ({rows}) l ON l.id {same_id} g.id") : sql("");
  const Sql touched =
      part ? step_sql(step, " AND EXISTS (SELECT FROM {touched} t WHERE t.id {same_id} g.id)") : sql("");
  return step_sql(
      step,
      "SELECT g.id, g.signature{columns} FROM {signatures} g{documents} WHERE NOT g.gone{touched}"
      " ORDER BY {by_size}g.key {direction} NULLS LAST, g.id",
      {{"by_size", step.row().compares_containment() ? sql("cardinality(g.signature) DESC NULLS LAST, ") : sql("")},
       {"columns", clustered_columns(step)},
       {"documents", documents},
       {"touched", touched},
       {"direction", step.row().keeps_oldest() ? sql("ASC") : sql("DESC")}});
}

Sql clusters(const RefreshStep& step, bool part) {
  const JobRow& row = step.row();
  return step_sql(
      step, R"(
    SELECT c.id, COALESCE(c.cluster, c.n) AS c, COALESCE(c.representative, c.id) AS representative, c.similarity, c.survivor, c.n
    FROM {neardup}.all_clusters(NULL::{id_type}, {query}, {threshold}, {linkage}, {verify}, {verify_threshold},
                                {at_most_apart}{measure})
         WITH ORDINALITY c(id, cluster, representative, similarity, cluster_size, survivor, n))",
      {{"id_type", clustered_id_type(step)},
       {"query", Literal(rows_to_cluster(step, part).text())},
       {"threshold", Literal::number(row.threshold)},
       {"linkage", Literal(row.linkage)},
       {"verify", Literal::or_null(row.verify)},
       {"verify_threshold", std::isnan(row.verify_threshold) ? Literal::null() : Literal::number(row.verify_threshold)},
       {"at_most_apart", row.at_most_apart == nullptr ? Literal::null() : Literal::interval(row.at_most_apart)},
       {"measure", row.compares_sets() ? sql(", {measure}", {{"measure", Literal(row.measure)}}) : sql("")}});
}

Sql cluster_rows(const RefreshStep& step, bool part) {
  return step_sql(step, "CREATE TEMP TABLE {fresh} AS{clusters}", {{"clusters", clusters(step, part)}});
}

Sql analyze_fresh_clusters(const RefreshStep& step) { return step_sql(step, "ANALYZE {fresh}"); }

// Publishing

// An old cluster lives on with its representative, or with the first of its rows that are left.
Sql list_heirs(const RefreshStep& step) {
  return step_sql(step, R"(
    CREATE TEMP TABLE {heirs} AS
    SELECT DISTINCT ON (r.cluster) r.cluster AS old, f.c
    FROM {fresh} f JOIN {result} r ON r.id {same_id} f.id
    ORDER BY r.cluster, r.id {same_id} r.representative DESC, f.n)");
}

Sql number_clusters(const RefreshStep& step) {
  return step_sql(step, R"(
    CREATE TEMP TABLE {ids} AS
    SELECT c, COALESCE(old, $1 - 1 + row_number() OVER (PARTITION BY old IS NULL ORDER BY c)) AS id, old IS NULL AS new
    FROM (SELECT f.c, min(h.old) AS old
          FROM (SELECT DISTINCT c FROM {fresh}) f LEFT JOIN {heirs} h ON h.c = f.c
          GROUP BY f.c) x)");
}

Sql analyze_heirs(const RefreshStep& step) { return step_sql(step, "ANALYZE {heirs}"); }
Sql analyze_numbers(const RefreshStep& step) { return step_sql(step, "ANALYZE {ids}"); }
Sql analyze_results(const RefreshStep& step) { return step_sql(step, "ANALYZE {result}"); }

Sql record_changes(const RefreshStep& step, bool part) {
  return step_sql(step, R"(
    INSERT INTO {changes} (refresh, change, cluster, other)
    SELECT $1, 'merged', i.id, h.old FROM {heirs} h JOIN {ids} i ON i.c = h.c WHERE i.id <> h.old
    UNION ALL
    SELECT DISTINCT $1, 'split', i.id, r.cluster
    FROM {fresh} f JOIN {ids} i ON i.c = f.c AND i.new JOIN {result} r ON r.id {same_id} f.id
    UNION ALL
    SELECT DISTINCT $1, 'gone', r.cluster, NULL::bigint
    FROM {result} r
    WHERE {is_looked_at} AND NOT EXISTS (SELECT FROM {heirs} h WHERE h.old = r.cluster))",
                  {{"is_looked_at", part ? is_gone(step, part) : sql("true")}});
}

Sql delete_gone_results(const RefreshStep& step, bool part) {
  return step_sql(step, "DELETE FROM {result} r WHERE {is_gone}", {{"is_gone", is_gone(step, part)}});
}

Sql is_result_empty(const RefreshStep& step) { return step_sql(step, "SELECT NOT EXISTS (SELECT FROM {result})"); }

Sql write_first_results(const RefreshStep& step) {
  const WithinSql within = within_sql(step);
  return step_sql(step, R"(
    INSERT INTO {result} (id, cluster, representative, similarity, survivor, found_at{within_names})
    SELECT f.id, i.id, f.representative, f.similarity, f.survivor, now(){within_values}
    FROM {fresh} f JOIN {ids} i ON i.c = f.c{within_join})",
                  {{"within_names", within.names}, {"within_values", within.values}, {"within_join", within.join}});
}

Sql write_results(const RefreshStep& step) {
  const WithinSql within = within_sql(step);
  return step_sql(step, R"(
    INSERT INTO {result} AS r (id, cluster, representative, similarity, survivor, found_at{within_names})
    SELECT f.id, i.id, f.representative, f.similarity, f.survivor, now(){within_values}
    FROM {fresh} f JOIN {ids} i ON i.c = f.c{within_join} LEFT JOIN {result} o ON o.id {same_id} f.id
    WHERE o.id IS NULL OR (o.cluster, o.survivor) <> (i.id, f.survivor) OR o.similarity IS DISTINCT FROM f.similarity
          OR ROW(o.id, o.representative)::record OPERATOR(pg_catalog.*<>)
             ROW(f.id::{id_type}, f.representative::{id_type})::record{within_differ}
    ON CONFLICT (id) DO UPDATE
    SET id = EXCLUDED.id, cluster = EXCLUDED.cluster, representative = EXCLUDED.representative,
        similarity = EXCLUDED.similarity, survivor = EXCLUDED.survivor,
        found_at = CASE WHEN r.cluster = EXCLUDED.cluster THEN r.found_at ELSE EXCLUDED.found_at END{within_assignments})",
                  {{"id_type", TypeName(step.source.id_type)},
                   {"within_names", within.names},
                   {"within_values", within.values},
                   {"within_join", within.join},
                   {"within_differ", within.differ},
                   {"within_assignments", within.assignments}});
}

// Rows of a cluster that were not looked at go with its representative. The count is computed once: mostly no clusters
// are merged, and then no row of the result is read.
Sql move_rows_of_merged_clusters(const RefreshStep& step) {
  return step_sql(step, R"(
    UPDATE {result} r SET cluster = i.id, found_at = now()
    FROM {heirs} h JOIN {ids} i ON i.c = h.c
    WHERE (SELECT count(*) FROM {heirs} h JOIN {ids} i ON i.c = h.c WHERE i.id <> h.old) > 0
          AND r.cluster = h.old AND i.id <> h.old AND NOT EXISTS (SELECT FROM {fresh} f WHERE f.id {same_id} r.id))");
}

Sql forget_gone_rows(const RefreshStep& step) {
  return step_sql(step, "DELETE FROM {signatures} g WHERE {gone_since}", {{"gone_since", gone_since(step)}});
}
Sql count_new_clusters(const RefreshStep& step) { return step_sql(step, "SELECT count(*) FROM {ids} WHERE new"); }

// The hash of all rows that a refresh writes, in any order.
Sql result_hash(const RefreshStep& step) {
  return sql("bit_xor({hash_of_ids})", {{"hash_of_ids", hash_of_ids(step.source.id_type)}});
}

// All rows that are written were in one of these clusters or are in one that is new.
Sql list_old_clusters(const RefreshStep& step) {
  return step_sql(step, R"(
    CREATE TEMP TABLE {old} AS
    SELECT r.cluster FROM {fresh} f JOIN {result} r ON r.id {same_id} f.id
    UNION
    SELECT r.cluster FROM {signatures} g JOIN {result} r ON r.id {same_id} g.id WHERE {gone_since})",
                  {{"gone_since", gone_since(step)}});
}
Sql list_new_clusters(const RefreshStep& step) {
  return step_sql(step, "INSERT INTO {old} SELECT i.id FROM {ids} i WHERE i.new");
}
Sql analyze_old_clusters(const RefreshStep& step) { return step_sql(step, "ANALYZE {old}"); }

namespace {

// Counts the rows of the clusters in {old} into the result, or out of it. Without rows there is no hash.
Sql count_old_clusters(const RefreshStep& step, Pattern sign) {
  return step_sql(step, R"(
    UPDATE {job} j
    SET (rows, duplicates, clusters, result_hash) =
        (SELECT j.rows {sign} count(*), j.duplicates {sign} count(*) FILTER (WHERE NOT r.survivor),
                j.clusters {sign} count(DISTINCT r.cluster) FILTER (WHERE NOT r.survivor),
                CASE WHEN j.rows {sign} count(*) > 0 THEN COALESCE(j.result_hash, 0) # COALESCE({hash}, 0) END
         FROM {result} r WHERE r.cluster IN (SELECT o.cluster FROM {old} o)))",
                  {{"sign", sql(sign)}, {"hash", result_hash(step)}});
}

}  // namespace

Sql subtract_old_clusters(const RefreshStep& step) { return count_old_clusters(step, "-"); }
Sql add_old_clusters(const RefreshStep& step) { return count_old_clusters(step, "+"); }

}  // namespace neardup
