// Tables that are to be made: their names, and what happens where another session makes one of them first.
#pragma once

#include "pg/sql/run_statement.h"

namespace neardup {

// Unquoted. The schema is "pg_temp" for a temporary table.
struct NewName {
  const char* schema;
  const char* name;
};

// The parts of a name as SQL reads it, of type text; an error where it is none, and for null.
struct NameParts {
  Datum* values;
  int count;
};
NameParts parts_of_name(const char* given);

// An error for a name of more bytes. what: it is, "a profile" say, for errors.
void check_name_length(const char* name, const char* what, int most_bytes);

// The name that a user writes as "name" or "schema.name": without a schema, in the one that a table would be made in.
// An error for another number of parts, too.
NewName new_name(const char* given, const char* what, int most_bytes);

// Calls make(), which makes tables of these names. False, and nothing is made, where another session has made one of
// them meanwhile. SPI must be connected, and names mean what they mean in pg_catalog.
bool made_first(std::initializer_list<QualifiedName> tables, void (*make)(void*), void* arg);
template <typename F>
bool made_first(std::initializer_list<QualifiedName> tables, F make) {
  return made_first(
      tables, [](void* arg) { (*static_cast<F*>(arg))(); }, &make);
}

}  // namespace neardup
