// Names of encodings; guesses that need no statistics.
#include "core/encoding.h"

#include <gtest/gtest.h>

#include <string>

#include "test/unit/support.h"

namespace neardup {
namespace {

using namespace std::string_literals;

std::string guess(const std::string& bytes) {
  const test::Exact exact(bytes);
  const EncodingGuess g = certain_encoding(sample_of(exact.data(), exact.size(), nullptr));
  EXPECT_GE(g.confidence, 0);
  EXPECT_LE(g.confidence, 1);
  return g.name == nullptr ? "" : g.name;
}

std::string likeliest(const std::string& bytes) {
  const test::Exact exact(bytes);
  const auto all = frequent_encodings(sample_of(exact.data(), exact.size(), nullptr));
  return all.empty() ? "" : all[0].name;
}

std::string utf16(const std::u16string& text, bool big) {
  std::string out;
  for (const char16_t c : text) {
    const char low = static_cast<char>(c & 255);
    const char high = static_cast<char>(c >> 8);
    out += big ? high : low;
    out += big ? low : high;
  }
  return out;
}

TEST(Encoding, Names) {
  EXPECT_EQ(find_encoding("utf-8").form, UnicodeForm::utf8);
  EXPECT_EQ(find_encoding("UTF_16LE").form, UnicodeForm::utf16le);
  EXPECT_EQ(find_encoding("utf16").kind, EncodingKind::utf16);
  EXPECT_EQ(find_encoding("UTF-32").kind, EncodingKind::utf32);
  EXPECT_STREQ(find_encoding("GB2312").name, "GB18030");
  EXPECT_STREQ(find_encoding("Big5-HKSCS").name, "BIG5");
  EXPECT_STREQ(find_encoding("cp936").name, "GBK");
  for (const char* name : {"HZ", "hz-gb-2312", "ISO-2022-JP", "TCVN", "viqr", "VPS", "utf-7"})
    EXPECT_EQ(find_encoding(name).kind, EncodingKind::refused) << name;
  EXPECT_EQ(find_encoding("koi8-r").kind, EncodingKind::unknown);  // PostgreSQL's own
  EXPECT_EQ(find_encoding("").kind, EncodingKind::unknown);
}

TEST(Encoding, Unicode) {
  EXPECT_EQ(guess(""), "UTF8");
  EXPECT_EQ(guess("plain"), "UTF8");
  EXPECT_EQ(guess("na\u00efve"), "UTF8");
  EXPECT_EQ(guess("\xef\xbb\xbf"), "UTF8");
  EXPECT_EQ(guess("\xff\xfe"), "UTF16LE");
  EXPECT_EQ(guess("\xff\xfe\0\0"s), "UTF32LE");
  // One character of many is broken, one is cut by the end.
  EXPECT_EQ(guess("\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\xff \u4e2d\u6587\xe4\xb8"), "UTF8");
  EXPECT_EQ(guess("caf\xe9"), "");
  EXPECT_EQ(guess("\xff\xff\xff"), "");
  for (const bool big : {false, true}) {
    const std::string want = big ? "UTF16BE" : "UTF16LE";
    EXPECT_EQ(guess(utf16(u"Plain words.", big)), want);
    EXPECT_EQ(guess(utf16(u"Привет, мир", big)), want);
    EXPECT_EQ(guess(utf16(u"床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。\n一二三", big)), want);
    EXPECT_EQ(unicode_order(reinterpret_cast<const uint8_t*>(utf16(u"Plain", big).data()), 10, false),
              big ? UnicodeForm::utf16be : UnicodeForm::utf16le);
  }
  EXPECT_EQ(guess("a\0\0\0b\0\0\0"s), "UTF32LE");
  EXPECT_EQ(guess("\0\0\0a\0\0\0b"s), "UTF32BE");
}

TEST(Encoding, Escapes) {
  EXPECT_EQ(guess("\x1b$B$3$s\x1b(B"), "ISO-2022-JP");
  EXPECT_EQ(guess("\x1b$)C\x0e"), "ISO-2022-KR");
  EXPECT_EQ(guess("This is ~{<:Ky2;Sc~} so"), "HZ");
  EXPECT_EQ(guess("a home ~{ is not ~} closed"), "UTF8");
}

TEST(Encoding, CommonCharacters) {
  EXPECT_EQ(likeliest("\xc4\xe3\xba\xc3\xca\xc0\xbd\xe7"), "GB18030");
  EXPECT_EQ(likeliest("\xa7\x41\xa6\x6e\xa5\x40\xac\xc9"), "BIG5");
  EXPECT_EQ(likeliest("\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd"), "SJIS");
  EXPECT_EQ(likeliest("caf\xe9"), "");
  EXPECT_TRUE(mostly_high({reinterpret_cast<const uint8_t*>("\xcf\xf0\xe8 a"), 5, true}));
  EXPECT_FALSE(mostly_high({reinterpret_cast<const uint8_t*>("caf\xe9"), 4, true}));
}

TEST(Encoding, Readable) {
  const auto share = [](const std::string& s, uint64_t broken) {
    return readable_share(reinterpret_cast<const uint8_t*>(s.data()), s.size(), broken);
  };
  EXPECT_EQ(share("", 0), 1);
  EXPECT_EQ(share("Text, \u4e2d\u6587\u3002\n", 0), 1);
  EXPECT_EQ(share("ab", 2), 0.5);
  EXPECT_EQ(share("a\u0085", 0), 0.5);
}

// A document that is ASCII for long is judged by what comes after.
TEST(Encoding, LateCharactersAreSeen) {
  std::string text(3 << 20, 'a');
  text += "\xc4\xe3\xba\xc3";
  EXPECT_EQ(guess(text), "");
  EXPECT_EQ(likeliest(text), "GB18030");
}

}  // namespace
}  // namespace neardup
