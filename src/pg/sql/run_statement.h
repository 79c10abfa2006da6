// Running statements of ours. SPI must be connected. They run with the caller's rights and search_path;
// CatalogPath gives them pg_catalog alone.
#pragma once

#include <initializer_list>

#include "pg/base/local_settings.h"
#include "pg/sql/statement.h"

namespace neardup {

// A parameter: $1 is the first.
struct SqlValue {
  Oid type;
  Datum datum;
  bool is_null;
};
inline SqlValue value(bool v) { return {BOOLOID, BoolGetDatum(v), false}; }
inline SqlValue value(int32 v) { return {INT4OID, Int32GetDatum(v), false}; }
inline SqlValue value(int64 v) { return {INT8OID, Int64GetDatum(v), false}; }
inline SqlValue value(double v) { return {FLOAT8OID, Float8GetDatum(v), false}; }
inline SqlValue relation_value(Oid v) { return {REGCLASSOID, ObjectIdGetDatum(v), false}; }
// text; NULL where it is null
SqlValue value(const char* v);
inline SqlValue value(Oid type, Datum v, bool is_null = false) { return {type, v, is_null}; }

// Runs the statement; the number of rows that it has returned or changed.
uint64 run_statement(const Sql& statement, std::initializer_list<SqlValue> values = {});

// The one value of the one row that a query returns; an error of ours where it returns none. NULL where is_null is not
// null, else an error of ours, too. In the current memory context.
Datum one_value(const Sql& query, std::initializer_list<SqlValue> values = {}, bool* is_null = nullptr);
inline int64 one_int64(const Sql& query, std::initializer_list<SqlValue> values = {}) {
  return DatumGetInt64(one_value(query, values));
}
inline bool one_bool(const Sql& query, std::initializer_list<SqlValue> values = {}) {
  return DatumGetBool(one_value(query, values));
}

// Calls on_row(tuple, desc) for each row that a query returns.
void for_each_row(const Sql& query, std::initializer_list<SqlValue> values,
                  void (*on_row)(void* arg, HeapTuple tuple, TupleDesc desc), void* arg);
template <typename OnRow>
void for_each_row(const Sql& query, std::initializer_list<SqlValue> values, OnRow on_row) {
  for_each_row(
      query, values, [](void* arg, HeapTuple tuple, TupleDesc desc) { (*static_cast<OnRow*>(arg))(tuple, desc); },
      &on_row);
}

// Puts such a row into the set of a function: as many columns as the set has, of the same types.
void put_columns(ReturnSetInfo* rows, HeapTuple tuple, TupleDesc desc);

// Runs f() in a subtransaction. Null where it has ended well; else what it raised, in the current memory context, with
// all that it did undone. An error that asks for the end of the session's work, cancellation or shutdown, is raised
// again.
ErrorData* run_undoing(void (*f)(void*), void* arg);
template <typename F>
ErrorData* run_undoing(F f) {
  return run_undoing([](void* arg) { (*static_cast<F*>(arg))(); }, &f);
}

}  // namespace neardup
