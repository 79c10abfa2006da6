#include "pg/sql/new_table.h"

#include "pg/base/open_table.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "utils/inval.h"
}

namespace neardup {

namespace {

bool says_that_it_exists(const ErrorData* error) {
  return error->sqlerrcode == ERRCODE_DUPLICATE_TABLE || error->sqlerrcode == ERRCODE_DUPLICATE_OBJECT ||
         error->sqlerrcode == ERRCODE_UNIQUE_VIOLATION;
}

// CREATE TABLE that waited for another session ends in an error of a catalog; what the cache holds is older than that.
bool exists_by_now(const QualifiedName& table) {
  AcceptInvalidationMessages();
  return OidIsValid(relation_named(cstring_to_text(table.text())));
}

}  // namespace

NameParts parts_of_name(const char* given) {
  if (given == nullptr) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name must not be NULL")));
  check_name_bytes(strlen(given));
  const Datum all = DirectFunctionCall2(parse_ident, CStringGetTextDatum(given), BoolGetDatum(true));
  NameParts parts = {};
  deconstruct_array(DatumGetArrayTypeP(all), TEXTOID, -1, false, TYPALIGN_INT, &parts.values, nullptr, &parts.count);
  return parts;
}

void check_name_length(const char* name, const char* what, int most_bytes) {
  if (strlen(name) > static_cast<size_t>(most_bytes))
    ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG),
                    errmsg("the name of %s has at most %d bytes: %s has %zu", what, most_bytes, name, strlen(name))));
}

NewName new_name(const char* given, const char* what, int most_bytes) {
  const NameParts parts = parts_of_name(given);
  if (parts.count > 2)
    ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("the name of %s is a name or schema.name: %s", what, given)));
  char* name = TextDatumGetCString(parts.values[parts.count - 1]);
  check_name_length(name, what, most_bytes);
  const Oid schema = RangeVarGetCreationNamespace(
      makeRangeVar(parts.count == 2 ? TextDatumGetCString(parts.values[0]) : nullptr, name, -1));
  return {isTempNamespace(schema) ? "pg_temp" : get_namespace_name(schema), name};
}

bool made_first(std::initializer_list<QualifiedName> tables, void (*make)(void*), void* arg) {
  ErrorData* error = run_undoing(make, arg);
  if (error == nullptr) return true;
  if (!says_that_it_exists(error)) ReThrowError(error);
  for (const QualifiedName& table : tables)
    if (exists_by_now(table)) return false;
  ReThrowError(error);
}

}  // namespace neardup
