// A job of create_duplicates(), and the functions of the extension that are asked about it: sql/install/89_reports.sql.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/base/database.h"

namespace neardup::cli {

struct Extension {
  std::string schema;         // quoted, with its dot
  bool has_function = false;  // of the name that was looked for
};

// The extension of the database, where it has one.
std::optional<Extension> find_extension(Connection& db, const char* function);

// The extension, whose version has the functions that the program calls. Throws DatabaseError, with the cure.
Extension require_extension(Connection& db);

struct Job {
  std::string name;       // as given
  std::string extension;  // the schema of the extension, quoted, with its dot
  std::string table;      // <name>_job, quoted and qualified
};

// Throws DatabaseError where there is no such job or no extension.
Job find_job(Connection& db, const std::string& name);

// The rows that a function of the extension returns for the job, whose table is $1. `more`: its other arguments, in
// SQL; no name in them may depend on the search_path, which is the caller's.
Result ask_job(Connection& db, const Job& job, const char* function, const std::string& more = "");
Result ask_job(Connection& db, const char* function, const std::string& more, const Params& params);

// The rows of the result, by number. Rows in clusters of at least 2 that are no survivors are duplicates: all but one
// of each cluster, unless someone has changed the table.
struct JobCounts {
  std::int64_t rows = 0, clusters = 0, clustered_rows = 0, duplicates = 0, largest = 0;
};
JobCounts count_job(Connection& db, const Job& job);

// Functions that give many rows open a cursor of this name, and leave it open.
inline constexpr const char* kRowsCursor = "neardup_rows";

}  // namespace neardup::cli
