// Triggers against near copies: neardup_guard() refuses or skips them, neardup_flag() fills a column. Unlike a
// constraint they work on partitioned tables: one prepared query searches all of it, with the rights of who inserts.
#include "pg/triggers/guard.h"
#include "pg/base/expression.h"
#include "pg/base/held_names.h"
#include "pg/base/local_settings.h"

extern "C" {
#include "access/xact.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/hsearch.h"
#include "utils/partcache.h"
}

namespace neardup {
namespace {

constexpr int kMaxParameters = INDEX_MAX_KEYS + 5;

struct Signature {
  bool is_null;
  Datum value;
  MinhashView view;

  // Similar to nothing.
  bool none() const { return is_null || view.empty(); }
};

// The most similar other row.
struct Found {
  bool any;
  double similarity;
  const char* key;  // null: there is none, or it is not for this user to see
  bool flag_is_null;
  Datum flag;  // of the key's type
};

// The prepared queries of a session. Any change of the table or the trigger makes them invalid, and they are prepared
// again.
struct PlanKey {
  Oid trigger;
  bool update;
  bool keyed;  // reads the primary key
  char padding[2];
};
struct PlanEntry {
  PlanKey key;
  SPIPlanPtr plan;
};
HTAB* plans = nullptr;

// Parameters: $1 the lsh_query, $2 the signature; of an UPDATE $3 and $4, where the row was; its primary key; of a
// row that passes_own_copies(), by what others name it.
SPIPlanPtr prepare(const Guard* g, bool update, bool keyed) {
  Relation table = table_open(g->table, AccessShareLock);
  const char* signature = signature_sql(g, table);
  const char* name = held_name(g->table, StatementKind::query);
  table_close(table, AccessShareLock);
  Oid types[kMaxParameters] = {g->query_type, g->minhash_type, TIDOID, OIDOID};
  int n = update ? 4 : 2;
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfo(&sql, "SELECT %s.jaccard(%s, $2)", g->schema, signature);
  if (g->action == GuardAction::flag)
    appendStringInfo(&sql, ", t.%s", quote_identifier(g->flag_key));
  else
    for (int i = 0; keyed && i < g->nkeys; ++i) appendStringInfo(&sql, ", t.%s", quote_identifier(g->keys[i].name));
  appendStringInfo(&sql, " FROM %s t WHERE %s OPERATOR(%s.%%>) $1", name, signature, g->schema);
  if (update)
    appendStringInfoString(&sql, " AND (t.ctid OPERATOR(pg_catalog.<>) $3 OR t.tableoid OPERATOR(pg_catalog.<>) $4)");
  if (keyed) {
    appendStringInfoString(&sql, " AND (");
    for (int i = 0; i < g->nkeys; ++i) {
      types[n++] = g->keys[i].type;
      appendStringInfo(&sql, "%st.%s %s $%d", i == 0 ? "" : " AND ", quote_identifier(g->keys[i].name),
                       operator_sql(g->keys[i].equals), n);
    }
    appendStringInfoString(&sql, ") IS NOT TRUE");
  }
  if (passes_own_copies(g, update)) {
    types[n++] = g->flag_key_type;
    const Oid equals = lookup_type_cache(g->flag_type, TYPECACHE_EQ_OPR)->eq_opr;
    if (OidIsValid(equals))
      appendStringInfo(&sql, " AND (t.%s %s CAST($%d AS %s)) IS NOT TRUE", quote_identifier(g->flag_name),
                       operator_sql(equals), n,
                       // The modifier -1 allows any length: character alone means character(1).
                       format_type_extended(g->flag_type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
  }
  // Among equals the least key, so that the answer does not depend on the plan.
  appendStringInfo(&sql, " ORDER BY %s OPERATOR(%s.<%%>) $2", signature, g->schema);
  for (int i = 0; keyed && i < g->nkeys; ++i) appendStringInfo(&sql, ", t.%s", quote_identifier(g->keys[i].name));
  appendStringInfoString(&sql, " LIMIT 1");
  SPIPlanPtr plan = SPI_prepare_cursor(sql.data, n, types, CURSOR_OPT_GENERIC_PLAN);
  if (plan == nullptr) elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
  return plan;
}

SPIPlanPtr find_plan(const Guard* g, bool update, bool keyed) {
  if (plans == nullptr) {
    HASHCTL control{};
    control.keysize = sizeof(PlanKey);
    control.entrysize = sizeof(PlanEntry);
    plans = hash_create("neardup guards", 16, &control, HASH_ELEM | HASH_BLOBS);
  }
  const PlanKey key = {g->trigger, update, keyed, {}};
  PlanEntry* entry = static_cast<PlanEntry*>(hash_search(plans, &key, HASH_FIND, nullptr));
  if (entry != nullptr) {
    SPIPlanPtr plan = entry->plan;
    if (SPI_plan_is_valid(plan)) return plan;
    hash_search(plans, &key, HASH_REMOVE, nullptr);
    SPI_freeplan(plan);
  }
  SPIPlanPtr plan = prepare(g, update, keyed);
  entry = static_cast<PlanEntry*>(hash_search(plans, &key, HASH_ENTER, nullptr));
  entry->plan = plan;
  SPI_keepplan(plan);
  return plan;
}

bool may_read_keys(const Guard* g) {
  if (g->nkeys == 0) return false;
  if (pg_class_aclcheck(g->table, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return true;
  for (int i = 0; i < g->nkeys; ++i) {
    const AttrNumber number = get_attnum(g->table, g->keys[i].name);
    if (pg_attribute_aclcheck(g->table, number, GetUserId(), ACL_SELECT) != ACLCHECK_OK) return false;
  }
  return true;
}

// Until this transaction ends nobody else searches this table for copies, so that who comes later sees what we insert.
// An advisory lock that pg_advisory_lock() cannot take: class pg_class, sub-id 3.
void lock_searches(const Guard* g) {
  LOCKTAG tag;
  SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, RelationRelationId, g->table, 3);
  LockAcquire(&tag, ExclusiveLock, false, false);
}

// As PostgreSQL writes it: (a, b)=(1, 2)
const char* key_text(const Guard* g, HeapTuple row, TupleDesc desc) {
  StringInfoData text;
  initStringInfo(&text);
  for (int i = 0; i < g->nkeys; ++i)
    appendStringInfo(&text, "%s%s", i == 0 ? "(" : ", ", quote_identifier(g->keys[i].name));
  for (int i = 0; i < g->nkeys; ++i)
    appendStringInfo(&text, "%s%s", i == 0 ? ")=(" : ", ", SPI_getvalue(row, desc, 2 + i));
  appendStringInfoChar(&text, ')');
  return text.data;
}

// Searches for the row in the slot, which is to replace `old` (null: it is new). The result lives as long as the
// caller's context.
Found search(const Guard* g, const Signature& signature, TupleTableSlot* slot, HeapTuple old) {
  MemoryContext caller = CurrentMemoryContext;
  Found found{};
  const bool keyed = may_read_keys(g);
  Datum values[kMaxParameters];
  char nulls[kMaxParameters];
  memset(nulls, ' ', sizeof nulls);
  values[0] = lsh_query_datum({signature.view, Measure::jaccard, g->threshold});
  values[1] = signature.value;
  int n = 2;
  if (old != nullptr) {
    values[n++] = PointerGetDatum(&old->t_self);
    values[n++] = ObjectIdGetDatum(old->t_tableOid);
  }
  bool is_null;
  for (int i = 0; keyed && i < g->nkeys; ++i, ++n) {
    values[n] = slot_getattr(slot, g->keys[i].number, &is_null);
    if (is_null) nulls[n] = 'n';
  }
  if (passes_own_copies(g, old != nullptr)) {
    values[n] = slot_getattr(slot, g->flag_key_number, &is_null);
    if (is_null) nulls[n] = 'n';
  }
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  // Names without a schema in the signature are PostgreSQL's own; functions of users that it calls keep their path.
  const bool any = *namespace_search_path != '\0';
  const CatalogPath settings =
      CatalogPath::begin(any ? psprintf("pg_catalog, %s", namespace_search_path) : "pg_catalog");
  // A plan made while the table was small must not read the whole of it when it has grown.
  settings.set("enable_seqscan", "off");
  settings.set("jit", "off");
  // The plan may be of an earlier transaction, and be made anew by its names.
  held_name(g->table, StatementKind::query);
  // Rows that were committed while we waited for the lock count at every isolation level.
  Snapshot snapshot = IsolationUsesXactSnapshot() ? GetLatestSnapshot() : InvalidSnapshot;
  const int result = SPI_execute_snapshot(find_plan(g, old != nullptr, keyed), values, nulls, snapshot, InvalidSnapshot,
                                          false, false, 1);
  if (result != SPI_OK_SELECT) elog(ERROR, "SPI_execute_snapshot failed: %s", SPI_result_code_string(result));
  release_name(g->table);
  if (SPI_processed > 0) {
    HeapTuple row = SPI_tuptable->vals[0];
    TupleDesc desc = SPI_tuptable->tupdesc;
    found.any = true;
    found.similarity = DatumGetFloat8(SPI_getbinval(row, desc, 1, &is_null));
    MemoryContext spi = MemoryContextSwitchTo(caller);
    if (g->action == GuardAction::flag) {
      const Form_pg_attribute column = TupleDescAttr(desc, 1);
      found.flag = SPI_getbinval(row, desc, 2, &found.flag_is_null);
      if (!found.flag_is_null) found.flag = datumCopy(found.flag, column->attbyval, column->attlen);
    } else if (keyed) {
      found.key = key_text(g, row, desc);
    }
    MemoryContextSwitchTo(spi);
  }
  settings.end();
  SPI_finish();
  return found;
}

[[noreturn]] void refuse(const Guard* g, const Trigger* trigger, const Found& found) {
  Relation table = table_open(g->table, AccessShareLock);
  const char* similarity = DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(found.similarity)));
  const char* threshold = DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(g->threshold)));
  ereport(ERROR, (errcode(ERRCODE_EXCLUSION_VIOLATION),
                  errmsg("new row for relation \"%s\" violates guard \"%s\": it is a near copy of another row",
                         RelationGetRelationName(table), trigger->tgname),
                  found.key != nullptr ? errdetail("Similarity to the row with key %s is %s, threshold is %s.",
                                                   found.key, similarity, threshold)
                                       : errdetail("Similarity is %s, threshold is %s.", similarity, threshold),
                  errtableconstraint(table, trigger->tgname)));
  pg_unreachable();
}

Signature row_signature(const Guard* g, ExprState* expression, TupleTableSlot* slot) {
  Signature s{};
  g->context->ecxt_scantuple = slot;
  s.value = ExecEvalExprSwitchContext(expression, g->context, &s.is_null);
  if (s.is_null) return s;
  MemoryContext old = MemoryContextSwitchTo(g->context->ecxt_per_tuple_memory);
  s.value = PointerGetDatum(PG_DETOAST_DATUM(s.value));
  s.view = minhash_view(reinterpret_cast<struct varlena*>(DatumGetPointer(s.value)));
  MemoryContextSwitchTo(old);
  return s;
}

bool same(const Signature& a, const Signature& b) {
  if (a.is_null || b.is_null) return a.is_null == b.is_null;
  return a.view.size == b.view.size && memcmp(a.view.header, b.view.header, a.view.size) == 0;
}

void check_call(FunctionCallInfo fcinfo, const char* name) {
  if (!CALLED_AS_TRIGGER(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function \"%s\" was not called by trigger manager", name)));
  const TriggerEvent event = reinterpret_cast<TriggerData*>(fcinfo->context)->tg_event;
  if (!TRIGGER_FIRED_BEFORE(event) || !TRIGGER_FIRED_FOR_ROW(event) ||
      !(TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event)))
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function \"%s\" must be fired BEFORE INSERT OR UPDATE, FOR EACH ROW", name)));
}

// True if the row that an UPDATE leaves in the slot belongs to another partition: there it will be an INSERT, after a
// DELETE here.
bool moves_away(const TriggerData* call, TupleTableSlot* slot) {
  if (!call->tg_relation->rd_rel->relispartition) return false;
  EState* state = CreateExecutorState();
  ExprContext* context = GetPerTupleExprContext(state);
  context->ecxt_scantuple = slot;
  const bool stays = ExecCheck(ExecPrepareCheck(RelationGetPartitionQual(call->tg_relation), state), context);
  FreeExecutorState(state);
  return !stays;
}

HeapTuple run_trigger(FunctionCallInfo fcinfo, bool flags) {
  check_call(fcinfo, flags ? "neardup_flag" : "neardup_guard");
  const TriggerData* call = reinterpret_cast<TriggerData*>(fcinfo->context);
  if (fcinfo->flinfo->fn_extra == nullptr) fcinfo->flinfo->fn_extra = make_guard(fcinfo, flags);
  const Guard* g = static_cast<Guard*>(fcinfo->flinfo->fn_extra);
  const bool update = TRIGGER_FIRED_BY_UPDATE(call->tg_event);
  HeapTuple row = update ? call->tg_newtuple : call->tg_trigtuple;
  TupleTableSlot* slot = update ? call->tg_newslot : call->tg_trigslot;
  ResetExprContext(g->context);
  const Signature signature = row_signature(g, g->of_new, slot);
  // A row that was there may stay. But one that would be left out where it moves to is lost, unless the UPDATE is left
  // out here.
  if (update && same(signature, row_signature(g, g->of_old, call->tg_trigslot)) &&
      !(g->action == GuardAction::skip && moves_away(call, slot)))
    return row;
  Found found{};
  if (!signature.none()) {
    lock_searches(g);
    found = search(g, signature, slot, update ? call->tg_trigtuple : nullptr);
  }
  if (g->action == GuardAction::flag) {
    int number = g->flag_number;
    bool is_null = !found.any || found.flag_is_null;
    if (!is_null) {
      g->context->caseValue_datum = found.flag;
      g->context->caseValue_isNull = false;
      found.flag = ExecEvalExprSwitchContext(g->flag_cast, g->context, &is_null);
    }
    return heap_modify_tuple_by_cols(row, RelationGetDescr(call->tg_relation), 1, &number, &found.flag, &is_null);
  }
  if (!found.any) return row;
  if (g->action == GuardAction::refuse) refuse(g, call->tg_trigger, found);
  return nullptr;
}

}  // namespace
}  // namespace neardup

SQL_FUNCTION(neardup_guard) { return PointerGetDatum(neardup::run_trigger(fcinfo, false)); }

SQL_FUNCTION(neardup_flag) { return PointerGetDatum(neardup::run_trigger(fcinfo, true)); }
