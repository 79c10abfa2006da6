// Tables that users name: a name is looked up once, the table is opened by its OID under a lock, and what it is and who
// may read it is checked under that lock. It is then read through the open relation. What was learned before the lock,
// a name least of all, is not used after it: meanwhile another session may have put a view, with functions of its own,
// in the place of the table.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "access/relation.h"
}

namespace neardup {

enum class Refusal : uint8_t {
  none,
  missing,       // no such relation, or no longer
  locked,        // another session has it, and it is not waited for
  kind,          // not a plain table, or one of another session
  row_type,      // a table, but not of the type
  privilege,     // the caller lacks SELECT on it, or USAGE on its schema
  row_security,  // policies would decide what the caller sees
};

// relation: open, and locked in AccessShareLock until the transaction ends; null where it is refused.
struct OpenTable {
  Relation relation;
  Refusal refusal;
};

enum class Waiting : uint8_t { waits, gives_up };

// A plain table OF row_type that the caller may read, all of it, as it is stored.
OpenTable open_typed_table(Oid table, Oid row_type, Waiting waiting = Waiting::waits);

// The same lock, for relations that are asked by a query, whose rows and columns the query's own privileges and row
// security decide: SELECT on one column is enough.
OpenTable open_readable(Oid relation);

// True if relations of this relkind have rows that a query may read: tables, views, foreign tables.
bool has_rows(char kind);

// True if the caller may read the table, or all of its columns, or any of them.
bool may_select(Oid relation, AclMaskHow columns);

// True if the caller may read the table, and row security hides nothing of it from him.
bool may_read_all(Relation table);

// An error for a text of so many bytes, which is to be a name with or without its schema, where none is so long. Before
// anything reads it: SQL's readers of names take a time that grows with the square of the length, and cannot be
// cancelled meanwhile.
void check_name_bytes(size_t bytes);

// The relation of this name, `suffix` added to its last part, in the caller's search_path; InvalidOid where there is
// none, an error for a text that is too long for a name. Not locked.
Oid relation_named(const text* name, const char* suffix = "");

// The relation of a name in a schema; InvalidOid where there is none.
Oid relation_in(Oid schema, const char* name, const char* suffix);

// InvalidOid where there is no such relation.
Oid relation_owner(Oid relation);

// "schema.name", quoted where it must be, for messages; null where there is no such relation.
const char* qualified_name(Oid relation);
inline const char* qualified_name(Relation relation) { return qualified_name(RelationGetRelid(relation)); }

// The columns of a row as those of its composite type, in the order of the type.
struct TypedRow {
  TupleDesc desc;
  Datum* values;
  bool* nulls;
};
TypedRow typed_row(Relation table, HeapTuple row, Oid row_type);
inline Datum row_value(const TypedRow& row) {
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row.desc), row.values, row.nulls));
}

// The column of this name; an error where there is none.
AttrNumber column_named(Relation table, const char* name);

// Equality of a column and a value, for a scan.
struct ColumnIs {
  AttrNumber column;
  RegProcedure equal;  // F_INT4EQ or F_TEXTEQ
  Datum value;
};

// The rows of an open table under the active snapshot, in no order; by an index where one serves the condition. Until
// on_row returns false.
void scan_table(Relation table, const ColumnIs* condition, bool (*on_row)(void* arg, HeapTuple row), void* arg);

template <typename OnRow>
void scan_table(Relation table, const ColumnIs* condition, OnRow on_row) {
  scan_table(
      table, condition, [](void* arg, HeapTuple row) { return (*static_cast<OnRow*>(arg))(row); }, &on_row);
}

// A copy of the first row of an open table; null where it has none.
HeapTuple first_row(Relation table);

// True if what the relation's owner has put on it, a policy, a trigger, an expression, may run with the caller's
// rights: it is his own, or a superuser's.
bool has_trusted_owner(Relation relation);

}  // namespace neardup
