// `neardup report`: the formats. Each writes the whole report.
#pragma once

#include "cli/out_file.h"
#include "cli/report.h"
#include "cli/report_reader.h"

namespace neardup::cli {

void write_report_html(ReportReader& reader, const ReportOptions& options, OutFile& file);

}  // namespace neardup::cli
