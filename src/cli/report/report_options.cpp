// `neardup report`: its command line and its help.
#include <string_view>

#include "cli/base/options.h"
#include "cli/base/out_file.h"
#include "cli/report/report.h"

namespace neardup::cli {
namespace {

constexpr const char* kReportHelp = R"(usage: neardup report JOB --out FILE [options]

Writes what the table of duplicates JOB has found. html: one page with counts, the pairs of documents nearest to the
threshold with the words marked that differ, the largest clusters, how similar the duplicates are, and the settings; it
loads nothing. json: the same, without documents. csv: a line for each row of each cluster of at least 2 rows.

  -o, --out FILE           a regular file that is there is replaced at the end; - is stdout
      --format FORMAT      html, json or csv (default html)
      --clusters N         html and json: the N largest clusters (default 50)
      --pairs N            html and json: the N pairs nearest to the threshold (default 12)
{connection}
  -q, --quiet              no summary
      --help

Exit code: 0 done, 1 the report could not be made, 2 wrong usage, 130 stopped by Ctrl-C.
)";

ReportFormat parse_format(std::string_view name) {
  if (name == "html") return ReportFormat::html;
  if (name == "json") return ReportFormat::json;
  if (name == "csv") return ReportFormat::csv;
  throw UsageError("--format must be html, json or csv: " + printable(name));
}

}  // namespace

int report_main(int argc, char** argv) {
  ReportOptions options;
  const Option table[] = {
      {"out", 'o', &options.out},
      {"format", 0, [&](const char* value) { options.format = parse_format(value); }},
      {"clusters", 0, Number{&options.clusters, 0, 10000}},
      {"pairs", 0, Number{&options.pairs, 0, 200}},
      options.connection,
      {"quiet", 'q', &options.quiet},
  };
  const auto read_job = [&](Arguments arguments) {
    options.job = one_argument(arguments, "job");
    if (options.out.empty()) throw UsageError("--out is missing");
  };
  if (const auto code = read_command_line(argc, argv, kReportHelp, table, read_job)) return *code;
  return run_writing("report", options.out, [&] { return write_report(options); });
}

}  // namespace neardup::cli
