// SQL functions over the tables of jobs: by name, by row, by part, and which tables belong to a job.
#include "pg/jobs/job_lock.h"

#include "pg/base/held_names.h"
#include "pg/base/result_row.h"
#include "pg/jobs/job_table.h"

namespace {

using namespace neardup;

JobPart part_arg(FunctionCallInfo fcinfo, int n, bool* itself) {
  const char* suffix = text_to_cstring(PG_GETARG_TEXT_PP(n));
  *itself = strcmp(suffix, "_job") == 0;
  for (int i = 0; i < kJobParts; ++i)
    if (strcmp(suffix, suffix_of(static_cast<JobPart>(i))) == 0) return static_cast<JobPart>(i);
  if (!*itself)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("suffix must be '', '_signatures', '_changes' or '_job': %s", quote_literal_cstr(suffix))));
  return JobPart::result;
}

}  // namespace

extern "C" {

// neardup_job_table(name text) -> regclass
PG_FUNCTION_INFO_V1(neardup_job_table);
Datum neardup_job_table(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0)) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name must not be NULL")));
  PG_RETURN_OID(job_named(PG_GETARG_TEXT_PP(0), fcinfo->flinfo->fn_oid));
}

// neardup_locked_job(name text) -> regclass
PG_FUNCTION_INFO_V1(neardup_locked_job);
Datum neardup_locked_job(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0)) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name must not be NULL")));
  const Oid function = fcinfo->flinfo->fn_oid;
  const text* name = PG_GETARG_TEXT_PP(0);
  Oid job = job_named(name, function);
  for (;;) {
    // Who may not change a job waits for none and keeps nobody from it.
    demand_update(job);
    LockRelationOid(job, RowShareLock);
    // Another session may have dropped or renamed it before the lock was ours.
    const Oid now = job_named(name, function);
    if (now == job) break;
    UnlockRelationOid(job, RowShareLock);
    job = now;
  }
  lock_job(job, false);
  table_close(open_job(job, function).table, NoLock);
  PG_RETURN_OID(job);
}

// neardup_job_row(job regclass) -> neardup_job
PG_FUNCTION_INFO_V1(neardup_job_row);
Datum neardup_job_row(PG_FUNCTION_ARGS) {
  const OpenJob job = open_job(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid);
  const Datum row = job.row == nullptr ? 0 : value_of(typed_row(job.table, job.row, job.table->rd_rel->reloftype));
  table_close(job.table, NoLock);
  if (job.row == nullptr) PG_RETURN_NULL();
  return row;
}

// neardup_job_name(job regclass) -> text
PG_FUNCTION_INFO_V1(neardup_job_name);
Datum neardup_job_name(PG_FUNCTION_ARGS) {
  const OpenJob job = open_job(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid);
  const char* name = job_name(job.table);
  table_close(job.table, NoLock);
  PG_RETURN_TEXT_P(cstring_to_text(name));
}

// neardup_job_part(job regclass, suffix text) -> text: qualified name of one of the tables of a job
PG_FUNCTION_INFO_V1(neardup_job_part);
Datum neardup_job_part(PG_FUNCTION_ARGS) {
  bool itself;
  const JobPart part = part_arg(fcinfo, 1, &itself);
  const OpenJob job = open_job(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid);
  const char* name = itself ? held_name(RelationGetRelid(job.table)) : nullptr;
  if (!itself) {
    const PartTable found = part_of_job(job.table, job.row, part);
    if (found.belonging == Belonging::none)
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                      errmsg("table \"%s\" of job %s does not exist",
                             suffix_of(part)[0] == '\0' ? "result" : suffix_of(part) + 1, job_name(job.table)),
                      errhint("drop_duplicates() drops what is left of the job.")));
    if (found.belonging == Belonging::stranger)
      ereport(
          ERROR,
          (errcode(ERRCODE_WRONG_OBJECT_TYPE),
           errmsg("table %s does not belong to job %s", qualified_name(found.table), job_name(job.table)),
           errdetail("A job owns the tables that create_duplicates() made with it, while they have the same owner.")));
    name = held_name(found.table);
  }
  table_close(job.table, NoLock);
  PG_RETURN_TEXT_P(cstring_to_text(name));
}

// neardup_held_name(relation regclass) -> text
PG_FUNCTION_INFO_V1(neardup_held_name);
Datum neardup_held_name(PG_FUNCTION_ARGS) { PG_RETURN_TEXT_P(cstring_to_text(held_name(PG_GETARG_OID(0)))); }

// neardup_made_here(name text) -> regclass
PG_FUNCTION_INFO_V1(neardup_made_here);
Datum neardup_made_here(PG_FUNCTION_ARGS) { PG_RETURN_OID(made_here(PG_GETARG_TEXT_PP(0))); }

// neardup_demand_owner(job regclass): an error where the job is that of another role; among superusers it may be
PG_FUNCTION_INFO_V1(neardup_demand_owner);
Datum neardup_demand_owner(PG_FUNCTION_ARGS) {
  const OpenJob job = open_job(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid);
  const char* owner = GetUserNameFromId(job.table->rd_rel->relowner, true);
  const bool own = job.table->rd_rel->relowner == GetUserId() || (has_trusted_owner(job.table) && superuser());
  if (!own)
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("job %s belongs to another role", job_name(job.table)),
             errdetail("Its filter, its order and what is on its tables would run with your rights."),
             owner == nullptr ? 0 : errhint("SET ROLE %s;", quote_identifier(owner))));
  table_close(job.table, NoLock);
  PG_RETURN_VOID();
}

// neardup_job_tables(job regclass) -> result regclass, signatures regclass, changes regclass: those that belong to the
// job. Of a job that the caller owns it is recorded, where it was not: after a dump was restored, or 0.2.0 made the
// job.
PG_FUNCTION_INFO_V1(neardup_job_tables);
Datum neardup_job_tables(PG_FUNCTION_ARGS) {
  const Oid oid = PG_GETARG_OID(0);
  const OpenJob job = open_job(oid, fcinfo->flinfo->fn_oid);
  Datum values[kJobParts] = {};
  bool nulls[kJobParts] = {true, true, true};
  for (int i = 0; i < kJobParts; ++i) {
    PartTable found = part_of_job(job.table, job.row, static_cast<JobPart>(i));
    if (found.belonging == Belonging::like && owns_relation(oid)) {
      LockRelationOid(found.table, AccessShareLock);
      found = part_of_job(job.table, job.row, static_cast<JobPart>(i));
      if (found.belonging == Belonging::like) record_part(oid, found.table);
    }
    nulls[i] = found.belonging == Belonging::none || found.belonging == Belonging::stranger;
    values[i] = ObjectIdGetDatum(found.table);
  }
  table_close(job.table, NoLock);
  return row_datum(fcinfo, values, nulls);
}

}  // extern "C"
