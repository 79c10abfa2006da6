// A file as text: sizes around those of the head and of what is read at once, whatever pieces its bytes come in.
#include <gtest/gtest.h>
#include <vector>

#include "cli/input/file_reader.h"

#include "unit/byte_sources.h"

namespace neardup::cli::file_text_test {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;  // of file_reader.cpp

FileText read(const std::string& bytes, std::size_t piece, std::int64_t max_size, Encoding encoding, bool known_size) {
  test::Pieces source(bytes, piece, bytes.size());
  FileText out;
  out.size = known_size ? static_cast<std::int64_t>(bytes.size()) : 0;
  std::size_t head_size = 0;
  read_source(
      source, max_size, encoding,
      [&](std::string_view head, std::string&) {
        head_size = head.size();
        return SkipReason::none;
      },
      out);
  EXPECT_EQ(head_size, std::min(bytes.size(), kHeadSize));
  return out;
}

const std::size_t kSizes[] = {0,
                              1,
                              kHeadSize - 1,
                              kHeadSize,
                              kHeadSize + 1,
                              kReadBytes - 1,
                              kReadBytes,
                              kReadBytes + 1,
                              kHeadSize + kReadBytes - 1,
                              kHeadSize + kReadBytes,
                              kHeadSize + kReadBytes + 1};
constexpr std::size_t kPieces[] = {1000, kHeadSize, 1 << 20};

TEST(FileText, SizesAroundThoseOfBuffers) {
  for (const std::size_t size : kSizes) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i % 23);
    for (const std::size_t piece : kPieces) {
      for (const bool known : {true, false}) {
        const auto n = static_cast<std::int64_t>(size);
        for (const std::int64_t most : {n, n + 1, n + 100}) {
          const FileText text = read(bytes, piece, most, Encoding::utf8, known);
          ASSERT_EQ(text.problem, SkipReason::none) << size;
          ASSERT_TRUE(text.text == bytes) << size;
        }
        if (size > 0) {
          ASSERT_EQ(read(bytes, piece, n - 1, Encoding::utf8, known).problem, SkipReason::too_large) << size;
        }
      }
    }
  }
}

// A NUL at each such place; none is in the bytes before and behind it.
TEST(FileText, NulAnywhere) {
  for (const std::size_t size : kSizes) {
    for (const std::size_t piece : kPieces) {
      const std::string bytes = std::string(size, 'x') + std::string(1, '\0') + "end";
      for (const bool known : {true, false}) {
        ASSERT_EQ(read(bytes, piece, 1 << 20, Encoding::utf8, known).problem, SkipReason::has_nul) << size;
        ASSERT_EQ(read(bytes, piece, 1 << 20, Encoding::wide, known).problem, SkipReason::none) << size;
      }
    }
  }
}

// A text's head tells that it is UTF-16, not what comes first.
TEST(FileText, WideText) {
  for (const std::size_t size : {std::size_t{100}, kHeadSize, kHeadSize + kReadBytes + 2}) {
    std::string bytes;
    for (std::size_t i = 0; i < size / 2; ++i) bytes += {static_cast<char>('a' + i % 20), '\0'};
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
      ASSERT_EQ(read(bytes, piece, 1 << 20, Encoding::unknown, true).problem, SkipReason::none) << size;
      ASSERT_EQ(
          read("text" + bytes.substr(1, 1) + std::string(99, 'x'), piece, 1 << 20, Encoding::unknown, true).problem,
          SkipReason::has_nul);
    }
  }
}

}  // namespace
}  // namespace neardup::cli::file_text_test
