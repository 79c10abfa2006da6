// UTF-16, UTF-32 and damaged UTF-8.
#include "core/unicode/utf16.h"

#include <gtest/gtest.h>
#include <string>

#include "test/unit/support.h"

namespace neardup::utf16_test {
namespace {

using namespace std::string_literals;

// Everything, broken characters left out and counted.
std::string decoded(UnicodeForm form, const std::string& bytes, int* broken = nullptr) {
  const test::Exact exact(bytes);
  std::string out;
  int n = 0;
  for (size_t at = 0; at < exact.size();) {
    std::string room(utf8_room(exact.size() - at), '\0');
    size_t written;
    const size_t read =
        decode_unicode(form, exact.data() + at, exact.size() - at, reinterpret_cast<uint8_t*>(room.data()), &written);
    out.append(room, 0, written);
    at += read;
    if (at == exact.size()) break;
    at += broken_length(form, exact.data() + at, exact.size() - at);
    ++n;
  }
  if (broken != nullptr) *broken = n;
  return out;
}

TEST(Utf16, WellFormed) {
  EXPECT_EQ(decoded(UnicodeForm::utf16le, "A\0\xe9\0-N=\xd8\x00\xde"s), "A\u00e9\u4e2d\U0001f600");
  EXPECT_EQ(decoded(UnicodeForm::utf16be, "\0A\0\xe9N-\xd8=\xde\x00"s), "A\u00e9\u4e2d\U0001f600");
  EXPECT_EQ(decoded(UnicodeForm::utf32le, "A\0\0\0\x00\xf6\x01\0"s), "A\U0001f600");
  EXPECT_EQ(decoded(UnicodeForm::utf32be, "\0\0\0A\0\x01\xf6\x00"s), "A\U0001f600");
  EXPECT_EQ(decoded(UnicodeForm::utf8, "A\u00e9\u4e2d\U0001f600 plain ascii, longer than eight"),
            "A\u00e9\u4e2d\U0001f600 plain ascii, longer than eight");
  for (const UnicodeForm form : {UnicodeForm::utf8, UnicodeForm::utf16le, UnicodeForm::utf16be, UnicodeForm::utf32le})
    EXPECT_EQ(decoded(form, ""), "");
}

TEST(Utf16, BrokenCharactersAreOneEach) {
  int broken;
  // A high surrogate alone, a low one alone, a high one at the end, half a unit, NUL.
  EXPECT_EQ(decoded(UnicodeForm::utf16le, "a\0\x00\xd8"s + "b\0\x00\xdc"s + "c\0\x00\xd8"s, &broken), "abc");
  EXPECT_EQ(broken, 3);
  EXPECT_EQ(decoded(UnicodeForm::utf16le, "a\0b"s, &broken), "a");
  EXPECT_EQ(broken, 1);
  EXPECT_EQ(decoded(UnicodeForm::utf16be, "\0a\0\0\0b"s, &broken), "ab");
  EXPECT_EQ(broken, 1);
  EXPECT_EQ(decoded(UnicodeForm::utf32le, "a\0\0\0\0\xd8\0\0\0\0\x11\0b\0\0\0c"s, &broken), "ab");
  EXPECT_EQ(broken, 3);
}

TEST(Utf16, BrokenUtf8CountsMaximalSubparts) {
  int broken;
  // Unicode's own example of table 3-8, and cut, overlong and surrogate sequences.
  EXPECT_EQ(decoded(UnicodeForm::utf8, "a\xf1\x80\x80\xe1\x80\xc2"s + "b\x80"s + "c\x80\xbf"s + "d"s, &broken), "abcd");
  EXPECT_EQ(broken, 6);
  EXPECT_EQ(decoded(UnicodeForm::utf8, "\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe4\xb8", &broken), "|||");
  EXPECT_EQ(broken, 2 + 3 + 4 + 1);
  EXPECT_EQ(decoded(UnicodeForm::utf8, "12345678\0 87654321"s, &broken), "12345678 87654321");
  EXPECT_EQ(broken, 1);
}

TEST(Utf16, ByteOrderMarks) {
  const auto mark = [](const std::string& bytes, UnicodeForm* form) {
    const test::Exact exact(bytes);
    return byte_order_mark(exact.data(), exact.size(), form);
  };
  UnicodeForm form;
  EXPECT_EQ(mark("\xef\xbb\xbf", &form), 3u);
  EXPECT_EQ(form, UnicodeForm::utf8);
  EXPECT_EQ(mark("\xff\xfe", &form), 2u);
  EXPECT_EQ(form, UnicodeForm::utf16le);
  EXPECT_EQ(mark("\xff\xfe\0\0"s, &form), 4u);
  EXPECT_EQ(form, UnicodeForm::utf32le);
  EXPECT_EQ(mark("\xfe\xff", &form), 2u);
  EXPECT_EQ(form, UnicodeForm::utf16be);
  EXPECT_EQ(mark("\0\0\xfe\xff"s, &form), 4u);
  EXPECT_EQ(form, UnicodeForm::utf32be);
  EXPECT_EQ(mark("\xef\xbb", &form), 0u);
  EXPECT_EQ(mark("", &form), 0u);
}

}  // namespace
}  // namespace neardup::utf16_test
