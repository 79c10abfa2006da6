// Mailboxes: messages that begin with a line "From ", as mboxo and mboxrd have them.
#include "cli/records/mail.h"
#include "cli/records/record_input.h"
#include "cli/records/record_readers.h"

namespace neardup::cli {
namespace {

class MboxReader final : public RecordReader {
 public:
  MboxReader(ByteSource& source, const RecordOptions& options)
      : input_(source, kLongestPiece), max_size_(static_cast<std::size_t>(options.max_size)) {
    need_mail();
  }

  Found next(Record& record) override {
    record = {};
    std::string_view line;
    if (!begun_) {
      // The lines before the first message belong to none.
      while (!begun_) {
        if (input_.next_line(line) == RecordInput::Line::end) return Found::end;
        begun_ = line.starts_with(kFrom);
      }
    } else if (ended_) {
      return Found::end;
    }
    if (!read_message(record.size)) return problem(SkipReason::too_large, "a message");
    try {
      if (!read_mail(message_, record)) return problem(SkipReason::no_text, "a message without text");
    } catch (const BadMail& error) {
      return problem(SkipReason::bad_record, error.what());
    } catch (const std::bad_alloc&) {
      return problem(SkipReason::no_memory, "a message");
    }
    return Found::record;
  }

 private:
  static constexpr std::string_view kFrom = "From ";
  static constexpr std::int64_t kLongestPiece = 64 * 1024;  // longer lines are read in pieces

  // Reads up to the next line "From " after an empty one. False where it is too large; it is read to its end
  // nevertheless.
  bool read_message(std::int64_t& size) {
    message_.clear();
    bool fits = true, after_empty = false, within_line = false;
    size = 0;
    for (;;) {
      std::string_view line;
      const RecordInput::Line found = input_.next_line(line);
      ended_ = found == RecordInput::Line::end;
      if (ended_ || (after_empty && line.starts_with(kFrom))) return fits;
      size += static_cast<std::int64_t>(input_.line_size());
      after_empty = !within_line && (line.empty() || line == "\r");
      fits = fits && message_.size() + line.size() < max_size_;
      if (!fits)
        message_ = {};
      else if (within_line)
        message_ += line;
      else
        message_ += without_quote(line);
      within_line = found == RecordInput::Line::too_long;
      if (within_line)
        input_.keep_rest();
      else if (fits)
        message_ += '\n';
    }
  }

  // A > was put before each line that looked like the beginning of a message.
  static std::string_view without_quote(std::string_view line) {
    const std::size_t quotes = line.find_first_not_of('>');
    const bool quoted = quotes != std::string_view::npos && quotes > 0 && line.substr(quotes).starts_with(kFrom);
    return line.substr(quoted ? 1 : 0);
  }

  RecordInput input_;
  std::size_t max_size_;
  std::string message_;
  bool begun_ = false, ended_ = false;
};

}  // namespace

std::unique_ptr<RecordReader> make_mbox_reader(ByteSource& source, const RecordOptions& options) {
  return std::make_unique<MboxReader>(source, options);
}

}  // namespace neardup::cli
