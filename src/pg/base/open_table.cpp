#include "pg/base/open_table.h"

extern "C" {
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "utils/regproc.h"
#include "utils/relcache.h"
#include "utils/rls.h"
#include "utils/varlena.h"
}

namespace neardup {

namespace {

// database.schema.table, each part of NAMEDATALEN - 1 bytes, all of them quotes that are doubled, between quotes.
constexpr size_t kMostNameText = 3 * (2 * NAMEDATALEN) + 2;

// Locks and opens what exists, whatever it is; its privileges are looked at under the lock.
OpenTable open_locked(Oid oid, Waiting waiting, AclMaskHow columns) {
  if (waiting == Waiting::gives_up && !ConditionalLockRelationOid(oid, AccessShareLock))
    return {nullptr, Refusal::locked};
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

// A valid index of this column alone, by the equality that scan_table() asks for; InvalidOid where there is none.
Oid index_on(Relation table, AttrNumber column) {
  Oid found = InvalidOid;
  List* indexes = RelationGetIndexList(table);
  ListCell* cell;
  foreach (cell, indexes) {
    Relation index = index_open(lfirst_oid(cell), AccessShareLock);
    const Form_pg_index form = index->rd_index;
    const bool serves = form->indisvalid && form->indisready && !form->indcheckxmin &&
                        index->rd_rel->relam == BTREE_AM_OID && form->indnkeyatts == 1 &&
                        form->indkey.values[0] == column && RelationGetIndexPredicate(index) == NIL &&
                        (index->rd_opfamily[0] == INTEGER_BTREE_FAM_OID ||
                         (index->rd_opfamily[0] == TEXT_BTREE_FAM_OID && index->rd_indcollation[0] == C_COLLATION_OID));
    if (serves) found = RelationGetRelid(index);
    index_close(index, AccessShareLock);
    if (OidIsValid(found)) break;
  }
  list_free(indexes);
  return found;
}

}  // namespace

bool may_select(Oid relation, AclMaskHow columns) {
  if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return true;
  return pg_attribute_aclcheck_all(relation, GetUserId(), ACL_SELECT, columns) == ACLCHECK_OK;
}

OpenTable open_typed_table(Oid table, Oid row_type, Waiting waiting) {
  const OpenTable opened = open_locked(table, waiting, ACLMASK_ALL);
  if (opened.refusal != Refusal::none) return opened;
  const Form_pg_class form = opened.relation->rd_rel;
  if (form->relkind != RELKIND_RELATION || RELATION_IS_OTHER_TEMP(opened.relation))
    return refuse(opened.relation, Refusal::kind);
  if (form->reloftype != row_type) return refuse(opened.relation, Refusal::row_type);
  if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED) return refuse(opened.relation, Refusal::row_security);
  return opened;
}

OpenTable open_readable(Oid relation) {
  const OpenTable opened = open_locked(relation, Waiting::waits, ACLMASK_ANY);
  if (opened.refusal == Refusal::none && RELATION_IS_OTHER_TEMP(opened.relation))
    return refuse(opened.relation, Refusal::kind);
  return opened;
}

bool may_read_all(Relation table) {
  const Oid oid = RelationGetRelid(table);
  return pg_class_aclcheck(oid, GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
         check_enable_rls(oid, InvalidOid, true) != RLS_ENABLED;
}

void check_name_bytes(size_t bytes) {
  if (bytes > kMostNameText)
    ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG),
                    errmsg("a name with its schema has at most %zu bytes: this one has %zu", kMostNameText, bytes)));
}

Oid relation_named(const text* name, const char* suffix) {
  check_name_bytes(VARSIZE_ANY_EXHDR(name));
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

bool has_rows(char kind) {
  return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_VIEW ||
         kind == RELKIND_MATVIEW || kind == RELKIND_FOREIGN_TABLE;
}

Oid relation_owner(Oid relation) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
  ReleaseSysCache(tuple);
  return owner;
}

const char* qualified_name(Oid relation) {
  const char* name = get_rel_name(relation);
  const char* schema = name == nullptr ? nullptr : get_namespace_name(get_rel_namespace(relation));
  return schema == nullptr ? nullptr : quote_qualified_identifier(schema, name);
}

TypedRow typed_row(Relation table, HeapTuple row, Oid row_type) {
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
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("the columns of table %s are not those of its type", qualified_name(table))));
    ++column;
    values[i] = heap_getattr(row, column, stored, &nulls[i]);
  }
  return {type, values, nulls};
}

AttrNumber column_named(Relation table, const char* name) {
  const AttrNumber column = get_attnum(RelationGetRelid(table), name);
  if (column <= 0)
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("table %s has no column \"%s\"", qualified_name(table), name)));
  return column;
}

void scan_table(Relation table, const ColumnIs* condition, bool (*on_row)(void* arg, HeapTuple row), void* arg) {
  ScanKeyData key;
  Oid index = InvalidOid;
  if (condition != nullptr) {
    ScanKeyInit(&key, condition->column, BTEqualStrategyNumber, condition->equal, condition->value);
    index = index_on(table, condition->column);
  }
  SysScanDesc scan =
      systable_beginscan(table, index, OidIsValid(index), GetActiveSnapshot(), condition == nullptr ? 0 : 1, &key);
  HeapTuple row;
  while (HeapTupleIsValid(row = systable_getnext(scan))) {
    CHECK_FOR_INTERRUPTS();
    if (!on_row(arg, row)) break;
  }
  systable_endscan(scan);
}

HeapTuple first_row(Relation table) {
  HeapTuple first = nullptr;
  scan_table(table, nullptr, [&](HeapTuple row) {
    first = heap_copytuple(row);
    return false;
  });
  return first;
}

bool has_trusted_owner(Relation relation) {
  const Oid owner = relation->rd_rel->relowner;
  return owner == GetUserId() || superuser_arg(owner);
}

}  // namespace neardup
