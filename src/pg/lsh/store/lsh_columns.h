// The columns of an index: the values in the last one, the salt of those before it.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "access/skey.h"
}

namespace neardup {

// The values are in the last key column, counted from 0. Those before it hold what a row and a query have to share: a
// hash of them, the salt, is mixed into the row's keys.
inline int value_column(Relation index) { return IndexRelationGetNumberOfKeyAttributes(index) - 1; }

void check_columns(Relation index);

// For table_index_build_scan() that reads the table by an MVCC snapshot and builds nothing. Expressions and predicate
// then run: for a caller with the privileges of the table's owner.
struct IndexInfo* info_for_reading(Relation index);

// The same for a query, which runs with the privileges of a reader: only of those columns, which the query has written
// itself. It runs neither the index's other expressions nor its predicate; so rows beside the predicate are among those
// that are read.
struct IndexInfo* info_of_columns(Relation index, const struct Bitmapset* columns);

struct IndexedRow {
  Datum value;
  bool has_value;  // false: NULL
  bool has_salt;   // false: an equality column is NULL, so that no condition on it is true
  uint64_t salt;   // 40 bits; 0 in an index of one column

  // A row without keys is in the roster alone.
  bool has_keys() const { return has_value && has_salt; }
};
// False: the row is not in the index. In an index of several columns all rows are, since a scan may have conditions on
// the first columns only.
bool indexed_row(Relation index, const Datum* values, const bool* nulls, IndexedRow* row);
// A value of an index whose other columns are not looked at.
inline IndexedRow row_of_value(Datum value) { return {value, true, true, 0}; }

// The salt that a scan's conditions ask for. False: not every equality column has one.
bool salt_of_keys(Relation index, const ScanKeyData* keys, int n, uint64_t* salt);

}  // namespace neardup
