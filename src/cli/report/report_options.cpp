// `neardup report`: its command line and its help.
#include <getopt.h>
#include <string_view>

#include "cli/base/options.h"
#include "cli/base/out_file.h"
#include "cli/report/report.h"

namespace neardup::cli {
namespace {

constexpr const char* kHelp = R"(usage: neardup report JOB --out FILE [options]

Writes what the table of duplicates JOB has found. html: one page with counts, the pairs of documents nearest to the
threshold with the words marked that differ, the largest clusters, how similar the duplicates are, and the settings; it
loads nothing. json: the same, without documents. csv: a line for each row of each cluster of at least 2 rows.

  -o, --out FILE           a regular file that is there is replaced at the end; - is stdout
      --format FORMAT      html, json or csv (default html)
      --clusters N         html and json: the N largest clusters (default 50)
      --pairs N            html and json: the N pairs nearest to the threshold (default 12)
  -d, --dbname DB          database name, connection string or URI (also --conninfo); default: PGDATABASE
  -h, --host HOST          host or socket directory
  -p, --port PORT
  -U, --username USER
  -q, --quiet              no summary
      --help

Exit code: 0 done, 1 the report could not be made, 2 wrong usage, 130 stopped by Ctrl-C.
)";

enum LongOnly { kHelpOption = 256, kFormat, kClusters, kPairs };

ReportFormat parse_format(std::string_view name) {
  if (name == "html") return ReportFormat::html;
  if (name == "json") return ReportFormat::json;
  if (name == "csv") return ReportFormat::csv;
  throw UsageError("--format must be html, json or csv: " + printable(name));
}

// Returns false when help was asked for.
bool parse(int argc, char** argv, ReportOptions& options) {
  static const option long_options[] = {{"out", required_argument, nullptr, 'o'},
                                        {"format", required_argument, nullptr, kFormat},
                                        {"clusters", required_argument, nullptr, kClusters},
                                        {"pairs", required_argument, nullptr, kPairs},
                                        NEARDUP_CONNECTION_LONG_OPTIONS,
                                        {"quiet", no_argument, nullptr, 'q'},
                                        {"help", no_argument, nullptr, kHelpOption},
                                        {nullptr, 0, nullptr, 0}};
  for (int c = 0; (c = getopt_long(argc, argv, "o:q" NEARDUP_CONNECTION_SHORT_OPTIONS, long_options, nullptr)) != -1;) {
    if (take_connection_option(c, optarg, options.connection)) continue;
    switch (c) {
      case 'o':
        options.out = optarg;
        break;
      case kFormat:
        options.format = parse_format(optarg);
        break;
      case kClusters:
        options.clusters = parse_number("--clusters", optarg, false, 0, 10000);
        break;
      case kPairs:
        options.pairs = parse_number("--pairs", optarg, false, 0, 200);
        break;
      case 'q':
        options.quiet = true;
        break;
      case kHelpOption:
        return false;
      default:
        throw UsageError("");
    }
  }
  options.job = job_argument(argc, argv);
  if (options.out.empty()) throw UsageError("--out is missing");
  return true;
}

}  // namespace

int report_main(int argc, char** argv) {
  ReportOptions options;
  if (const auto code = read_command_line("report", kHelp, [&] { return parse(argc, argv, options); })) return *code;
  return run_writing("report", options.out, [&] { return write_report(options); });
}

}  // namespace neardup::cli
