// The rows of a query that a caller hands over as text, their columns as text.
#pragma once

#include "pg/sql/statement.h"

namespace neardup {

// Of longer values one character more is read, by which they are seen to be longer.
inline constexpr int kMostCharacters = 100'000;

// What a query has to return, or more.
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

  // Of the row at hand; column from 0. Null where it is NULL.
  const text* value(int column) const;
  Oid type(int column) const;

 private:
  explicit TextRows(Portal portal) : portal_(portal) {}

  Portal portal_;
};

}  // namespace neardup
