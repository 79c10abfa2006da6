#include "pg/sql/drop_tables.h"

#include "pg/sql/run_statement.h"

namespace neardup {

void drop_tables(const Oid* tables, int n) {
  SqlList names;
  for (int i = 0; i < n; ++i) {
    const QualifiedName name = QualifiedName::current(tables[i]);
    if (name.text() != nullptr) names.add(name);
  }
  if (names.all().text()[0] == '\0') return;
  run_statement(sql("DROP TABLE {names}", {{"names", names.all()}}));
  for (int i = 0; i < n; ++i)
    if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(tables[i])))
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("the schema of the tables was renamed concurrently")));
}

}  // namespace neardup
