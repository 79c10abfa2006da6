// See job_lock.h.
#include "pg/jobs/job_lock.h"

namespace neardup {

namespace {

// No pg_advisory_lock() can have it: those have 1 or 2 as the last field.
constexpr uint16 kLockClass = 3;

}  // namespace

LOCKTAG tag_of_job(Oid job) {
  LOCKTAG tag;
  SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, job, 0, kLockClass);
  return tag;
}

void demand_update(Oid job) {
  const AclResult may = pg_class_aclcheck(job, GetUserId(), ACL_UPDATE);
  if (may != ACLCHECK_OK) aclcheck_error(may, OBJECT_TABLE, get_rel_name(job));
}

void lock_job(Oid job, bool session) {
  demand_update(job);
  const LOCKTAG tag = tag_of_job(job);
  if (LockAcquire(&tag, ExclusiveLock, session, true) == LOCKACQUIRE_NOT_AVAIL)
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("another session is refreshing or changing this job: %s", get_rel_name(job))));
}

}  // namespace neardup
