// `neardup report`: what a job found, as a page of HTML, as JSON or as CSV.
#pragma once

#include <cstdint>
#include <string>

#include "cli/base/database.h"

namespace neardup::cli {

enum class ReportFormat { html, json, csv };

struct ReportOptions {
  std::string job, out;
  ReportFormat format = ReportFormat::html;
  std::int64_t clusters = 50, pairs = 12;
  Connection::Options connection;
  bool quiet = false;
};

// The subcommand. Returns the exit code; throws DatabaseError, Interrupted, std::runtime_error.
int report_main(int argc, char** argv);

}  // namespace neardup::cli
