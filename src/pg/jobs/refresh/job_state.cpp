#include "pg/jobs/refresh/job_state.h"

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
        phase_started = clock_timestamp(), finished = clock_timestamp(), pid = pg_backend_pid(), last_error = NULL,
        filter = $1, deleted = $2, order_by = $3, profile = $8, qualified = true,
        profile_version = CASE WHEN $4 THEN NULL ELSE profile_version END,
        result = COALESCE(result, $5), signatures = COALESCE(signatures, $6), changes = COALESCE(changes, $7))"),
      {value(row.filter), value(row.deleted), value(row.order_by), value(sign_again), relation_value(job.result_oid),
       relation_value(job.signatures_oid), relation_value(job.changes_oid), value(row.profile)});
}

bool enter_phase(const Job& job, const char* phase) {
  return one_bool(job_sql(job, R"(
    WITH entered AS (
        UPDATE {job}
        SET phase_started = CASE WHEN phase = $1 THEN phase_started ELSE clock_timestamp() END, phase = $1,
            finished = clock_timestamp()
        RETURNING paused)
    SELECT COALESCE(bool_or(paused), false) FROM entered)"),
                  {value(phase)});
}

bool follow_source_columns(const Job& job) {
  const JobRow& row = job.row;
  const SqlValue columns = numbered_names(row.source);
  const auto server = static_cast<int64>(GetSystemIdentifier());
  const bool is_known = row.columns != 0;
  if (row.system == server && is_known && datumIsEqual(row.columns, columns.datum, false, -1)) return false;
  const bool changed = row.system != server ||
                       (is_known && !one_bool(sql("SELECT $1 <@ $2"), {value(TEXTARRAYOID, row.columns), columns}));
  update_job(job, "columns = $1, system = $2, resync = resync OR $3", {columns, value(server), value(changed)});
  return changed;
}

void demand_clustering(const Job& job) { update_job(job, "recluster = true"); }

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
