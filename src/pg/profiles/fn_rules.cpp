// Rules that users keep in tables: read as they are stored, whoever owns them.
#include "pg/base/open_table.h"
#include "pg/base/own_schemas.h"
#include "pg/values/arrays.h"

namespace {

using namespace neardup;

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

Relation open_rules(const text* name, Oid row_type) {
  const Oid oid = relation_named(name);
  const OpenTable opened = OidIsValid(oid) ? open_typed_table(oid, row_type) : OpenTable{nullptr, Refusal::missing};
  if (opened.refusal == Refusal::missing)
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("there is no table of rules \"%s\"", text_to_cstring(name)),
             errhint("A profile names it with its schema: alter_profile(.., rules => 'schema.name').")));
  if (opened.refusal == Refusal::privilege)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("permission denied for rules \"%s\"", text_to_cstring(name))));
  if (opened.refusal != Refusal::none)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("the rules \"%s\" are no plain table of type neardup_rule without row security",
                           text_to_cstring(name))));
  return opened.relation;
}

// Rows without a position come last.
constexpr int32 kNoPosition = PG_INT32_MAX;

}  // namespace

// neardup_rules_named(name text) -> neardup_rule[]: the rows of a table of rules, by position
SQL_FUNCTION(neardup_rules_named) {
  const text* name = PG_GETARG_TEXT_PP(0);
  const Oid row_type = own_type(fcinfo->flinfo->fn_oid, "neardup_rule");
  Relation table = open_rules(name, row_type);
  const AttrNumber position = column_named(table, "position");
  size_t n = 0;
  size_t room = 16;
  auto* rules = static_cast<PlacedRule*>(palloc(sizeof(PlacedRule) * room));
  scan_table(table, nullptr, [&](HeapTuple row) {
    if (n == room) rules = static_cast<PlacedRule*>(repalloc(rules, sizeof(PlacedRule) * (room *= 2)));
    bool is_null;
    const int32 at = DatumGetInt32(heap_getattr(row, position, RelationGetDescr(table), &is_null));
    rules[n] = {is_null ? kNoPosition : at, n, row_value(typed_row(table, row, row_type))};
    ++n;
    return true;
  });
  table_close(table, NoLock);
  if (n == 0) PG_RETURN_NULL();
  qsort(rules, n, sizeof(PlacedRule), by_position);
  return array_datum(n, row_type, [&](size_t i) { return rules[i].rule; });
}
