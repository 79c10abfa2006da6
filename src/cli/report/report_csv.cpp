// `neardup report --format csv`.
#include <charconv>
#include <string>
#include <string_view>

#include "cli/report/report_formats.h"

namespace neardup::cli {
namespace {

std::string field(std::string_view value) {
  if (value.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

void write_report_csv(ReportReader& reader, OutFile& file) {
  file.raw("cluster,id,representative,similarity,survivor,path\n");
  reader.rows(std::nullopt, [&](const ReportRow& row) {
    file.raw(std::to_string(row.cluster) + ',' + field(row.id) + ',' + field(row.representative) + ',' +
             (row.similarity ? shortest(*row.similarity) : "") + ',' + (row.survivor ? "true" : "false") + ',' +
             field(row.path.value_or("")) + '\n');
  });
}

}  // namespace neardup::cli
