// drop_duplicates(), rename_duplicates() and pause_duplicates().
#include "pg/jobs/job_arguments.h"

#include "pg/jobs/follow_triggers.h"
#include "pg/jobs/job_lock.h"
#include "pg/sql/drop_tables.h"
#include "pg/sql/new_table.h"
#include "pg/sql/statement_scope.h"

namespace {

using namespace neardup;

// The tables of a job, InvalidOid for those that there are not; then that of the job itself.
struct JobTables {
  Oid tables[kJobParts + 1];

  Oid result() const { return tables[static_cast<int>(JobPart::result)]; }
};
JobTables adopt_tables(Oid job, Oid function) {
  JobTables found = {};
  with_open_job(job, function, [&](const OpenJob& opened) { adopt_parts(opened, found.tables); });
  found.tables[kJobParts] = job;
  return found;
}

// The new name of a job, without a schema.
const char* plain_name(const char* given) {
  const NameParts parts = parts_of_name(given);
  if (parts.count > 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("the new name has no schema: %s", given),
                    errhint("ALTER TABLE .. SET SCHEMA moves a table.")));
  const char* name = TextDatumGetCString(parts.values[0]);
  check_name_length(name, kWhatJobsAre, kMaxJobNameBytes);
  return name;
}

void rename_relation(Oid table, const char* name) {
  run_statement(sql("ALTER TABLE {table} RENAME TO {name}",
                    {{"table", QualifiedName::existing(table)}, {"name", Identifier(name)}}));
  const char* now = get_rel_name(table);
  if (now == nullptr || strcmp(now, name) != 0)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the schema of the tables was renamed concurrently")));
}

void rename_job(const JobTables& job, const char* name) {
  for (int i = 0; i <= kJobParts; ++i) {
    const char* suffix = i < kJobParts ? part_suffix(static_cast<JobPart>(i)) : kJobSuffix;
    if (OidIsValid(job.tables[i])) rename_relation(job.tables[i], psprintf("%s%s", name, suffix));
  }
}

}  // namespace

// drop_duplicates(name text)
SQL_FUNCTION(neardup_drop_duplicates) {
  const Oid job = locked_job_argument(fcinfo, 0);
  const JobTables all = adopt_tables(job, fcinfo->flinfo->fn_oid);
  if (is_own_job(job)) lock_followed_source(job);
  with_statements([&] { drop_tables(all.tables, kJobParts + 1); });
  PG_RETURN_VOID();
}

// rename_duplicates(old text, new text) -> regclass: the result
SQL_FUNCTION(neardup_rename_duplicates) {
  const char* name = plain_name(JobArguments(fcinfo).string(1));
  const Oid job = locked_job_argument(fcinfo, 0);
  const JobTables all = adopt_tables(job, fcinfo->flinfo->fn_oid);
  with_statements([&] { rename_job(all, name); });
  if (!OidIsValid(all.result())) PG_RETURN_NULL();
  PG_RETURN_OID(all.result());
}

// pause_duplicates(name text, paused boolean)
SQL_FUNCTION(neardup_pause_duplicates) {
  const Oid oid = job_argument(fcinfo, 0);
  with_open_job(oid, fcinfo->flinfo->fn_oid, demand_owner);
  const QualifiedName job = QualifiedName::held(oid);
  const SqlValue paused = value(BOOLOID, PG_GETARG_DATUM(1), PG_ARGISNULL(1));
  uint64 rows = 0;
  with_statements([&] { rows = run_statement(sql("UPDATE {job} SET paused = $1", {{"job", job}}), {paused}); });
  if (rows == 0) ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION), errmsg("job %s has no row", job.text())));
  PG_RETURN_VOID();
}
