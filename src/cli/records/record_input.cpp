// A source as a buffer that is read on: lines and blocks, in bounded memory.
#include "cli/records/record_input.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace neardup::cli {

// More bytes behind those that are there. False at the end.
bool RecordInput::fill() {
  if (damage_) throw SourceError(*damage_);
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (begin_ >= end_ - begin_ && capacity_ - kPadding - end_ < chunk_ / 2) {
    // no more bytes than were passed over since: else each would be moved often where a reader peeks far ahead
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (capacity_ < end_ + chunk_ / 2 + kPadding) reserve(std::max(end_ + chunk_, capacity_ + capacity_ / 2) + kPadding);
  const std::size_t got = source_.read(buffer_.get() + end_, capacity_ - kPadding - end_);
  end_ += got;
  return got > 0;
}

void RecordInput::reserve(std::size_t size) {
  char* const grown = static_cast<char*>(std::realloc(buffer_.get(), size));
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(buffer_.release());
  buffer_.reset(grown);
  capacity_ = size;
}

RecordInput::Line RecordInput::next_line(std::string_view& line) {
  pass_over_line('\n');
  std::size_t scanned = 0;
  for (;;) {
    const std::string_view have = rest();
    const std::size_t newline = have.find('\n', scanned);
    const bool ends = newline != std::string_view::npos;
    const std::size_t length = ends ? newline : have.size();
    if (length > max_line_) {
      line = have.substr(0, max_line_);
      line_size_ = max_line_;
      begin_ += max_line_;
      in_long_line_ = true;
      return Line::too_long;
    }
    scanned = have.size();
    if (!ends && fill()) continue;
    line = rest().substr(0, length);
    if (!ends && line.empty()) return Line::end;
    line_had_newline_ = ends;
    line_size_ = length + (ends ? 1 : 0);
    begin_ += line_size_;
    return Line::whole;
  }
}

std::size_t RecordInput::pass_over_line(char c) {
  std::size_t count = 0;
  while (in_long_line_) {
    const std::string_view have = rest();
    const std::size_t newline = have.find('\n');
    const std::string_view part = have.substr(0, newline);
    count += static_cast<std::size_t>(std::count(part.begin(), part.end(), c));
    const bool ends = newline != std::string_view::npos;
    begin_ += part.size() + (ends ? 1 : 0);
    in_long_line_ = !ends && fill();
  }
  return count;
}

std::string_view RecordInput::peek(std::size_t size) {
  try {
    while (!damage_ && end_ - begin_ < size && fill()) {
    }
  } catch (const SourceError& error) {
    damage_ = error;
  }
  return rest().substr(0, size);
}

bool RecordInput::skip(std::uint64_t size) {
  for (;;) {
    const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(size, end_ - begin_));
    begin_ += part;
    size -= part;
    if (size == 0) return true;
    if (!fill()) return false;
  }
}

}  // namespace neardup::cli
