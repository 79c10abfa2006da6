#include "pg/jobs/job_lock.h"

namespace neardup {

namespace {

// No pg_advisory_lock() can have it: those have 1 or 2 as the last field.
constexpr uint16 kLockClass = 3;

void demand_update(Oid job) {
  const AclResult may = pg_class_aclcheck(job, GetUserId(), ACL_UPDATE);
  if (may != ACLCHECK_OK) aclcheck_error(may, OBJECT_TABLE, get_rel_name(job));
}

}  // namespace

LOCKTAG tag_of_job(Oid job) {
  LOCKTAG tag;
  SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, job, 0, kLockClass);
  return tag;
}

void lock_job(Oid job, bool session) {
  demand_update(job);
  const LOCKTAG tag = tag_of_job(job);
  if (LockAcquire(&tag, ExclusiveLock, session, true) == LOCKACQUIRE_NOT_AVAIL)
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("another session is refreshing or changing this job: %s", get_rel_name(job))));
}

Oid job_argument(FunctionCallInfo fcinfo, int n) {
  return job_named(DatumGetTextPP(argument(fcinfo, n, "name")), fcinfo->flinfo->fn_oid);
}

Oid locked_job_argument(FunctionCallInfo fcinfo, int n) {
  Oid job = job_argument(fcinfo, n);
  for (;;) {
    // Who may not change a job waits for none and keeps nobody from it.
    demand_update(job);
    LockRelationOid(job, RowShareLock);
    // Another session may have dropped or renamed it before the lock was ours.
    const Oid now = job_argument(fcinfo, n);
    if (now == job) break;
    UnlockRelationOid(job, RowShareLock);
    job = now;
  }
  lock_job(job, false);
  table_close(open_job(job, fcinfo->flinfo->fn_oid).table, NoLock);
  return job;
}

}  // namespace neardup
