// `neardup report`: what a job found, as a page of HTML, as JSON or as CSV.
#include "cli/report/report.h"

#include <cstdio>

#include "cli/base/interrupt.h"
#include "cli/base/job.h"
#include "cli/base/out_file.h"
#include "cli/report/report_formats.h"
#include "cli/report/report_reader.h"

namespace neardup::cli {

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

}  // namespace neardup::cli
