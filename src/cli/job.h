// A job of create_duplicates(): where its tables are.
#pragma once

#include <cstdint>
#include <string>

#include "cli/database.h"

namespace neardup::cli {

// Names are quoted and qualified, for SQL.
struct Job {
  std::string name;                  // as given
  std::string extension;             // schema of the extension, with its dot
  std::int64_t oid;                  // of the table <name>_job
  std::string result, changes, job;  // <name>, <name>_changes, <name>_job
};

// Throws DatabaseError where there is no such job or no extension.
Job find_job(Connection& db, const std::string& name);

// Rows in clusters of at least 2 without the survivors are duplicates.
struct JobCounts {
  std::int64_t rows = 0, clusters = 0, clustered_rows = 0, largest = 0;
  std::int64_t duplicates() const { return clustered_rows - clusters; }
};
JobCounts count_job(Connection& db, const Job& job);

// An identifier, quoted.
std::string quote_name(std::string_view name);

}  // namespace neardup::cli
