// CSV with a header, as PostgreSQL's COPY reads it: quotes, doubled quotes, newlines within quotes.
#include <algorithm>
#include <vector>

#include "cli/base/json.h"
#include "cli/base/utf8.h"
#include "cli/records/columns.h"
#include "cli/records/record_input.h"
#include "cli/records/record_readers.h"

namespace neardup::cli {
namespace {

struct Field {
  std::string text;
  bool quoted = false;
  // As COPY has it: nothing at all, without quotes.
  bool is_null() const { return text.empty() && !quoted; }
};

class CsvReader final : public RecordReader {
 public:
  CsvReader(ByteSource& source, const RecordOptions& options, char delimiter)
      : input_(source, options.max_size),
        max_size_(options.max_size),
        delimiter_(delimiter),
        text_names_(ColumnNames::for_text(options.text_column)) {
    read_header(ColumnNames::for_id(options.id_column));
  }

  Found next(Record& record) override {
    record = {};
    const Row row = read_row(record.size);
    if (row == Row::end) return Found::end;
    if (row == Row::too_large) return problem(SkipReason::too_large, "a record");
    if (row == Row::open_quote) return problem(SkipReason::bad_record, "a quote that is not closed");
    if (fields_.size() != columns_.size()) {
      const std::string found =
          fields_.size() > kMostColumns ? "more than " + std::to_string(kMostColumns) : std::to_string(fields_.size());
      return problem(SkipReason::bad_record, found + " fields, but " + std::to_string(columns_.size()) + " columns");
    }
    for (const Field& field : fields_) {
      if (field.text.find('\0') != std::string::npos) return problem(SkipReason::has_nul);
      if (!valid_utf8(field.text)) return problem(SkipReason::not_utf8);
    }
    return fill_record(record);
  }

 private:
  enum class Row { whole, too_large, open_quote, end };

  Found fill_record(Record& record) {
    JsonObject attributes;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (i == text_) continue;
      if (i == id_) {
        record.record_id = fields_[i].text;
      } else if (fields_[i].is_null()) {
        attributes.member(columns_[i]) += "null";
      } else {
        attributes.add(columns_[i], fields_[i].text);
      }
    }
    record.attributes = attributes.finish();
    record.identity = record.record_id;
    if (fields_[text_].is_null()) return problem(SkipReason::no_text, columns_[text_] + " is NULL");
    record.body = std::move(fields_[text_].text);
    return Found::record;
  }

  void read_header(const ColumnNames& id_names) {
    std::int64_t size = 0;
    const Row row = read_row(size);
    if (row == Row::too_large) throw ColumnError("the header is larger than --max-size");
    if (row == Row::open_quote) throw ColumnError("a quote of the header is not closed");
    if (fields_.size() > kMostColumns)
      throw ColumnError("the header has more than " + std::to_string(kMostColumns) + " columns");
    if (size > kLongestHeader)
      throw ColumnError("the header has " + std::to_string(size) + " bytes, more than " +
                        std::to_string(kLongestHeader));
    if (row == Row::whole) {
      for (Field& field : fields_) columns_.push_back(std::move(field.text));
    }
    if (!columns_.empty() && columns_[0].starts_with("\xef\xbb\xbf")) columns_[0].erase(0, 3);
    int best = -1;
    std::string there;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!valid_utf8(columns_[i]) || columns_[i].find('\0') != std::string::npos)
        throw ColumnError("the header is not valid UTF-8");
      if (there.size() < 200) there += (there.empty() ? "" : ", ") + columns_[i];
      const int rank = text_names_.rank(columns_[i]);
      if (rank >= 0 && (best < 0 || rank < best)) {
        best = rank;
        text_ = i;
      }
      if (id_ == kNoField && id_names.rank(columns_[i]) == 0) id_ = i;
    }
    if (best < 0) throw ColumnError(no_text_column(text_names_, there));
  }

  // Reads into fields_. Blank lines between records are passed over, as long as there are several columns.
  Row read_row(std::int64_t& size) {
    fields_.assign(1, {});
    bool in_quotes = false, begun = false;
    size = 0;
    for (;;) {
      std::string_view line;
      const RecordInput::Line found = input_.next_line(line);
      if (found == RecordInput::Line::end) return !begun ? Row::end : in_quotes ? Row::open_quote : Row::whole;
      size += static_cast<std::int64_t>(input_.line_size());
      if (found == RecordInput::Line::too_long || size > max_size_)
        return pass_over(in_quotes, line, found) ? Row::too_large : Row::open_quote;
      if (!line.empty() && line.back() == '\r' && !is_open(in_quotes, line)) line.remove_suffix(1);
      if (!begun && line.empty() && columns_.size() != 1) continue;
      begun = true;
      in_quotes = add_line(line, in_quotes);
      if (!in_quotes) return Row::whole;
      if (input_.line_had_newline()) fields_.back().text += '\n';
    }
  }

  // True if a line ends within quotes. A doubled quote changes nothing.
  static bool is_open(bool in_quotes, std::string_view line) {
    return in_quotes != (std::count(line.begin(), line.end(), '"') % 2 == 1);
  }

  // The rest of a record that is too large: up to the line that closes its quotes. False where there is none.
  bool pass_over(bool in_quotes, std::string_view line, RecordInput::Line found) {
    while (found != RecordInput::Line::end) {
      in_quotes = is_open(in_quotes, line);
      if (found == RecordInput::Line::too_long) in_quotes = in_quotes != (input_.pass_over_line('"') % 2 == 1);
      if (!in_quotes) return true;
      found = input_.next_line(line);
    }
    return false;
  }

  // Returns whether the line ends within quotes.
  bool add_line(std::string_view line, bool in_quotes) {
    const char stops[] = {'"', delimiter_};
    while (!line.empty()) {
      if (in_quotes) {
        const std::size_t quote = std::min(line.find('"'), line.size());
        fields_.back().text.append(line.substr(0, quote));
        line.remove_prefix(quote);
        if (line.empty()) return true;
        const bool doubled = line.size() > 1 && line[1] == '"';
        if (doubled) fields_.back().text += '"';
        line.remove_prefix(doubled ? 2 : 1);
        in_quotes = doubled;
      } else {
        const std::size_t stop = std::min(line.find_first_of({stops, 2}), line.size());
        fields_.back().text.append(line.substr(0, stop));
        line.remove_prefix(stop);
        if (line.empty()) return false;
        if (line.front() == '"') {
          in_quotes = fields_.back().quoted = true;
        } else if (fields_.size() <= kMostColumns) {
          fields_.emplace_back();
        }
        line.remove_prefix(1);
      }
    }
    return in_quotes;
  }

  static constexpr std::size_t kNoField = SIZE_MAX;
  static constexpr std::size_t kMostColumns = 10000;       // of a table of PostgreSQL: 1600
  static constexpr std::int64_t kLongestHeader = 1 << 20;  // each record repeats its names
  RecordInput input_;
  std::int64_t max_size_;
  char delimiter_;
  ColumnNames text_names_;
  std::vector<std::string> columns_;
  std::vector<Field> fields_;
  std::size_t text_ = kNoField, id_ = kNoField;
};

}  // namespace

std::unique_ptr<RecordReader> make_csv_reader(ByteSource& source, const RecordOptions& options, char delimiter) {
  return std::make_unique<CsvReader>(source, options, delimiter);
}

}  // namespace neardup::cli
