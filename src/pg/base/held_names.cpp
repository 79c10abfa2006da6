#include "pg/base/held_names.h"

#include "pg/base/open_table.h"

extern "C" {
#include "access/heapam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "parser/analyze.h"
#include "utils/inval.h"
}

namespace neardup {

namespace {

// A name that this transaction has put into statements, and the relation that it stood for.
struct HeldName {
  HeldName* next;
  Oid relation;
  int level;  // of the subtransaction
  char* name;
  char* written;  // schema.name
};

// The list lives in TopTransactionContext.
HeldName* held_names = nullptr;
post_parse_analyze_hook_type next_hook = nullptr;

template <typename Which>
void forget_those(Which which) {
  for (HeldName** at = &held_names; *at != nullptr;) {
    HeldName* held = *at;
    if (!which(held)) {
      at = &held->next;
      continue;
    }
    *at = held->next;
    pfree(held->name);
    pfree(held->written);
    pfree(held);
  }
}

void forget_names(XactEvent event, void*) {
  if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) held_names = nullptr;
}

// Its locks are gone with it.
void forget_names_of_subtransaction(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
  if (event != SUBXACT_EVENT_ABORT_SUB) return;
  const int level = GetCurrentTransactionNestLevel();
  forget_those([=](const HeldName* held) { return held->level >= level; });
}

// Two relations of one name, in two schemas, may both be meant.
bool is_held(Oid relation, const char* statement) {
  for (const HeldName* held = held_names; held != nullptr; held = held->next)
    if (held->relation == relation && strstr(statement, held->written) != nullptr) return true;
  return false;
}

// The relation is locked by the analysis, and keeps its name; its schema may have another by now, so it does not count.
void check_name(Oid relation, const char* statement) {
  const char* name = get_rel_name(relation);
  if (name == nullptr) return;
  for (const HeldName* held = held_names; held != nullptr; held = held->next)
    if (held->relation != relation && strcmp(held->name, name) == 0 && strstr(statement, held->written) != nullptr &&
        !is_held(relation, statement))
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("name %s now refers to a different relation", held->written),
                      errdetail("The relation or its schema was renamed concurrently.")));
}

bool check_names_in(Node* node, void* statement) {
  if (node == nullptr) return false;
  if (IsA(node, RangeTblEntry)) {
    const auto* entry = reinterpret_cast<const RangeTblEntry*>(node);
    if (entry->rtekind == RTE_RELATION) check_name(entry->relid, static_cast<const char*>(statement));
    return false;
  }
  if (IsA(node, Query))
    return walk_query(reinterpret_cast<Query*>(node), check_names_in, statement, QTW_EXAMINE_RTES_BEFORE);
  return walk_expression(node, check_names_in, statement);
}

// The query of CREATE TABLE AS or DECLARE CURSOR, which is analysed with the statement; else the query itself.
Query* query_within(Query* query) {
  if (query->commandType != CMD_UTILITY || query->utilityStmt == nullptr) return query;
  Node* within = nullptr;
  if (IsA(query->utilityStmt, CreateTableAsStmt))
    within = reinterpret_cast<CreateTableAsStmt*>(query->utilityStmt)->query;
  if (IsA(query->utilityStmt, DeclareCursorStmt))
    within = reinterpret_cast<DeclareCursorStmt*>(query->utilityStmt)->query;
  return within != nullptr && IsA(within, Query) ? reinterpret_cast<Query*>(within) : query;
}

// Before views are expanded: what a view reads is the view's.
void check_names(ParseState* state, Query* query, HookJumbleState* jumble) {
  if (next_hook != nullptr) next_hook(state, query, jumble);
  if (held_names == nullptr || state->p_sourcetext == nullptr) return;
  check_names_in(reinterpret_cast<Node*>(query_within(query)), const_cast<char*>(state->p_sourcetext));
}

void begin_holding_names() {
  static bool begun = false;
  if (begun) return;
  RegisterXactCallback(forget_names, nullptr);
  RegisterSubXactCallback(forget_names_of_subtransaction, nullptr);
  next_hook = post_parse_analyze_hook;
  post_parse_analyze_hook = check_names;
  begun = true;
}

// Keeps the name of a schema until the transaction ends, by a lock on its row: ALTER TABLE, TRUNCATE and their like
// look a name up when they are run, again after each wait, and are not analysed before. Where nothing may be written
// there are none of them. False where it is not kept.
bool hold_schema(Oid schema) {
  if (isTempNamespace(schema)) return true;
  if (XactReadOnly || RecoveryInProgress() || IsInParallelMode()) return false;
  bool kept = false;
  Relation schemas = table_open(NamespaceRelationId, RowShareLock);
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    HeapTuple known = SearchSysCacheCopy1(NAMESPACEOID, ObjectIdGetDatum(schema));
    if (!HeapTupleIsValid(known)) break;
    HeapTupleData row = *known;
    Buffer buffer;
    TM_FailureData failure;
    const TM_Result result = heap_lock_tuple(schemas, &row, GetCurrentCommandId(true), LockTupleKeyShare, LockWaitBlock,
                                             false, &buffer, &failure);
    ReleaseBuffer(buffer);
    heap_freetuple(known);
    kept = result == TM_Ok;
    if (result != TM_Updated && result != TM_Deleted) break;
    AcceptInvalidationMessages();  // of who has renamed it
  }
  table_close(schemas, NoLock);
  return kept;
}

// Holds a name that later statements contain, as the relation that it was last given for.
void hold(Oid relation, const char* name, const char* written) {
  begin_holding_names();
  for (HeldName* held = held_names; held != nullptr; held = held->next) {
    if (strcmp(held->written, written) != 0) continue;
    held->relation = relation;
    return;
  }
  MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
  auto* held = static_cast<HeldName*>(palloc(sizeof(HeldName)));
  *held = {held_names, relation, GetCurrentTransactionNestLevel(), pstrdup(name), pstrdup(written)};
  held_names = held;
  MemoryContextSwitchTo(old);
}

}  // namespace

const char* held_name(Oid relation, StatementKind kind) {
  bool kept = false;
  if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)) && may_select(relation, ACLMASK_ANY)) {
    LockRelationOid(relation, AccessShareLock);
    const Oid schema = get_rel_namespace(relation);
    if (kind == StatementKind::any && OidIsValid(schema)) kept = hold_schema(schema);
  }
  const char* written = qualified_name(relation);
  if (written == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("relation with OID %u does not exist, or was dropped meanwhile", relation)));
  // Nobody else can change a name that is kept; what this session does with it is its own.
  if (!kept) hold(relation, get_rel_name(relation), written);
  return written;
}

void release_name(Oid relation) {
  forget_those([=](const HeldName* held) { return held->relation == relation; });
}

Oid made_here(const text* name) {
  const Oid oid = relation_named(name);
  if (OidIsValid(oid)) {
    Relation relation = relation_open(oid, AccessShareLock);
    const bool ours = relation->rd_createSubid != InvalidSubTransactionId;
    relation_close(relation, NoLock);
    if (ours) {
      held_name(oid);
      if (relation_named(name) == oid) return oid;  // under the name that is kept now
    }
  }
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("name %s now refers to a different relation", text_to_cstring(name)),
                  errdetail("The schema was renamed concurrently.")));
}

}  // namespace neardup
