// `neardup report --format json`.
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "cli/base/json.h"
#include "cli/base/utf8.h"
#include "cli/report/report_formats.h"

namespace neardup::cli {
namespace {

// Well-formed UTF-8: other bytes become U+FFFD.
std::string as_utf8(std::string_view text) {
  if (valid_utf8(text)) return std::string(text);
  std::string out;
  for (std::size_t i = 0, size = 1; i < text.size(); i += size) {
    if (decode_utf8(text, i, size) < 0)
      out += "\ufffd";
    else
      out.append(text.substr(i, size));
  }
  return out;
}

std::string string(std::string_view text) {
  std::string out;
  append_json_string(out, as_utf8(text));
  return out;
}

std::string number(std::optional<double> value) { return value && std::isfinite(*value) ? shortest(*value) : "null"; }

std::string boolean(bool value) { return value ? "true" : "false"; }

void write_about(ReportReader& reader, const ReportOptions& options, OutFile& file) {
  const ReportAbout& about = reader.about();
  file.raw("{\n\"job\": " + string(options.job) + ",\n\"database\": " + string(about.database) +
           ",\n\"time\": " + string(about.now.iso) + ",\n\"version\": " + string(about.version) +
           ",\n\"finished\": " + (about.finished.iso.empty() ? "null" : string(about.finished.iso)) +
           ",\n\"complete\": " + boolean(about.idle) + ",\n\"settings\": {");
  const char* before = "\n  ";
  for (const ReportSetting& setting : reader.settings()) {
    file.raw(before + string(setting.key) + ": " + as_utf8(setting.json));
    before = ",\n  ";
  }
  const JobCounts& counts = reader.counts();
  file.raw("\n},\n\"counts\": {\"rows\": " + std::to_string(counts.rows) + ", \"clusters\": " +
           std::to_string(counts.clusters) + ", \"clustered_rows\": " + std::to_string(counts.clustered_rows) +
           ", \"duplicates\": " + std::to_string(counts.duplicates) +
           ", \"largest_cluster\": " + std::to_string(counts.largest) + "}");
}

void write_clusters(ReportReader& reader, const ReportOptions& options, OutFile& file) {
  file.raw(",\n\"clusters\": [");
  std::optional<std::int64_t> cluster;
  reader.rows(options.clusters, [&](const ReportRow& row) {
    const bool first = cluster != row.cluster;
    if (first) {
      file.raw((cluster ? "\n  ]},\n" : "\n") + std::string("  {\"number\": ") + std::to_string(row.cluster) +
               ", \"size\": " + std::to_string(row.size) + ", \"rows\": [");
    }
    cluster = row.cluster;
    file.raw((first ? "\n    {\"id\": " : ",\n    {\"id\": ") + string(row.id) +
             ", \"path\": " + (row.path ? string(*row.path) : "null") + ", \"similarity\": " + number(row.similarity) +
             ", \"survivor\": " + boolean(row.survivor) + "}");
  });
  file.raw(cluster ? "\n  ]}\n]" : "]");
}

void write_pairs(ReportReader& reader, const ReportOptions& options, OutFile& file) {
  file.raw(",\n\"pairs\": [");
  const char* before = "\n  ";
  for (const ReportPair& pair : reader.pairs(options.pairs, false)) {
    std::optional<double> distance;
    if (pair.similarity) distance = std::abs(*pair.similarity - reader.threshold());
    file.raw(before + ("{\"representative\": " + string(pair.ids[0])) + ", \"duplicate\": " + string(pair.ids[1]) +
             ", \"cluster\": " + std::to_string(pair.cluster) + ", \"similarity\": " + number(pair.similarity) +
             ", \"threshold_distance\": " + number(distance) + "}");
    before = ",\n  ";
  }
  file.raw("\n]\n}\n");
}

}  // namespace

void write_report_json(ReportReader& reader, const ReportOptions& options, OutFile& file) {
  write_about(reader, options, file);
  write_clusters(reader, options, file);
  write_pairs(reader, options, file);
}

}  // namespace neardup::cli
