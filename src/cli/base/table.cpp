// See table.h.
#include "cli/base/table.h"

#include <stdexcept>

namespace neardup::cli {

bool table_exists(Connection& db, const std::string& quoted) {
  return get_bool(db.query("SELECT pg_catalog.to_regclass($1) IS NOT NULL", Params().text(quoted)), 0, 0);
}

std::string qualified_table(Connection& db, const std::string& quoted) {
  const Result found = db.query(
      "SELECT n.nspname::pg_catalog.text, c.relname::pg_catalog.text FROM pg_catalog.pg_class c"
      " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
      " WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1)::pg_catalog.oid",
      Params().text(quoted));
  if (PQntuples(found.get()) == 0) throw std::runtime_error("table " + quoted + " does not exist");
  return quote_name(get_text(found, 0, 0)) + "." + quote_name(get_text(found, 0, 1));
}

std::string column_type(Connection& db, const std::string& quoted_table, const char* column) {
  // format_type() adds pg_catalog where search_path has a type of the same name before it
  const Result found = db.query(
      "SELECT CASE WHEN n.nspname OPERATOR(pg_catalog.=) 'pg_catalog'"
      "  THEN pg_catalog.regexp_replace(pg_catalog.format_type(t.oid, NULL), '^pg_catalog[.]', '')"
      "  ELSE pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(t.typname)) END"
      " FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid"
      " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace"
      " WHERE a.attrelid OPERATOR(pg_catalog.=) $1::pg_catalog.regclass::pg_catalog.oid"
      " AND a.attname OPERATOR(pg_catalog.=) $2 AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped",
      Params().text(quoted_table).text(column));
  return PQntuples(found.get()) == 0 ? "" : std::string(get_text(found, 0, 0));
}

std::string column_problem(Connection& db, const std::string& quoted_table, std::span<const TableColumn> columns) {
  for (const TableColumn& column : columns) {
    const std::string type = column_type(db, quoted_table, column.name);
    if (type.empty())
      return "table " + quoted_table + " has no column " + column.name + " (" + column.type +
             "); name a new table, or add the column";
    if (type != column.type)
      return "column " + std::string(column.name) + " of table " + quoted_table + " is " + type + ", not " +
             column.type + "; name a new table";
  }
  return {};
}

void check_columns(Connection& db, const std::string& quoted_table, std::span<const TableColumn> columns) {
  const std::string problem = column_problem(db, quoted_table, columns);
  if (!problem.empty()) throw std::runtime_error(problem);
}

}  // namespace neardup::cli
