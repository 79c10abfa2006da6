#include "pg/profiles/profile_table.h"

#include "pg/base/held_names.h"
#include "pg/base/open_table.h"
#include "pg/base/own_schemas.h"
#include "pg/profiles/profile_checks.h"
#include "pg/profiles/profile_rules.h"
#include "pg/sql/run_statement.h"

namespace neardup {

namespace {

constexpr const char* kRowType = "neardup_profile";

Sql create_profile_table(const QualifiedName& table, const Identifier& neardup) {
  return sql("CREATE TABLE {table} OF {neardup}.{row_type} (PRIMARY KEY (version))",
             {{"table", table}, {"neardup", neardup}, {"row_type", Identifier(kRowType)}});
}

Sql insert_version(const QualifiedName& table) { return sql("INSERT INTO {table} SELECT ($1).*", {{"table", table}}); }

void insert(const QualifiedName& table, const Profile& version, Oid function) {
  const Oid row_type = own_type(function, kRowType);
  run_statement(insert_version(table), {value(row_type, profile_datum(version, row_type))});
}

// Triggers of another role would run with the rights of who calls.
void demand_own(Oid table) {
  if (relation_owner(table) != GetUserId())
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("profile %s belongs to another role", lasting_name(table)),
             errhint("Only its owner alters it.")));
}

}  // namespace

Oid make_profile(const NewName& name, const Profile& profile, Oid function) {
  const CatalogPath path = CatalogPath::begin();
  const Identifier neardup = extension_schema(function);
  const QualifiedName table(name.schema, name.name);
  check_profile(profile, neardup);
  run_statement(create_profile_table(table, neardup));
  const Oid made = made_here(cstring_to_text(table.text()));
  insert(table, profile, function);
  path.end();
  return made;
}

void add_version(Oid table, const Profile& version, Oid function) {
  const CatalogPath path = CatalogPath::begin();
  const QualifiedName name = QualifiedName::held(table);
  demand_own(table);
  check_profile(version, extension_schema(function));
  insert(name, version, function);
  path.end();
}

}  // namespace neardup
