// Lines and blocks of a source, against an input that has all bytes at once.
#include "cli/records/record_input.h"

#include <gtest/gtest.h>

#include "unit/byte_sources.h"

namespace neardup::cli::record_input_test {
namespace {

using test::Damaged;
using test::Pieces;

// The answer of a RecordInput as text.
std::string words(RecordInput::Line found, std::string_view line) {
  if (found == RecordInput::Line::end) return "end";
  return (found == RecordInput::Line::whole ? "whole " : "too long ") + std::string(line);
}

// The answers by the bytes of the file at once. A file that is damaged behind them: where they do not suffice.
class Model {
 public:
  Model(std::string_view bytes, std::size_t max_line, bool damaged)
      : rest_(bytes), max_line_(max_line), damaged_(damaged) {}

  std::string next_line() {
    pass_over_line('\n');
    const std::size_t newline = rest_.find('\n');
    const std::size_t length = std::min(newline, rest_.size());
    if (length > max_line_) {
      const std::string text = words(RecordInput::Line::too_long, rest_.substr(0, max_line_));
      rest_.remove_prefix(max_line_);
      line_size = max_line_;
      in_long_line = true;
      return text;
    }
    if (newline == std::string_view::npos) need();
    if (newline == std::string_view::npos && rest_.empty()) return "end";
    had_newline = newline != std::string_view::npos;
    line_size = length + (had_newline ? 1 : 0);
    const std::string text = words(RecordInput::Line::whole, rest_.substr(0, length));
    rest_.remove_prefix(line_size);
    return text;
  }

  std::size_t pass_over_line(char c) {
    if (!in_long_line) return 0;
    const std::size_t newline = rest_.find('\n');
    const std::string_view part = rest_.substr(0, newline);
    const auto count = static_cast<std::size_t>(std::count(part.begin(), part.end(), c));
    rest_.remove_prefix(std::min(part.size() + 1, rest_.size()));
    if (newline == std::string_view::npos) need();
    in_long_line = false;
    return count;
  }

  std::string_view peek(std::size_t size) const { return rest_.substr(0, size); }

  bool skip(std::size_t size) {
    const bool there = size <= rest_.size();
    rest_.remove_prefix(std::min(size, rest_.size()));
    if (!there) need();
    return there;
  }

  bool in_long_line = false, had_newline = false;
  std::size_t line_size = 0;

 private:
  void need() const {
    if (damaged_) throw SourceError(SkipReason::unreadable, "damaged");
  }

  std::string_view rest_;
  std::size_t max_line_;
  bool damaged_;
};

// The result of `ask`, or "damaged".
template <class F>
std::string answer(F ask) {
  try {
    return ask();
  } catch (const SourceError& error) {
    return error.what();
  }
}

std::string random_lines(std::mt19937_64& random) {
  std::string bytes;
  for (std::size_t n = random() % 300; bytes.size() < n;) {
    bytes += std::string(random() % 4 == 0 ? random() % 70 : random() % 6, static_cast<char>('a' + random() % 3));
    if (random() % 5 != 0) bytes += '\n';
  }
  return bytes;
}

class RecordInputTest : public testing::Test {
 protected:
  void step(RecordInput& input, Model& model) {
    const std::size_t size = random_() % 5 == 0 ? random_() % 200 : random_() % 9;
    std::string got, want;
    switch (random_() % 6) {
      case 0:
        got = input.peek(size);
        want = model.peek(size);
        break;
      case 1:
        got = answer([&] { return std::string(input.skip(size) ? "there" : "ends before"); });
        want = answer([&] { return std::string(model.skip(size) ? "there" : "ends before"); });
        break;
      case 2:
        got = answer([&] { return std::to_string(input.pass_over_line('a')); });
        want = answer([&] { return std::to_string(model.pass_over_line('a')); });
        break;
      default:
        line(input, model, got, want);
    }
    ASSERT_EQ(got, want);
    ended_ = got == "damaged" || got == "end";
  }

  void line(RecordInput& input, Model& model, std::string& got, std::string& want) {
    got = answer([&] {
      std::string_view line;
      const RecordInput::Line found = input.next_line(line);
      return words(found, line);
    });
    want = answer([&] { return model.next_line(); });
    if (got == "damaged" || got == "end") return;
    ASSERT_EQ(input.line_size(), model.line_size);
    if (!model.in_long_line) {
      ASSERT_EQ(input.line_had_newline(), model.had_newline);
    } else if (random_() % 3 == 0) {
      input.keep_rest();
      model.in_long_line = false;
    }
  }

  std::mt19937_64 random_{26};
  bool ended_ = false;
};

TEST_F(RecordInputTest, AsAllBytesAtOnce) {
  for (int turn = 0; turn < 4000; ++turn) {
    const std::string bytes = random_lines(random_);
    const std::size_t max_line = 1 + random_() % (turn % 2 == 0 ? 8 : 80), chunk = 2 + random_() % 40;
    const bool is_damaged = turn % 5 == 0;
    SCOPED_TRACE("turn " + std::to_string(turn) + ", at most " + std::to_string(max_line) + ": " + bytes);
    Pieces pieces(bytes, 1 + random_() % 50, random_());
    Damaged damaged(pieces);
    RecordInput input(is_damaged ? static_cast<ByteSource&>(damaged) : pieces, static_cast<std::int64_t>(max_line),
                      chunk);
    Model model(bytes, max_line, is_damaged);
    ended_ = false;
    for (int i = 0; i < 60 && !ended_; ++i) {
      step(input, model);
      if (HasFatalFailure()) return;
    }
  }
}

// Lines of as many bytes as are allowed, and of one less and one more, at each place of the buffer.
TEST(RecordInput, LongestLine) {
  constexpr std::size_t kMost = 20;
  for (std::size_t before = 0; before < 3 * kMost; ++before) {
    for (std::size_t size : {kMost - 1, kMost, kMost + 1}) {
      for (const char* end : {"\n", ""}) {
        const std::string bytes = std::string(before, '\n') + std::string(size, 'x') + end;
        MemorySource source(bytes);
        RecordInput input(source, kMost, 8);
        ASSERT_TRUE(input.skip(before));
        std::string_view line;
        ASSERT_EQ(words(input.next_line(line), line),
                  (size > kMost ? "too long " : "whole ") + std::string(std::min(size, kMost), 'x'));
        ASSERT_EQ(input.next_line(line), RecordInput::Line::end);
      }
    }
  }
}

}  // namespace
}  // namespace neardup::cli::record_input_test
