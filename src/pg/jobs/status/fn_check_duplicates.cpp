// check_duplicates(job): the differences between the result of a job and the signatures of its rows; with follow =>
// 'trigger' also between its source and what is signed or queued.
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/base/result_row.h"
#include "pg/sql/run_statement.h"

namespace {

using namespace neardup;

// Values as text by their output function: a cast to text may be another role's.
Sql differing_values(const RefreshStep& step, const Identifier& column) {
  return step_sql(step, R"(
      SELECT r.id, {what}, format('%s', r.{column}), format('%s', s.{column})
      FROM {result} r JOIN should s ON s.id {same_id} r.id
      WHERE format('%s', r.{column}) <> format('%s', s.{column}))",
                  {{"what", Literal(column.text())}, {"column", column}});
}

Sql differences(const RefreshStep& step) {
  SqlList values("\n      UNION ALL");
  for (const char* column : {"id", "representative", "similarity", "survivor"})
    values.add(differing_values(step, Identifier(column)));
  return step_sql(step, R"(
    WITH should AS MATERIALIZED ({clusters})
    SELECT format('%s', d.id), d.what, d."is", d.should
    FROM (SELECT s.id, 'row' AS what, 'missing' AS "is", 'present' AS should
          FROM should s WHERE NOT EXISTS (SELECT FROM {result} r WHERE r.id {same_id} s.id)
          UNION ALL
          SELECT r.id, 'row', 'present', 'missing'
          FROM {result} r WHERE NOT EXISTS (SELECT FROM should s WHERE s.id {same_id} r.id)
          UNION ALL{values}
          UNION ALL
          SELECT r.id, 'cluster', r.cluster::text, h.cluster::text
          FROM {result} r JOIN should s ON s.id {same_id} r.id JOIN {result} h ON h.id {same_id} s.representative
          WHERE r.cluster <> h.cluster) d)",
                  {{"clusters", clusters(step, false)}, {"values", values.all()}});
}

void put_rows(const Sql& query, ReturnSetInfo* rows) {
  for_each_row(query, {}, [&](HeapTuple tuple, TupleDesc desc) { put_columns(rows, tuple, desc); });
}

}  // namespace

// check_duplicates(name text) -> setof (id text, what text, "is" text, should text)
SQL_FUNCTION(neardup_check_duplicates) {
  const Oid function = fcinfo->flinfo->fn_oid;
  ReturnSetInfo* rows = begin_rows(fcinfo);
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  const Oid job = job_named(PG_GETARG_TEXT_PP(0), function);
  const CatalogPath path = CatalogPath::begin();
  const RefreshStep step = read_step(read_own_job(job, function));
  put_rows(differences(step), rows);
  if (step.row().follows() && !step.row().scan) put_rows(list_unqueued_changes(step), rows);
  path.end();
  SPI_finish();
  return static_cast<Datum>(0);
}
