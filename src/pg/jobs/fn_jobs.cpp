// What the jobs of sql/install/86_jobs.sql cannot do in SQL: a procedure that holds a lock from commit to commit,
// hashes of documents.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/signature/margin.h"
#include "core/signature/minhash.h"
#include "pg/jobs/job_lock.h"
#include "pg/jobs/job_table.h"
#include "pg/values/values.h"

extern "C" {
#include "access/xact.h"
#include "utils/uuid.h"
}

namespace {

using namespace neardup;

Datum uuid_of(const void* data, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  auto* uuid = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
  static_assert(sizeof canonical.digest == UUID_LEN);
  memcpy(uuid->data, canonical.digest, UUID_LEN);
  return UUIDPGetDatum(uuid);
}

// A lock that outlives the transactions of a refresh must be given back when the last of them ends in an error: once it
// has been rolled back, as the lock manager may be in any state before.
bool left_locked = false;
LOCKTAG left_tag;

void give_back_lock(XactEvent event, void*) {
  if (event != XACT_EVENT_ABORT || !left_locked) return;
  left_locked = false;
  LockRelease(&left_tag, ExclusiveLock, true);
}

void run_refresh(const char* schema, Oid job, FunctionCallInfo fcinfo, bool commit) {
  const char* limit = "NULL";
  if (!PG_ARGISNULL(2))
    limit = quote_literal_cstr(DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(2))));
  const char* sql = psprintf("CALL %s.neardup_refresh('%u'::pg_catalog.regclass, %d, %s::pg_catalog.interval, %s)",
                             schema, job, PG_GETARG_INT32(1), limit, commit ? "true" : "false");
  SPIExecuteOptions options = {};
  options.allow_nonatomic = commit;
  const int rc = SPI_execute_extended(sql, &options);
  if (rc != SPI_OK_UTILITY) elog(ERROR, "neardup_refresh() failed: %s", SPI_result_code_string(rc));
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(content_hash_text);
Datum content_hash_text(PG_FUNCTION_ARGS) {
  const Utf8 doc = utf8_of(PG_GETARG_TEXT_PP(0));
  return uuid_of(doc.data, doc.size);
}

PG_FUNCTION_INFO_V1(content_hash_bytea);
Datum content_hash_bytea(PG_FUNCTION_ARGS) {
  const bytea* bytes = PG_GETARG_BYTEA_PP(0);
  return uuid_of(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

PG_FUNCTION_INFO_V1(neardup_search_threshold);
Datum neardup_search_threshold(PG_FUNCTION_ARGS) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  const double threshold = PG_GETARG_FLOAT8(1);
  check_threshold(threshold);
  double bound = 0;
  call_core([&] {
    const uint32_t need = matches_with_recall(threshold, kVerifyRecall, signature.num_perm(), signature.bits());
    bound = estimate_jaccard(need, signature.num_perm(), signature.bits());
  });
  PG_RETURN_FLOAT8(Max(bound, 0.01));
}

PG_FUNCTION_INFO_V1(neardup_lock_job);
Datum neardup_lock_job(PG_FUNCTION_ARGS) {
  lock_job(PG_GETARG_OID(0), false);
  PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(neardup_refresh_duplicates);
Datum neardup_refresh_duplicates(PG_FUNCTION_ARGS) {
  static bool registered = false;
  for (int i = 0; i < 4; ++i)
    if (i != 2 && PG_ARGISNULL(i))
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name, batch and commit must not be NULL")));
  if (PG_GETARG_INT32(1) < 1)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("batch must be at least 1: %d", PG_GETARG_INT32(1))));
  const bool commit = PG_GETARG_BOOL(3);
  if (commit && !may_commit(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
                    errmsg("refresh_duplicates cannot run inside a transaction block"),
                    errhint("Call it alone with autocommit on (psycopg: autocommit = True; SQLAlchemy: isolation_level "
                            "AUTOCOMMIT; pg_cron: one statement a job), or pass commit => false.")));
  if (!registered) {
    RegisterXactCallback(give_back_lock, nullptr);
    registered = true;
  }
  const char* schema = quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
  if (SPI_connect_ext(commit ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  const Oid job = job_named(PG_GETARG_TEXT_PP(0), fcinfo->flinfo->fn_oid);
  lock_job(job, commit);
  if (!commit) {
    run_refresh(schema, job, fcinfo, commit);
  } else {
    PG_TRY();
    { run_refresh(schema, job, fcinfo, commit); }
    PG_CATCH();
    {
      left_tag = tag_of_job(job);
      left_locked = true;
      PG_RE_THROW();
    }
    PG_END_TRY();
    const LOCKTAG tag = tag_of_job(job);
    LockRelease(&tag, ExclusiveLock, true);
  }
  SPI_finish();
  PG_RETURN_NULL();
}

}  // extern "C"
