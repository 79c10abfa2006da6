// `neardup report`: its command line and its help; what a job found, as a page of HTML, as JSON or as CSV.
#include "cli/report/report.h"

#include <cstdio>
#include <string_view>

#include "cli/base/interrupt.h"
#include "cli/base/job.h"
#include "cli/base/options.h"
#include "cli/base/out_file.h"
#include "cli/report/report_formats.h"
#include "cli/report/report_reader.h"

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

int write_report(const ReportOptions& options) {
  install_interrupt_handlers();
  Connection db(options.connection);
  const Job job = find_job(db, options.job);
  ReportReader reader(db, job);
  OutFile file(options.out);
  switch (options.format) {
    case ReportFormat::html:
      write_report_html(reader, options, file);
      break;
    case ReportFormat::json:
      write_report_json(reader, options, file);
      break;
    case ReportFormat::csv:
      write_report_csv(reader, file);
      break;
  }
  reader.finish();
  file.commit();
  // The page has room for one reason.
  const bool page_says_it = options.format == ReportFormat::html && reader.no_documents().empty();
  if (!reader.no_ids().empty() && !page_says_it)
    std::fprintf(stderr, "warning: %s\n", printable_message(reader.no_ids()).c_str());
  if (!options.quiet) {
    const JobCounts& counts = reader.counts();
    print_summary(options.out, options.job,
                  std::to_string(counts.rows) + " rows, " + std::to_string(counts.clusters) +
                      " clusters of 2 or more, " + std::to_string(counts.duplicates) + " duplicates");
  }
  return 0;
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
