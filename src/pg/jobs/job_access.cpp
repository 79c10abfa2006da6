// See job_access.h.
#include "pg/jobs/job_lock.h"

#include "pg/jobs/job_access.h"

namespace neardup {

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
