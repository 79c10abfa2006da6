// See job_state.h.
#include "pg/jobs/refresh/job_state.h"

#include "pg/sql/run_statement.h"
#include "pg/values/arrays.h"

extern "C" {
#include "access/relation.h"
#include "access/xlog.h"
}

namespace neardup {

namespace {

// "number name" of each column: text[].
SqlValue numbered_names(Oid source) {
  Relation relation = relation_open(source, AccessShareLock);
  const TupleDesc desc = RelationGetDescr(relation);
  auto* names = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<size_t>(Max(desc->natts, 1))));
  size_t n = 0;
  for (int i = 0; i < desc->natts; ++i) {
    const Form_pg_attribute column = TupleDescAttr(desc, i);
    if (!column->attisdropped)
      names[n++] = CStringGetTextDatum(psprintf("%d %s", column->attnum, NameStr(column->attname)));
  }
  relation_close(relation, NoLock);
  return value(TEXTARRAYOID, array_datum(names, n, TEXTOID));
}

}  // namespace

void begin_refresh(const Job& job, bool sign_again) {
  const JobRow& row = job.row;
  run_statement(
      job_sql(job, R"(
    UPDATE {job}
    SET refresh = refresh + 1, phase = 'listing', done = 0, total = NULL, started = clock_timestamp(),
        phase_started = clock_timestamp(), finished = NULL, pid = pg_backend_pid(), last_error = NULL,
        filter = $1, deleted = $2, order_by = $3, profile = $8, qualified = true,
        profile_version = CASE WHEN $4 THEN NULL ELSE profile_version END,
        result = COALESCE(result, $5), signatures = COALESCE(signatures, $6), changes = COALESCE(changes, $7))"),
      {value(row.filter), value(row.deleted), value(row.order_by), value(sign_again),
       value(REGCLASSOID, ObjectIdGetDatum(job.result_oid)), value(REGCLASSOID, ObjectIdGetDatum(job.signatures_oid)),
       value(REGCLASSOID, ObjectIdGetDatum(job.changes_oid)), value(row.profile)});
}

bool enter_phase(const Job& job, const char* phase) {
  return one_bool(job_sql(job, R"(
    WITH entered AS (
        UPDATE {job}
        SET phase_started = CASE WHEN phase = $1 THEN phase_started ELSE clock_timestamp() END, phase = $1
        RETURNING paused)
    SELECT COALESCE(bool_or(paused), false) FROM entered)"),
                  {value(phase)});
}

void finish_refresh(const Job& job) {
  run_statement(job_sql(job, R"(
    UPDATE {job}
    SET finished = clock_timestamp(), pid = NULL,
        refreshed = clock_timestamp(), took = clock_timestamp() - started, changed = total)"));
}

void interrupt_refresh(const Job& job) {
  run_statement(job_sql(job, "UPDATE {job} SET finished = clock_timestamp(), pid = NULL, phase = 'waiting'"));
}

void fail_refresh(Oid job, const char* message) {
  run_statement(sql("UPDATE {job} SET phase = 'failed', finished = clock_timestamp(), pid = NULL, last_error = $1",
                    {{"job", QualifiedName::held(job)}}),
                {value(message)});
}

bool follow_source_columns(const Job& job) {
  const JobRow& row = job.row;
  const SqlValue columns = numbered_names(row.source);
  const auto server = static_cast<int64>(GetSystemIdentifier());
  const bool is_known = row.columns != 0;
  if (row.system == server && is_known && datumIsEqual(row.columns, columns.datum, false, -1)) return false;
  const bool changed = row.system != server ||
                       (is_known && !one_bool(sql("SELECT $1 <@ $2"), {value(TEXTARRAYOID, row.columns), columns}));
  run_statement(job_sql(job, "UPDATE {job} SET columns = $1, system = $2, resync = resync OR $3"),
                {columns, value(server), value(changed)});
  return changed;
}

void store_signing(const Job& job) {
  run_statement(job_sql(job, "UPDATE {job} SET profile_version = $1, body_type = $2"),
                {value(job.row.profile_version), value(REGTYPEOID, ObjectIdGetDatum(job.row.body_type))});
}

void demand_resync(const Job& job) { run_statement(job_sql(job, "UPDATE {job} SET resync = true, recluster = true")); }

void demand_clustering(const Job& job) { run_statement(job_sql(job, "UPDATE {job} SET recluster = true")); }

void store_synced(const Job& job) { run_statement(job_sql(job, "UPDATE {job} SET resync = false")); }

void store_listed(Job* job, int64 rows) {
  run_statement(job_sql(*job, "UPDATE {job} SET total = $1, done = 0"), {value(rows)});
  job->row.total = rows;
  job->row.done = 0;
}

void store_signed(Job* job, int64 rows) {
  job->row.done = Min(job->row.done + rows, job->row.total);
  run_statement(job_sql(*job, "UPDATE {job} SET done = $1"), {value(job->row.done)});
}

void store_passages_table(const Job& job) {
  run_statement(job_sql(job, "UPDATE {job} SET passages = $1"),
                {value(REGCLASSOID, ObjectIdGetDatum(job.passages_oid))});
}

void store_passages(const Job& job, int64 key, int64 rows) {
  run_statement(job_sql(job, "UPDATE {job} SET passages_key = $1, passages_rows = $2"), {value(key), value(rows)});
}

void store_search_threshold(const Job& job, double threshold) {
  run_statement(job_sql(job, "UPDATE {job} SET search_threshold = $1"), {value(threshold)});
}

void store_nothing_clustered(const Job& job) { run_statement(job_sql(job, "UPDATE {job} SET clustered_rows = 0")); }

void store_clustered(const Job& job, int64 new_clusters, uint64 clustered_rows) {
  run_statement(job_sql(job, R"(
    UPDATE {job}
    SET clustered = refresh, clustered_rows = $2, recluster = false, next_cluster = next_cluster + $1)"),
                {value(new_clusters), value(static_cast<int64>(clustered_rows))});
}

void store_result(const Job& job, const Sql& result_hash) {
  run_statement(job_sql(job, R"(
    UPDATE {job}
    SET (rows, duplicates, clusters, result_hash) =
        (SELECT count(*), count(*) FILTER (WHERE NOT r.survivor),
                count(DISTINCT r.cluster) FILTER (WHERE NOT r.survivor), {hash}
         FROM {result} r))",
                        {{"hash", result_hash}}));
}

bool is_result_changed(const Job& job, const Sql& result_hash) {
  if (!job.row.knows_result) return false;
  return one_bool(job_sql(job, "SELECT $1 IS DISTINCT FROM (SELECT {hash} FROM {result} r)", {{"hash", result_hash}}),
                  {value(job.row.result_hash)});
}

}  // namespace neardup
