// `neardup report`: the formats. Each writes the whole report.
#pragma once

#include <string>

#include "cli/base/out_file.h"
#include "cli/report/report.h"
#include "cli/report/report_reader.h"

namespace neardup::cli {

void write_report_html(ReportReader& reader, const ReportOptions& options, OutFile& file);

// One object: settings, counts, the largest clusters with all their rows, the pairs nearest to the threshold. Text is
// UTF-8; bytes that are not become U+FFFD.
void write_report_json(ReportReader& reader, const ReportOptions& options, OutFile& file);

// A line for each row of each cluster of at least 2 rows, quoted as RFC 4180 has it. Bytes that are
// not UTF-8 stay as they are.
void write_report_csv(ReportReader& reader, OutFile& file);

// The shortest number that reads back as the same.
std::string shortest(double value);

}  // namespace neardup::cli
