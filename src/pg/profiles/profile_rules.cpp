#include "pg/profiles/profile_rules.h"

#include "pg/base/open_table.h"

namespace neardup {

namespace {

bool names_a_table(const char* rules) { return strcmp(rules, kNoRules) != 0 && strcmp(rules, kBuiltInRules) != 0; }

}  // namespace

const char* lasting_name(Oid relation) {
  if (!OidIsValid(relation)) return nullptr;
  if (!isTempNamespace(get_rel_namespace(relation))) return qualified_name(relation);
  return quote_qualified_identifier("pg_temp", get_rel_name(relation));
}

const char* stored_rules(const char* rules) {
  if (!names_a_table(rules)) return rules;
  const char* name = lasting_name(relation_named(cstring_to_text(rules)));
  return name == nullptr ? rules : name;
}

const char* rules_of_profile(const char* rules, Oid profile_schema) {
  if (rules == nullptr || !names_a_table(rules)) return rules;
  Oid table = relation_named(cstring_to_text(rules));
  if (!OidIsValid(table)) table = relation_in(profile_schema, rules, "");
  const char* name = lasting_name(table);
  return name == nullptr ? rules : name;
}

}  // namespace neardup
