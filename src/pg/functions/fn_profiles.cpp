// Profiles and rules that users keep in tables: read as they are stored, whoever owns them.
#include <algorithm>

#include "pg/base/open_table.h"
#include "pg/values/arrays.h"

extern "C" {
#include "catalog/namespace.h"
#include "nodes/makefuncs.h"
}

namespace {

using namespace neardup;

constexpr const char* kNoRules = "none";
constexpr const char* kBuiltInRules = "default";

[[noreturn]] void refuse_privilege(const char* what, const char* name) {
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for %s \"%s\"", what, name)));
  pg_unreachable();
}

// The table of a profile, or null where the name stands for none.
Relation open_profile(const text* name, Oid row_type) {
  const Oid table = relation_named(name);
  if (!OidIsValid(table)) return nullptr;
  const OpenTable opened = open_table_of(table, row_type);
  if (opened.refusal == Refusal::privilege) refuse_privilege("profile", text_to_cstring(name));
  if (opened.refusal == Refusal::row_security)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("profile \"%s\" of another role has row security", text_to_cstring(name))));
  return opened.relation;
}

// The newest version; null where there is none.
HeapTuple newest_version(Relation table) {
  const AttrNumber version = column_named(table, "version");
  HeapTuple newest = nullptr;
  int32 highest = 0;
  scan_table(table, nullptr, [&](HeapTuple row) {
    bool is_null;
    const int32 number = DatumGetInt32(heap_getattr(row, version, RelationGetDescr(table), &is_null));
    if (!is_null && (newest == nullptr || number > highest)) {
      newest = heap_copytuple(row);
      highest = number;
    }
    return true;
  });
  return newest;
}

// Values of a profile's rules that name no table.
bool is_keyword(const char* rules) { return strcmp(rules, kNoRules) == 0 || strcmp(rules, kBuiltInRules) == 0; }

// A name that stands for this relation whatever the search_path; null where there is none.
const char* path_of(Oid relation) {
  if (!OidIsValid(relation)) return nullptr;
  if (!isTempNamespace(get_rel_namespace(relation))) return qualified_name(relation);
  return quote_qualified_identifier("pg_temp", get_rel_name(relation));
}

// Rules that were named without their schema, by 0.2.0, are looked for in the search_path, then beside the profile.
Datum with_schema(Datum rules, Oid profile_schema) {
  const char* name = TextDatumGetCString(rules);
  if (is_keyword(name)) return rules;
  Oid table = relation_named(DatumGetTextPP(rules));
  if (!OidIsValid(table)) table = relation_in(profile_schema, name, "");
  const char* path = path_of(table);
  return path == nullptr ? rules : CStringGetTextDatum(path);
}

struct PlacedRule {
  int32 position;
  uint64 number;  // ties are as they are read
  Datum rule;
};

int by_position(const void* a, const void* b) {
  const auto* x = static_cast<const PlacedRule*>(a);
  const auto* y = static_cast<const PlacedRule*>(b);
  if (x->position != y->position) return x->position < y->position ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

// Rows without a position come last.
constexpr int32 kNoPosition = PG_INT32_MAX;

}  // namespace

extern "C" {

// neardup_profile_row(name text) -> neardup_profile: the newest version; NULL where the name stands for no table of
// profiles
PG_FUNCTION_INFO_V1(neardup_profile_row);
Datum neardup_profile_row(PG_FUNCTION_ARGS) {
  const text* name = PG_GETARG_TEXT_PP(0);
  const Oid row_type = type_beside(fcinfo->flinfo->fn_oid, "neardup_profile");
  Relation table = open_profile(name, row_type);
  if (table == nullptr) PG_RETURN_NULL();
  HeapTuple row = newest_version(table);
  if (row == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("profile \"%s\" has no version", text_to_cstring(name))));
  TypedRow profile = typed_row(table, row, row_type);
  for (int i = 0; i < profile.desc->natts; ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(profile.desc, i);
    if (!column->attisdropped && !profile.nulls[i] && strcmp(NameStr(column->attname), "rules") == 0)
      profile.values[i] = with_schema(profile.values[i], RelationGetNamespace(table));
  }
  const Datum result = value_of(profile);
  table_close(table, NoLock);
  PG_RETURN_DATUM(result);
}

// neardup_rules_named(name text) -> neardup_rule[]: the rows of a table of rules, by position
PG_FUNCTION_INFO_V1(neardup_rules_named);
Datum neardup_rules_named(PG_FUNCTION_ARGS) {
  const text* name = PG_GETARG_TEXT_PP(0);
  const Oid row_type = type_beside(fcinfo->flinfo->fn_oid, "neardup_rule");
  const Oid oid = relation_named(name);
  const OpenTable opened = OidIsValid(oid) ? open_table_of(oid, row_type) : OpenTable{nullptr, Refusal::missing};
  if (opened.refusal == Refusal::missing)
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("there is no table of rules \"%s\"", text_to_cstring(name)),
             errhint("A profile names it with its schema: alter_profile(.., rules => 'schema.name').")));
  if (opened.refusal == Refusal::privilege) refuse_privilege("rules", text_to_cstring(name));
  if (opened.refusal != Refusal::none)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("the rules \"%s\" are no plain table of type neardup_rule without row security",
                           text_to_cstring(name))));
  Relation table = opened.relation;
  const AttrNumber position = column_named(table, "position");
  size_t n = 0;
  size_t room = 16;
  auto* rules = static_cast<PlacedRule*>(palloc(sizeof(PlacedRule) * room));
  scan_table(table, nullptr, [&](HeapTuple row) {
    if (n == room) rules = static_cast<PlacedRule*>(repalloc(rules, sizeof(PlacedRule) * (room *= 2)));
    bool is_null;
    const int32 at = DatumGetInt32(heap_getattr(row, position, RelationGetDescr(table), &is_null));
    rules[n] = {is_null ? kNoPosition : at, n, value_of(typed_row(table, row, row_type))};
    ++n;
    return true;
  });
  table_close(table, NoLock);
  if (n == 0) PG_RETURN_NULL();
  qsort(rules, n, sizeof(PlacedRule), by_position);
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * n));
  for (size_t i = 0; i < n; ++i) elements[i] = rules[i].rule;
  return array_datum(elements, n, row_type);
}

// neardup_table_path(name text) -> text; NULL: no such relation
PG_FUNCTION_INFO_V1(neardup_table_path);
Datum neardup_table_path(PG_FUNCTION_ARGS) {
  const char* path = path_of(relation_named(PG_GETARG_TEXT_PP(0)));
  if (path == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(path));
}

// neardup_rules_path(rules text) -> text
PG_FUNCTION_INFO_V1(neardup_rules_path);
Datum neardup_rules_path(PG_FUNCTION_ARGS) {
  const Datum rules = PG_GETARG_DATUM(0);
  if (is_keyword(TextDatumGetCString(rules))) return rules;
  const char* path = path_of(relation_named(PG_GETARG_TEXT_PP(0)));
  return path == nullptr ? rules : CStringGetTextDatum(path);
}

// neardup_new_name(name text, what text, most_bytes int) -> text[]: schema and name of a table that is to be made;
// `what` it is, for errors
PG_FUNCTION_INFO_V1(neardup_new_name);
Datum neardup_new_name(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name must not be NULL")));
  const char* given = text_to_cstring(PG_GETARG_TEXT_PP(0));
  const char* what = text_to_cstring(PG_GETARG_TEXT_PP(1));
  const int32 most = PG_GETARG_INT32(2);
  Datum* parts;
  int n;
  deconstruct_array(DatumGetArrayTypeP(DirectFunctionCall2(parse_ident, PG_GETARG_DATUM(0), BoolGetDatum(true))),
                    TEXTOID, -1, false, TYPALIGN_INT, &parts, nullptr, &n);
  if (n > 2)
    ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("the name of %s is a name or schema.name: %s", what, given)));
  char* name = TextDatumGetCString(parts[n - 1]);
  if (static_cast<int32>(strlen(name)) > most)
    ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG),
                    errmsg("the name of %s has at most %d bytes: %s has %zu", what, most, name, strlen(name))));
  const Oid schema =
      RangeVarGetCreationNamespace(makeRangeVar(n == 2 ? TextDatumGetCString(parts[0]) : nullptr, name, -1));
  Datum out[2] = {CStringGetTextDatum(isTempNamespace(schema) ? "pg_temp" : get_namespace_name(schema)), parts[n - 1]};
  return array_datum(out, lengthof(out), TEXTOID);
}

}  // extern "C"
