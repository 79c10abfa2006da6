// WARC (ISO 28500), and WET, which is WARC with texts: each record a header and a block of a given length.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "cli/base/json.h"
#include "cli/base/utf8.h"
#include "cli/input/ascii.h"
#include "cli/input/file_reader.h"
#include "cli/input/format.h"
#include "cli/records/html_text.h"
#include "cli/records/http.h"
#include "cli/records/record_input.h"
#include "cli/records/record_readers.h"

namespace neardup::cli {
namespace {

constexpr std::int64_t kMostLine = 64 * 1024;  // of a header

// 2013-12-04T16:47:32Z, with a fraction or without.
std::optional<std::int64_t> parse_time(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, length = 0;
  double second = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%lfZ%n", &year, &month, &day, &hour, &minute, &second, &length) !=
          6 ||
      static_cast<std::size_t>(length) != text.size())
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned int>(month)),
                                         std::chrono::day(static_cast<unsigned int>(day))};
  if (!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || !(second >= 0 && second < 61))
    return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const auto micros = static_cast<std::int64_t>(second * 1e6 + 0.5);
  return file_mtime(days * 86400 + hour * 3600 + minute * 60 + micros / 1000000, micros % 1000000 * 1000);
}

class WarcReader final : public RecordReader {
 public:
  WarcReader(ByteSource& source, const RecordOptions& options)
      : input_(source, kMostLine), max_size_(static_cast<std::uint64_t>(options.max_size)) {}

  Found next(Record& record) override {
    record = {};
    if (!find_record()) return Found::end;
    HttpHeader header;
    if (const std::string why = read_header(header); !why.empty()) return problem(SkipReason::bad_record, why);
    std::uint64_t length = 0;
    const std::string length_text(header.get("content-length"));
    const char* const end = length_text.data() + length_text.size();
    if (length_text.empty() || std::from_chars(length_text.data(), end, length).ptr != end)
      return problem(SkipReason::bad_record, "no Content-Length that is a number");
    record.size = static_cast<std::int64_t>(std::min<std::uint64_t>(length, INT64_MAX));
    const std::string type = ascii_lower(header.get("warc-type"));
    const bool wanted = type == "response" || type == "resource" || type == "conversion";
    if (length > max_size_) return pass_over(length, wanted);
    // Bytes that are not the record's own stay to be read: the next record is looked for in them.
    const std::string_view bytes = input_.peek(length + kGap);
    if (bytes.size() < length) return problem(SkipReason::bad_record, kEarly);
    if (!is_boundary(bytes.substr(length))) return problem(SkipReason::bad_record, kLies);
    input_.skip(length);  // which leaves the bytes where they are
    return wanted ? fill_record(type, header, bytes.substr(0, length), record) : Found::other;
  }

 private:
  static constexpr std::string_view kMark = "WARC/";  // a line that begins a record begins with it
  static constexpr const char* kLies = "its Content-Length is not where the next record begins";
  static constexpr const char* kEarly = "ends too early";
  static constexpr std::size_t kGap = 16;  // two ends of lines, more than the standard has, and the mark

  // A block that is not to be held in memory. Where its length is wrong, all that the length covers is lost, unless the
  // file ends within what may be held.
  Found pass_over(std::uint64_t length, bool wanted) {
    const std::string lost = "; what this length covers was passed over, more than --max-size";
    if (input_.peek(max_size_ + 1).size() <= max_size_) return problem(SkipReason::bad_record, kEarly);
    if (!input_.skip(length)) return problem(SkipReason::bad_record, kEarly + lost);
    if (!is_boundary(input_.peek(kGap))) return problem(SkipReason::bad_record, kLies + lost);
    return wanted ? problem(SkipReason::too_large, "a record") : Found::other;
  }

  // Passes over what is before the next line that begins a record. False where there is none.
  bool find_record() {
    std::string_view line;
    for (;;) {
      const RecordInput::Line found = input_.next_line(line);
      if (found == RecordInput::Line::end) return false;
      if (line.starts_with(kMark)) return true;
    }
  }

  // Returns what is wrong with it.
  std::string read_header(HttpHeader& header) {
    constexpr const char* kEndless = "a header that does not end";
    std::string_view line;
    for (bool first = true;; first = false) {
      if (!first && input_.peek(kMark.size()) == kMark) return kEndless;
      if (input_.next_line(line) != RecordInput::Line::whole) return kEndless;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (line.empty()) return {};
      if (!header.add_line(line)) return HttpHeader::too_large();
    }
  }

  // True behind a block: two ends of lines, and the next record or the end of the file.
  static bool is_boundary(std::string_view next) {
    std::size_t blank = 0;
    while (blank < next.size() && (next[blank] == '\r' || next[blank] == '\n')) ++blank;
    next.remove_prefix(blank);
    return next.substr(0, kMark.size()) == kMark.substr(0, next.size());
  }

  Found fill_record(const std::string& type, const HttpHeader& header, std::string_view block, Record& record) {
    std::string media(header.get("content-type"));
    if (type == "response") {
      if (!ascii_lower(media).starts_with("application/http") && !block.starts_with("HTTP/")) return Found::other;
      std::string why;
      std::optional<HttpMessage> message = parse_http(block, max_size_, why);
      if (!message) return problem(SkipReason::bad_record, why);
      media = message->header.get("content-type");
      record.body = std::move(message->body);
      if (media.empty() && looks_like_html("", record.body)) media = "text/html";
    } else {
      record.body = block;
    }
    const std::string kind = ascii_lower(trim_ascii(std::string_view(media).substr(0, media.find(';'))));
    record.html = kind == "text/html" || kind == "application/xhtml+xml";
    if (!record.html && !kind.starts_with("text/")) return Found::other;
    record.charset = charset_parameter(media);
    record.record_id = header.get("warc-target-uri");
    if (record.record_id.size() > 2 && record.record_id.front() == '<' && record.record_id.back() == '>')
      record.record_id = record.record_id.substr(1, record.record_id.size() - 2);
    if (!valid_utf8(record.record_id) || record.record_id.find('\0') != std::string::npos)
      return problem(SkipReason::not_utf8, "its URL");
    const std::string date(header.get("warc-date"));
    record.at = parse_time(date);
    if (!record.record_id.empty()) record.identity = record.record_id + ' ' + date;
    JsonObject attributes;
    attributes.add("warc_type", type);
    if (valid_utf8(media) && media.find('\0') == std::string::npos) attributes.add("content_type", media);
    record.attributes = attributes.finish();
    return Found::record;
  }

  RecordInput input_;
  std::uint64_t max_size_;
};

}  // namespace

std::unique_ptr<RecordReader> make_warc_reader(ByteSource& source, const RecordOptions& options) {
  return std::make_unique<WarcReader>(source, options);
}

}  // namespace neardup::cli
