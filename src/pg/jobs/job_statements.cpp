// See job_statements.h.
#include "pg/jobs/job_statements.h"

#include <cmath>

#include "pg/base/open_table.h"
#include "pg/sql/run_statement.h"

namespace neardup {

namespace {

// ", within_1 AS name, .."
Sql within_columns(const JobRow& row) {
  SqlList columns("");
  for (int i = 0; i < row.n_within; ++i)
    columns.add(sql(", {value} AS {name}",
                    {{"value", Identifier(psprintf("within_%d", i + 1))}, {"name", Identifier(row.within[i])}}));
  return columns.all();
}

// The name of a relation that DROP or ALTER is to find. held_name() on a table in its schema locks the schema's name.
QualifiedName relation_name(Oid relation) {
  const QualifiedName name = QualifiedName::current(relation);
  if (name.text() == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("relation with OID %u does not exist, or was dropped meanwhile", relation)));
  return name;
}

// NULL where JobRow says so.
SqlValue fraction_value(double v) { return std::isnan(v) ? value(FLOAT8OID, 0, true) : value(v); }
SqlValue interval_value(const Interval* v) { return value(INTERVALOID, PointerGetDatum(v), v == nullptr); }
SqlValue version_value(int32 v) { return value(INT4OID, Int32GetDatum(v), v == 0); }
SqlValue type_value(Oid v) { return value(REGTYPEOID, ObjectIdGetDatum(v), !OidIsValid(v)); }

}  // namespace

Sql create_job_table(const Job& job) { return job_sql(job, "CREATE TABLE {job} OF {neardup}.neardup_job"); }

// A publication of all tables lets none be updated that has no key.
Sql identify_job_rows(const Job& job) { return job_sql(job, "ALTER TABLE {job} REPLICA IDENTITY FULL"); }

Sql insert_job_row(const Job& job) {
  return job_sql(job, R"(
    INSERT INTO {job}
      (source, within, result, signatures, changes, refresh, clustered, next_cluster, paused, phase)
    VALUES ($1, $2, $3, $4, $5, 0, 0, 1, false, 'new'))");
}

void store_settings(const Job& job) {
  const JobRow& row = job.row;
  run_statement(
      job_sql(job, R"(
    UPDATE {job}
    SET id = $1, body = $2, signature = $3, threshold = $4, profile = $5, linkage = $6,
        verify = $7, verify_threshold = $8, keep = $9, order_by = $10, at = $11, at_most_apart = $12,
        filter = $13, deleted = $14, profile_version = $15, body_type = $16, resync = $17,
        recluster = true, qualified = true)"),
      {value(row.id), value(row.body), value(row.signature), fraction_value(row.threshold), value(row.profile),
       value(row.linkage), value(row.verify), fraction_value(row.verify_threshold), value(row.keep),
       value(row.order_by), value(row.at), interval_value(row.at_most_apart), value(row.filter), value(row.deleted),
       version_value(row.profile_version), type_value(row.body_type), value(row.resync)});
}

void store_measure(const Job& job) {
  run_statement(job_sql(job, "UPDATE {job} SET measure = $1"), {value(job.row.measure)});
}

Sql create_result_table(const Job& job, const JobSource& source) {
  return job_sql(job, R"(
    CREATE TABLE {result} AS
    SELECT id, NULL::bigint AS cluster, id AS representative, NULL::float8 AS similarity,
           NULL::boolean AS survivor, NULL::timestamptz AS found_at{within}
    FROM ({rows}) l
    WITH NO DATA)",
                 {{"within", within_columns(job.row)}, {"rows", source.rows}});
}

Sql key_result_table(const Job& job) {
  return job_sql(job, R"(
    ALTER TABLE {result}
      ADD PRIMARY KEY (id), ALTER cluster SET NOT NULL, ALTER representative SET NOT NULL,
      ALTER survivor SET NOT NULL, ALTER found_at SET NOT NULL)");
}

Sql index_result_table(const Job& job) { return job_sql(job, "CREATE INDEX ON {result} (cluster)"); }

Sql describe_result_table(const Job& job, const char* given_name) {
  const char* text = psprintf("near duplicates among the rows of %s, kept by refresh_duplicates(%s)",
                              qualified_name(job.row.source), quote_literal_cstr(given_name));
  return job_sql(job, "COMMENT ON TABLE {result} IS {text}", {{"text", Literal(text)}});
}

Sql create_changes_table(const Job& job) {
  return job_sql(job, R"(
    CREATE TABLE {changes}
      (refresh bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), change text NOT NULL,
       cluster bigint NOT NULL, other bigint))");
}

Sql create_passages_table(const Job& job, const QualifiedName& table) {
  return job_sql(job, "CREATE TABLE {table} (number int PRIMARY KEY, windows bigint[] NOT NULL)", {{"table", table}});
}

Sql empty_passages_table(const Job& job) { return job_sql(job, "TRUNCATE {passages}", {{"passages", job.passages}}); }

Sql forget_passages(const Job& job) {
  return job_sql(job, "UPDATE {job} SET passages_key = NULL, passages_rows = NULL");
}

Sql create_signatures_table(const Job& job, const JobSource& source) {
  return job_sql(job, R"(
    CREATE TABLE {signatures} AS
    SELECT id, NULL::{type} AS signature, NULL::uuid AS content, origin, place, version{kept},
           0::bigint AS generation, false AS gone
    FROM ({rows}) l
    WITH NO DATA)",
                 {{"type", signature_type_sql(source.kind, job.neardup)},
                  {"kept", kept_columns(source, "l")},
                  {"rows", source.rows}});
}

Sql key_signatures_table(const Job& job) { return job_sql(job, "ALTER TABLE {signatures} ADD PRIMARY KEY (id)"); }

Sql index_signatures_table(const Job& job) { return job_sql(job, "CREATE INDEX ON {signatures} (generation)"); }

Sql empty_signatures_table(const Job& job) { return job_sql(job, "TRUNCATE {signatures}"); }

Sql change_signature_type(const Job& job, Kind kind) {
  return job_sql(job, "ALTER TABLE {signatures} ALTER signature TYPE {type} USING NULL",
                 {{"type", signature_type_sql(kind, job.neardup)}});
}

Sql drop_index(Oid index) { return sql("DROP INDEX {index}", {{"index", relation_name(index)}}); }

Sql lock_job_row(const QualifiedName& job) { return sql("SELECT FROM {job} FOR UPDATE", {{"job", job}}); }

Sql pause_job(const QualifiedName& job) { return sql("UPDATE {job} SET paused = $1", {{"job", job}}); }

Sql rename_table(Oid table, const char* name) {
  return sql("ALTER TABLE {table} RENAME TO {name}", {{"table", relation_name(table)}, {"name", Identifier(name)}});
}

}  // namespace neardup
