// SQL functions over the tables of jobs: by name, by row, by part; the lock of a job.
#include "pg/jobs/job_lock.h"

#include "pg/base/held_names.h"
#include "pg/jobs/refresh/refresh_step.h"

namespace {

using namespace neardup;

JobPart part_arg(FunctionCallInfo fcinfo, int n, bool* itself) {
  const char* suffix = text_to_cstring(PG_GETARG_TEXT_PP(n));
  *itself = strcmp(suffix, kJobSuffix) == 0;
  for (int i = 0; i < kJobParts; ++i)
    if (strcmp(suffix, part_suffix(static_cast<JobPart>(i))) == 0) return static_cast<JobPart>(i);
  if (!*itself)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("suffix must be '', '_signatures', '_changes', '_passages' or '_job': %s",
                           quote_literal_cstr(suffix))));
  return JobPart::result;
}

}  // namespace

// neardup_job_table(name text) -> regclass
SQL_FUNCTION(neardup_job_table) { PG_RETURN_OID(job_argument(fcinfo, 0)); }

// neardup_job_row(job regclass) -> neardup_job
SQL_FUNCTION(neardup_job_row) {
  const OpenJob job = open_job(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid);
  const Datum row = job.row == nullptr ? 0 : row_value(typed_row(job.table, job.row, job.table->rd_rel->reloftype));
  table_close(job.table, NoLock);
  if (job.row == nullptr) PG_RETURN_NULL();
  return row;
}

// neardup_job_part(job regclass, suffix text) -> text: qualified name of one of the tables of a job
SQL_FUNCTION(neardup_job_part) {
  bool itself;
  const JobPart part = part_arg(fcinfo, 1, &itself);
  const OpenJob job = open_job(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid);
  const char* name = held_name(itself ? RelationGetRelid(job.table) : demand_part(job, part));
  table_close(job.table, NoLock);
  PG_RETURN_TEXT_P(cstring_to_text(name));
}

// neardup_job_rows(job regclass) -> text: the query of the rows that the job looks at
SQL_FUNCTION(neardup_job_rows) {
  const CatalogPath path = CatalogPath::begin();
  const RefreshStep step = read_step(read_job(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid));
  path.end();
  PG_RETURN_TEXT_P(cstring_to_text(step.source.rows.text()));
}

// neardup_held_name(relation regclass) -> text
SQL_FUNCTION(neardup_held_name) { PG_RETURN_TEXT_P(cstring_to_text(held_name(PG_GETARG_OID(0)))); }

// neardup_lock_job(job regclass)
SQL_FUNCTION(neardup_lock_job) {
  lock_job(PG_GETARG_OID(0), false);
  PG_RETURN_VOID();
}
