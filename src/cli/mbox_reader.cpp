// Mailboxes: messages that begin with a line "From ", as mboxo and mboxrd have them.
#include "cli/mail.h"
#include "cli/record_input.h"
#include "cli/record_readers.h"

namespace neardup::cli {
namespace {

class MboxReader final : public RecordReader {
 public:
  MboxReader(ByteSource& source, const RecordOptions& options)
      : input_(source, options.max_size), max_size_(static_cast<std::size_t>(options.max_size)) {
    need_mail();
  }

  Found next(Record& record) override {
    record = {};
    std::string_view line;
    if (!begun_) {
      // what is before the first message is none
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
    }
    return Found::record;
  }

 private:
  static constexpr std::string_view kFrom = "From ";

  // Up to the next line "From " after an empty one. False where it is too large; it is read to its end nevertheless.
  bool read_message(std::int64_t& size) {
    message_.clear();
    bool fits = true, after_empty = false;
    size = 0;
    for (;;) {
      std::string_view line;
      const RecordInput::Line found = input_.next_line(line);
      ended_ = found == RecordInput::Line::end;
      if (ended_ || (after_empty && line.starts_with(kFrom))) return fits;
      size += static_cast<std::int64_t>(input_.line_size());
      after_empty = line.empty() || line == "\r";
      fits = fits && found == RecordInput::Line::whole && message_.size() + line.size() < max_size_;
      if (!fits) {
        message_.clear();
        continue;
      }
      // a > was put before each line that looked like the beginning of a message
      const std::size_t quotes = line.find_first_not_of('>');
      if (quotes != std::string_view::npos && quotes > 0 && line.substr(quotes).starts_with(kFrom))
        line.remove_prefix(1);
      message_ += line;
      message_ += '\n';
    }
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
