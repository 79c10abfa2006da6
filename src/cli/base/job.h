// A job of create_duplicates(): where its tables are.
#pragma once

#include <cstdint>
#include <string>

#include "cli/base/database.h"

namespace neardup::cli {

// Names are quoted and qualified, for SQL.
struct Job {
  std::string name;                  // as given
  std::string extension;             // schema of the extension, with its dot
  std::string internal;              // schema of the functions that users do not call, with its dot
  std::int64_t oid;                  // of the table <name>_job
  std::string result, changes, job;  // <name>, <name>_changes, <name>_job
};

// The schema of the extension, quoted, and a point. Throws DatabaseError where the database has none.
std::string extension_schema(Connection& db);

// The schema of a function of the extension, quoted, and a point; empty where it has none of that name.
std::string schema_of_function(Connection& db, const char* name);

// Throws DatabaseError where there is no such job or no extension.
Job find_job(Connection& db, const std::string& name);

// From here on the session finds operators in pg_catalog only: one that another role has put into a schema of its
// search_path would run with our rights. Names in `job` and of the server's are qualified.
void restrict_search_path(Connection& db);
// The same, and where the type of the ids has an equality of its own. Other roles may write into that schema: operators
// that pg_catalog has for other types only (float8 * integer) are qualified.
void restrict_search_path(Connection& db, const Job& job);

// What the table of the result holds. Rows in clusters of at least 2 that are no survivors are duplicates: all but one
// of each cluster, unless someone has changed the table.
struct JobCounts {
  std::int64_t rows = 0, clusters = 0, clustered_rows = 0, largest = 0, duplicates = 0;
};
// SQL of an id or another value of a user's type as text, by its output function: a cast to text may be another role's,
// and would run with our rights.
std::string shown(const std::string& value);

JobCounts count_job(Connection& db, const Job& job);

}  // namespace neardup::cli
