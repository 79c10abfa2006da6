// See drop_tables.h.
#include "pg/sql/drop_tables.h"

#include "pg/sql/run_statement.h"

namespace neardup {

void drop_tables(const Oid* tables, int n) {
  SqlList names;
  for (int i = 0; i < n; ++i) {
    const char* name = get_rel_name(tables[i]);
    const char* schema = name == nullptr ? nullptr : get_namespace_name(get_rel_namespace(tables[i]));
    if (schema != nullptr) names.add(QualifiedName(schema, name));
  }
  if (names.all().text()[0] == '\0') return;
  run_statement(sql("DROP TABLE {names}", {{"names", names.all()}}));
  for (int i = 0; i < n; ++i)
    if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(tables[i])))
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("the schema of the tables was renamed concurrently")));
}

}  // namespace neardup
