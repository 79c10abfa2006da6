// The rows of a query that a caller hands over as text, their columns as text.
#pragma once

#include "pg/sql/statement.h"

namespace neardup {

// One character more is read of a longer value, which shows that it is longer.
inline constexpr int kMostCharacters = 100'000;

// The columns that a query must return, or more.
struct WantedColumns {
  const char* query;  // how errors name it
  int count;
  const char* count_word;
  const char* names;
};

class TextRows {
 public:
  // An error that names the query unless it is one statement that only reads, and returns such columns. internal: see
  // internal_schema().
  static TextRows open(const char* query, const WantedColumns& wanted, const Identifier& internal);

  // The next row; false at the end. The one before is gone.
  bool next();
  void close();

  // The value of the row at hand; column from 0. Null where it is NULL.
  const text* value(int column) const;
  Oid type(int column) const;

 private:
  explicit TextRows(Portal portal) : portal_(portal) {}

  Portal portal_;
};

}  // namespace neardup
