// The source of a job: how its rows are found from those of the result, and their paths.
#pragma once

#include <string>

#include "cli/base/job.h"

namespace neardup::cli {

// What ids of the source and of the result are compared as: the type below their domains, for an operator for a domain
// may be another role's. Where they have different types of pg_catalog since the last run, text, as a refresh converts
// them; where only their collations differ, "C". Other types are not compared: their owners may have made casts.
struct JobIds {
  std::string cast;                      // SQL behind an id; empty where they are not compared
  std::string source_type, result_type;  // for messages; empty where there is no such column
  std::string column;                    // of the source
  std::string source;                    // for messages; empty where it was dropped
};

// After restrict_search_path().
JobIds job_ids(Connection& db, const Job& job);

// SQL of the comparison of two ids.
std::string same_ids(const JobIds& ids, const std::string& a, const std::string& b);

// Why ids are not compared, and the cure.
std::string ids_problem(const JobIds& ids);
std::string ids_cure(const JobIds& ids);

struct SourcePaths {
  std::string type;       // of the column, as format_type() has it; empty where there is none of that name
  bool readable = false;  // we may read the column
  std::string query;      // of id and path of the job's rows
  bool has_text() const { return type == "text" || type == "character varying"; }
};

// The paths of a job's rows, in that column of the source. After restrict_search_path().
SourcePaths source_paths(Connection& db, const Job& job, const std::string& column);

}  // namespace neardup::cli
