// Rows that functions return: their columns by name, one row or a set of them.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Makes the set of a function that returns all its rows at once.
ReturnSetInfo* begin_rows(FunctionCallInfo fcinfo);

// The one row of a function with OUT arguments, as its declared type.
Datum row_datum(FunctionCallInfo fcinfo, const Datum* values, const bool* nulls);

// A row. Column: an enum of the function's columns in their order, and kColumns after the last. What is not set is
// NULL.
template <typename Column>
class ResultRow {
 public:
  ResultRow() { memset(nulls_, true, sizeof nulls_); }

  void set(Column column, Datum value) {
    values_[static_cast<int>(column)] = value;
    nulls_[static_cast<int>(column)] = false;
  }
  bool is_null(Column column) const { return nulls_[static_cast<int>(column)]; }
  Datum value(Column column) const { return values_[static_cast<int>(column)]; }  // of a column that is set

  // The row of a function that returns one.
  Datum datum(FunctionCallInfo fcinfo) const { return row_datum(fcinfo, values_, nulls_); }
  // The row as one more of a set.
  void put(ReturnSetInfo* rows) { tuplestore_putvalues(rows->setResult, rows->setDesc, values_, nulls_); }
  HeapTuple tuple(TupleDesc desc) { return heap_form_tuple(desc, values_, nulls_); }

 private:
  static constexpr int kColumnCount = static_cast<int>(Column::kColumns);

  Datum values_[kColumnCount] = {};
  bool nulls_[kColumnCount];
};

}  // namespace neardup
