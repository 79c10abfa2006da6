// See open_table.h.
#include "pg/open_table.h"

extern "C" {
#include "access/heapam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "parser/analyze.h"
#include "storage/lock.h"
#include "utils/inval.h"
#include "utils/regproc.h"
#include "utils/relcache.h"
#include "utils/rls.h"
#include "utils/varlena.h"
}

namespace neardup {

namespace {

// On the table, or on all columns, or on any.
bool may_select(Oid relation, AclMaskHow columns) {
  if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return true;
  return pg_attribute_aclcheck_all(relation, GetUserId(), ACL_SELECT, columns) == ACLCHECK_OK;
}

// Locks and opens what exists, whatever it is; its privileges are looked at under the lock.
OpenTable open_locked(Oid oid, Waiting waiting, AclMaskHow columns) {
  if (waiting == Waiting::gives_up && !ConditionalLockRelationOid(oid, AccessShareLock)) return {nullptr, Refusal::locked};
  if (waiting == Waiting::waits) LockRelationOid(oid, AccessShareLock);
  if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(oid))) {
    UnlockRelationOid(oid, AccessShareLock);
    return {nullptr, Refusal::missing};
  }
  Relation relation = relation_open(oid, NoLock);
  if (!may_use_schema(RelationGetNamespace(relation)) || !may_select(oid, columns)) {
    relation_close(relation, AccessShareLock);
    return {nullptr, Refusal::privilege};
  }
  return {relation, Refusal::none};
}

OpenTable refuse(Relation relation, Refusal why) {
  relation_close(relation, AccessShareLock);
  return {nullptr, why};
}

// A valid index of this column alone whose equality is that of the type: a unique one comes first, as none does worse.
Oid index_on(Relation table, AttrNumber column) {
  Oid found = InvalidOid;
  List* indexes = RelationGetIndexList(table);
  ListCell* cell;
  foreach (cell, indexes) {
    Relation index = index_open(lfirst_oid(cell), AccessShareLock);
    const Form_pg_index form = index->rd_index;
    const bool serves = form->indisvalid && form->indisready && !form->indcheckxmin && index->rd_rel->relam == BTREE_AM_OID &&
                        form->indnkeyatts == 1 && form->indkey.values[0] == column && RelationGetIndexPredicate(index) == NIL &&
                        (index->rd_opfamily[0] == INTEGER_BTREE_FAM_OID ||
                         (index->rd_opfamily[0] == TEXT_BTREE_FAM_OID && index->rd_indcollation[0] == C_COLLATION_OID));
    if (serves) found = RelationGetRelid(index);
    index_close(index, AccessShareLock);
    if (OidIsValid(found)) break;
  }
  list_free(indexes);
  return found;
}

// ---- Names in statements ----

// A name that this transaction has put into statements, and the relation that it stood for.
struct HeldName {
  HeldName* next;
  Oid relation;
  int level;          // of the subtransaction
  const char* name;
  const char* written;  // schema.name
};

// In TopTransactionContext.
HeldName* held_names = nullptr;
post_parse_analyze_hook_type next_hook = nullptr;

void forget_names(XactEvent event, void*) {
  if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) held_names = nullptr;
}

// Its locks are gone with it.
void forget_names_of_subtransaction(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
  if (event != SUBXACT_EVENT_ABORT_SUB) return;
  const int level = GetCurrentTransactionNestLevel();
  for (HeldName** at = &held_names; *at != nullptr;) {
    if ((*at)->level >= level) {
      *at = (*at)->next;
    } else {
      at = &(*at)->next;
    }
  }
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
    if (held->relation != relation && strcmp(held->name, name) == 0 && strstr(statement, held->written) != nullptr && !is_held(relation, statement))
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s is another relation by now", held->written),
                      errdetail("It, or its schema, was renamed while this statement was made.")));
}

bool check_names_in(Node* node, void* statement) {
  if (node == nullptr) return false;
  if (IsA(node, RangeTblEntry)) {
    const auto* entry = reinterpret_cast<const RangeTblEntry*>(node);
    if (entry->rtekind == RTE_RELATION) check_name(entry->relid, static_cast<const char*>(statement));
    return false;
  }
  if (IsA(node, Query)) return walk_query(reinterpret_cast<Query*>(node), check_names_in, statement, QTW_EXAMINE_RTES_BEFORE);
  return walk_expression(node, check_names_in, statement);
}

// The query of CREATE TABLE AS or DECLARE CURSOR, which is analysed with the statement; else the query itself.
Query* query_within(Query* query) {
  if (query->commandType != CMD_UTILITY || query->utilityStmt == nullptr) return query;
  Node* within = nullptr;
  if (IsA(query->utilityStmt, CreateTableAsStmt)) within = reinterpret_cast<CreateTableAsStmt*>(query->utilityStmt)->query;
  if (IsA(query->utilityStmt, DeclareCursorStmt)) within = reinterpret_cast<DeclareCursorStmt*>(query->utilityStmt)->query;
  return within != nullptr && IsA(within, Query) ? reinterpret_cast<Query*>(within) : query;
}

// Before views are expanded: what a view reads is the view's.
void check_names(ParseState* state, Query* query, JumbleState* jumble) {
  if (next_hook != nullptr) next_hook(state, query, jumble);
  if (held_names == nullptr || state->p_sourcetext == nullptr) return;
  query = query_within(query);
  check_names_in(reinterpret_cast<Node*>(query), const_cast<char*>(state->p_sourcetext));
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

// Keeps the name of a schema until the transaction ends, by a lock on its row: ALTER TABLE, TRUNCATE and their like look a name up when they are
// run, again after each wait, and are not analysed before. Where nothing may be written there are none of them. False where it is not kept.
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
    const TM_Result result =
        heap_lock_tuple(schemas, &row, GetCurrentCommandId(true), LockTupleKeyShare, LockWaitBlock, false, &buffer, &failure);
    ReleaseBuffer(buffer);
    heap_freetuple(known);
    kept = result == TM_Ok;
    if (result != TM_Updated && result != TM_Deleted) break;
    AcceptInvalidationMessages();  // of who has renamed it
  }
  table_close(schemas, NoLock);
  return kept;
}

// What stands in statements of the time to come; of one name the relation that it was last given for.
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

OpenTable open_table_of(Oid table, Oid row_type, Waiting waiting) {
  const OpenTable opened = open_locked(table, waiting, ACLMASK_ALL);
  if (opened.refusal != Refusal::none) return opened;
  const Form_pg_class form = opened.relation->rd_rel;
  if (form->relkind != RELKIND_RELATION || RELATION_IS_OTHER_TEMP(opened.relation)) return refuse(opened.relation, Refusal::kind);
  if (form->reloftype != row_type) return refuse(opened.relation, Refusal::row_type);
  if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED) return refuse(opened.relation, Refusal::row_security);
  return opened;
}

OpenTable open_readable(Oid relation) {
  const OpenTable opened = open_locked(relation, Waiting::waits, ACLMASK_ANY);
  if (opened.refusal == Refusal::none && RELATION_IS_OTHER_TEMP(opened.relation)) return refuse(opened.relation, Refusal::kind);
  return opened;
}

Oid relation_named(const text* name, const char* suffix) {
  List* parts;
  // to_regclass() has no soft error for what is no name before 16
  if (!SplitIdentifierString(text_to_cstring(name), '.', &parts) || parts == NIL) return InvalidOid;
  List* names = NIL;
  for (int i = 0; i < list_length(parts); ++i) {
    const char* part = static_cast<const char*>(list_nth(parts, i));
    names = lappend(names, makeString(psprintf("%s%s", part, i == list_length(parts) - 1 ? suffix : "")));
  }
  return RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
}

Oid relation_in(Oid schema, const char* name, const char* suffix) {
  const char* full = psprintf("%s%s", name, suffix);
  return strlen(full) < NAMEDATALEN ? get_relname_relid(full, schema) : InvalidOid;
}

Oid type_beside(Oid function, const char* name) {
  const Oid type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(name), ObjectIdGetDatum(get_func_namespace(function)));
  if (!OidIsValid(type))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("the schema of extension neardup has no type \"%s\"", name)));
  return type;
}

const char* qualified_name(Relation relation) {
  return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)), RelationGetRelationName(relation));
}

Datum row_as(Relation table, HeapTuple row, Oid row_type) {
  TupleDesc type = lookup_rowtype_tupdesc_copy(row_type, -1);
  TupleDesc stored = RelationGetDescr(table);
  auto* values = static_cast<Datum*>(palloc0(sizeof(Datum) * static_cast<size_t>(type->natts)));
  auto* nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<size_t>(type->natts)));
  memset(nulls, true, sizeof(bool) * static_cast<size_t>(type->natts));
  int column = 0;
  for (int i = 0; i < type->natts; ++i) {
    if (TupleDescAttr(type, i)->attisdropped) continue;
    while (column < stored->natts && TupleDescAttr(stored, column)->attisdropped) ++column;
    if (column >= stored->natts || TupleDescAttr(stored, column)->atttypid != TupleDescAttr(type, i)->atttypid)
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the columns of table %s are not those of its type", qualified_name(table))));
    ++column;
    values[i] = heap_getattr(row, column, stored, &nulls[i]);
  }
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(type), values, nulls));
}

AttrNumber column_named(Relation table, const char* name) {
  const AttrNumber column = get_attnum(RelationGetRelid(table), name);
  if (column <= 0)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("table %s has no column \"%s\"", qualified_name(table), name)));
  return column;
}

void scan_table(Relation table, const ColumnIs* condition, bool (*on_row)(void* arg, HeapTuple row), void* arg) {
  ScanKeyData key;
  Oid index = InvalidOid;
  if (condition != nullptr) {
    ScanKeyInit(&key, condition->column, BTEqualStrategyNumber, condition->equal, condition->value);
    index = index_on(table, condition->column);
  }
  SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), GetActiveSnapshot(), condition == nullptr ? 0 : 1, &key);
  HeapTuple row;
  while (HeapTupleIsValid(row = systable_getnext(scan))) {
    CHECK_FOR_INTERRUPTS();
    if (!on_row(arg, row)) break;
  }
  systable_endscan(scan);
}

bool has_trusted_owner(Relation relation) {
  const Oid owner = relation->rd_rel->relowner;
  return owner == GetUserId() || superuser_arg(owner);
}

const char* held_name(Oid relation, StatementKind kind) {
  bool kept = false;
  if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)) && may_select(relation, ACLMASK_ANY)) {
    LockRelationOid(relation, AccessShareLock);
    const Oid schema = get_rel_namespace(relation);
    if (kind == StatementKind::any && OidIsValid(schema)) kept = hold_schema(schema);
  }
  const char* name = get_rel_name(relation);
  const char* schema = name == nullptr ? nullptr : get_namespace_name(get_rel_namespace(relation));
  if (schema == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist, or was dropped meanwhile", relation)));
  const char* written = quote_qualified_identifier(schema, name);
  // Nobody else can change a name that is kept; what this session does with it is its own.
  if (!kept) hold(relation, name, written);
  return written;
}

void release_name(Oid relation) {
  for (HeldName** at = &held_names; *at != nullptr;) {
    if ((*at)->relation == relation) {
      *at = (*at)->next;
    } else {
      at = &(*at)->next;
    }
  }
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
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s is another relation by now", text_to_cstring(name)),
                  errdetail("Its schema was renamed while it was made.")));
}

}  // namespace neardup
