// A source as a buffer that is read on: lines and blocks, in bounded memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/input/byte_source.h"

namespace neardup::cli {

class RecordInput {
 public:
  static constexpr std::size_t kReadAtOnce = 256 * 1024;

  // max_line: of bytes that next_line() gives at once; chunk: of bytes that are asked for at once
  RecordInput(ByteSource& source, std::int64_t max_line, std::size_t chunk = kReadAtOnce)
      : source_(source), max_line_(static_cast<std::size_t>(max_line)), chunk_(chunk) {}

  // Bytes behind each line that may be read, whatever they are; simdjson does.
  static constexpr std::size_t kPadding = 64;

  enum class Line {
    whole,     // with its end, or the last of the file
    too_long,  // its first max_line bytes; the rest is passed over by the next call
    end,
  };
  // A line without its newline, and valid until the next call of anything here. size: bytes with the newline.
  Line next_line(std::string_view& line);
  // The bytes of the line just given, with its newline.
  std::size_t line_size() const { return line_size_; }
  bool line_had_newline() const { return line_had_newline_; }
  // Gives the rest of a line that was too_long as a line of its own.
  void keep_rest() { in_long_line_ = false; }
  // Passes over the rest of a line that was too_long, and returns how often c is in it.
  std::size_t pass_over_line(char c);

  // The next bytes, size of them unless the file ends or is damaged, of which the next call tells that needs more. They
  // stay to be read, and in memory. Valid as a line is.
  std::string_view peek(std::size_t size);
  // Passes over size bytes. False where the file ends before.
  bool skip(std::uint64_t size);

 private:
  bool fill();
  void reserve(std::size_t size);
  std::string_view rest() const { return {buffer_.get() + begin_, end_ - begin_}; }

  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  ByteSource& source_;
  std::size_t max_line_, chunk_;
  std::unique_ptr<char, Free> buffer_;  // grows by realloc(), which copies nothing that is large
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0, end_ = 0;  // what of the buffer is to be read
  std::size_t line_size_ = 0;
  std::optional<SourceError> damage_;  // behind what is in the buffer
  bool line_had_newline_ = false, in_long_line_ = false;
};

}  // namespace neardup::cli
