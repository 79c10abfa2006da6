// The procedure refresh_duplicates(), which holds the lock of its job from commit to commit.
#include "pg/jobs/job_lock.h"
#include "pg/jobs/job_table.h"
#include "pg/jobs/refresh/refresh.h"
#include "pg/values/old_sql.h"
#include "pg/values/values.h"

extern "C" {
#include "access/xact.h"
}

namespace {

using namespace neardup;

// A lock that outlives the transactions of a refresh must be given back when the last of them ends in an error: once it
// has been rolled back, as the lock manager may be in any state before.
bool left_locked = false;
LOCKTAG left_tag;

void give_back_lock(XactEvent event, void*) {
  if (event != XACT_EVENT_ABORT || !left_locked) return;
  left_locked = false;
  LockRelease(&left_tag, ExclusiveLock, true);
}

void refresh_and_unlock(const RefreshOptions& options) {
  static bool registered = false;
  if (!registered) {
    RegisterXactCallback(give_back_lock, nullptr);
    registered = true;
  }
  PG_TRY();
  { refresh(options); }
  PG_CATCH();
  {
    left_tag = tag_of_job(options.job);
    left_locked = true;
    PG_RE_THROW();
  }
  PG_END_TRY();
  const LOCKTAG tag = tag_of_job(options.job);
  LockRelease(&tag, ExclusiveLock, true);
}

constexpr int kScan = 5;

void check_arguments(FunctionCallInfo fcinfo) {
  demand_arguments(fcinfo, 5);
  for (const int i : {0, 1, 3})
    if (PG_ARGISNULL(i))
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name, batch and commit must not be NULL")));
  if (PG_ARGISNULL(4)) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("rebuild must not be NULL")));
  if (PG_NARGS() > kScan && PG_ARGISNULL(kScan))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("scan must not be NULL")));
  if (PG_GETARG_INT32(1) < 1)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("batch must be at least 1: %d", PG_GETARG_INT32(1))));
  if (!PG_ARGISNULL(2)) check_not_negative("time_limit", PG_GETARG_INTERVAL_P(2));
  if (PG_GETARG_BOOL(3) && !may_commit(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
                    errmsg("refresh_duplicates cannot run inside a transaction block"),
                    errhint("Call it alone with autocommit on (psycopg: autocommit = True; SQLAlchemy: isolation_level "
                            "AUTOCOMMIT; Django: outside of atomic(); asyncpg: outside of transaction(); pg_cron: one "
                            "statement a job), or pass commit => false.")));
}

// The copy outlives the transaction.
const Interval* copy_interval(const Interval* interval) {
  auto* copy = static_cast<Interval*>(palloc(sizeof(Interval)));
  *copy = *interval;
  return copy;
}

}  // namespace

// refresh_duplicates(name text, batch int, time_limit interval, commit boolean, rebuild boolean, scan boolean)
SQL_FUNCTION(neardup_refresh_duplicates) {
  check_arguments(fcinfo);
  const Oid function = fcinfo->flinfo->fn_oid;
  RefreshOptions options = {};
  options.function = function;
  options.batch = PG_GETARG_INT32(1);
  options.commit = PG_GETARG_BOOL(3);
  options.rebuild = PG_GETARG_BOOL(4);
  options.scan = PG_NARGS() > kScan && PG_GETARG_BOOL(kScan);  // 0.3 has no such argument
  if (SPI_connect_ext(options.commit ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  if (!PG_ARGISNULL(2)) options.time_limit = copy_interval(PG_GETARG_INTERVAL_P(2));
  options.job = job_named(PG_GETARG_TEXT_PP(0), function);
  lock_job(options.job, options.commit);
  if (options.commit) {
    refresh_and_unlock(options);
  } else {
    refresh(options);
  }
  SPI_finish();
  PG_RETURN_NULL();
}
