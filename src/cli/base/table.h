// A table that the command line names, and the types of its columns. Nothing of it depends on search_path, but for the
// first name.
#pragma once

#include <span>
#include <string>

#include "cli/base/database.h"

namespace neardup::cli {

bool table_exists(Connection& db, const std::string& quoted);

// The name with its schema, quoted. From then on only this name is to be used: what search_path finds later may be a
// table of another role. Throws std::runtime_error where there is no such table.
std::string qualified_table(Connection& db, const std::string& quoted);

struct TableColumn {
  const char* name;
  const char* type;  // of pg_catalog, as format_type() has it
};

// The type of a column, with its schema unless that is pg_catalog; empty where the table has no such column.
std::string column_type(Connection& db, const std::string& quoted_table, const char* column);

// Why the table does not have the columns, and the cure; empty where it has them.
std::string column_problem(Connection& db, const std::string& quoted_table, std::span<const TableColumn> columns);
// Throws std::runtime_error with that.
void check_columns(Connection& db, const std::string& quoted_table, std::span<const TableColumn> columns);

}  // namespace neardup::cli
