// What the jobs of sql/install/86_jobs.sql cannot do in SQL: a procedure that holds a lock from commit to commit, the
// check of an expression against one table, hashes of documents.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/margin.h"
#include "core/minhash.h"
#include "pg/expression.h"
#include "pg/values.h"

extern "C" {
#include "access/relation.h"
#include "access/xact.h"
#include "optimizer/optimizer.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "storage/lock.h"
#include "utils/acl.h"
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

// The one expression of "SELECT expression", which reads nothing by itself.
Node* only_expression(const char* source) {
  const ResTarget* target = parse_one_expression(source);
  if (target == nullptr) ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("not a single expression: \"%s\"", source)));
  // as "published desc" is read: the keyword as a name
  if (target->name != nullptr)
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("not an expression alone: \"%s\"", source),
                    errhint("An expression has no ASC or DESC and no name; -extract(epoch FROM published) puts the "
                            "newest first.")));
  return target->val;
}

void name_expression(void* arg) { errcontext("expression \"%s\" of a job", static_cast<const char*>(arg)); }

// The lock of one job: no pg_advisory_lock() can have it, since those have 1 or 2 as the last field.
LOCKTAG tag_of(Oid job) {
  LOCKTAG tag;
  SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, job, 0, 3);
  return tag;
}

void lock_job(Oid job, bool session) {
  // who may not refresh or change a job keeps nobody from it
  const AclResult may = pg_class_aclcheck(job, GetUserId(), ACL_UPDATE);
  if (may != ACLCHECK_OK) aclcheck_error(may, OBJECT_TABLE, get_rel_name(job));
  const LOCKTAG tag = tag_of(job);
  if (LockAcquire(&tag, ExclusiveLock, session, true) == LOCKACQUIRE_NOT_AVAIL)
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("another session is refreshing or changing this job: %s",
                                                                get_rel_name(job))));
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

Oid job_table(const char* schema, Datum name) {
  Oid types[1] = {TEXTOID};
  Datum values[1] = {name};
  const char* sql = psprintf("SELECT %s.neardup_job_table($1)::pg_catalog.oid", schema);
  if (SPI_execute_with_args(sql, 1, types, values, nullptr, false, 1) != SPI_OK_SELECT || SPI_processed != 1)
    elog(ERROR, "neardup_job_table() gave no row");
  bool is_null;
  return DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
}

void run_refresh(const char* schema, Oid job, FunctionCallInfo fcinfo, bool commit) {
  const char* limit = "NULL";
  if (!PG_ARGISNULL(2))
    limit = quote_literal_cstr(DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(2))));
  const char* sql = psprintf("CALL %s.neardup_refresh(%u, %d, %s::pg_catalog.interval, %s)", schema, job,
                             PG_GETARG_INT32(1), limit, commit ? "true" : "false");
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

PG_FUNCTION_INFO_V1(neardup_expression_type);
Datum neardup_expression_type(PG_FUNCTION_ARGS) {
  const Oid table = PG_GETARG_OID(0);
  char* expression = text_to_cstring(PG_GETARG_TEXT_PP(1));
  ErrorContextCallback context = {error_context_stack, name_expression, expression};
  error_context_stack = &context;
  Node* raw = only_expression(expression);
  Relation relation = relation_open(table, AccessShareLock);
  ParseState* state = make_parsestate(nullptr);
  state->p_sourcetext = expression;
  ParseNamespaceItem* item =
      addRangeTableEntryForRelation(state, relation, AccessShareLock, nullptr, false, true);
  addNSItemToQuery(state, item, true, true, true);
  // The kind says what is refused: subqueries, aggregates, window functions, sets.
  Node* node = transformExpr(state, raw, EXPR_KIND_CHECK_CONSTRAINT);
  assign_expr_collations(state, node);
  const Oid type = getBaseType(exprType(node));
  if (contain_volatile_functions(reinterpret_cast<Node*>(expression_planner(reinterpret_cast<Expr*>(node)))))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("volatile functions cannot be used here")));
  free_parsestate(state);
  relation_close(relation, NoLock);
  error_context_stack = context.previous;
  PG_RETURN_OID(type == UNKNOWNOID ? TEXTOID : type);
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
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("batch must be at least 1: %d", PG_GETARG_INT32(1))));
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
  const Oid job = job_table(schema, PG_GETARG_DATUM(0));
  lock_job(job, commit);
  if (!commit) {
    run_refresh(schema, job, fcinfo, commit);
  } else {
    PG_TRY();
    { run_refresh(schema, job, fcinfo, commit); }
    PG_CATCH();
    {
      left_tag = tag_of(job);
      left_locked = true;
      PG_RE_THROW();
    }
    PG_END_TRY();
    const LOCKTAG tag = tag_of(job);
    LockRelease(&tag, ExclusiveLock, true);
  }
  SPI_finish();
  PG_RETURN_NULL();
}

}  // extern "C"
