// Guesses of encodings, as far as the core makes them.
#include "core/intake/detect_encoding.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "test/unit/support.h"

namespace neardup::detect_encoding_test {
namespace {

using namespace std::string_literals;

Sample sample(const test::Exact& bytes) { return encoding_sample(bytes.data(), bytes.size(), nullptr); }

std::string guess(const std::string& bytes) {
  const test::Exact exact(bytes);
  const EncodingGuess g = certain_encoding(sample(exact));
  EXPECT_GE(g.confidence, 0);
  EXPECT_LE(g.confidence, 1);
  return g.name == nullptr ? "" : g.name;
}

// The guess among the forms of Unicode, where nothing is certain.
std::string guess_unicode(const std::string& bytes) {
  const std::string certain = guess(bytes);
  if (!certain.empty()) return certain;
  const test::Exact exact(bytes);
  return Contest(sample(exact), 1024).winner().name;
}

void put(uint32_t unit, unsigned size, bool big, std::string* out) {
  for (unsigned i = 0; i < size; ++i) *out += static_cast<char>(unit >> 8 * (big ? size - 1 - i : i));
}

std::string utf16(std::u16string_view text, bool big) {
  std::string out;
  for (const char16_t c : text) put(c, 2, big, &out);
  return out;
}

std::string utf32(std::u32string_view text, bool big) {
  std::string out;
  for (const char32_t c : text) put(c, 4, big, &out);
  return out;
}

UnicodeForm order(const std::string& bytes, bool wide32) {
  const test::Exact exact(bytes);
  return unicode_order(exact.data(), exact.size(), wide32);
}

// Scripts, some above U+FFFF, some whose bytes are ASCII or controls.
constexpr std::u16string_view kTexts[] = {u"Plain words.",
                                          u"Привет, мир",
                                          u"床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。\n一二三",
                                          u"មនុស្សទាំងអស់កើតមក",
                                          u"የሰው ልጅ ሁሉ ሲወለድ",
                                          u"ᎣᏏᏲ ᎠᏂᏴᏫ ᏂᎦᏓ",
                                          u"འགྲོ་བ་མིའི་རིགས",
                                          u"ꦱꦧꦼꦤꦸꦮꦺꦴꦁꦏꦭꦲꦶꦂ",
                                          u"ꊿꂷꃅꄿꐨꐥ,ꌅꅍꀂꏽ",
                                          u"Μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος",
                                          u"มนุษย์ทั้งหลาย",
                                          u"सभी मनुष्यों को",
                                          u"𐌰𐌻𐌻𐌰𐌹 𐌼𐌰𐌽𐌽𐌰",
                                          u"Hello there \U0001F600, how are you?"};

TEST(Detect, Utf8AndAscii) {
  EXPECT_EQ(guess(""), "UTF8");
  EXPECT_EQ(guess("plain"), "UTF8");
  EXPECT_EQ(guess("na\u00efve"), "UTF8");
  // One character of many is broken, one is cut by the end.
  EXPECT_EQ(guess("\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\xff \u4e2d\u6587\xe4\xb8"), "UTF8");
  EXPECT_EQ(guess("caf\xe9"), "");
  EXPECT_EQ(guess("\xff\xff\xff"), "");
  EXPECT_EQ(guess("\xc4\xe3\xba\xc3\xca\xc0\xbd\xe7"), "");
}

TEST(Detect, Utf8OfWhichAFifthIsBroken) {
  std::string chinese;
  std::string russian;
  for (int i = 0; i < 5; ++i) {
    chinese += "\u4eba\u4eba\u751f\u800c\xe8\x87";
    russian += "\u0432\u0441\u0435 \u043b\xd1 ";
  }
  EXPECT_EQ(guess(chinese), "UTF8");
  EXPECT_EQ(guess(russian), "UTF8");
}

// ASCII and UTF-8 with a control byte were taken for UTF-16 and became Chinese.
TEST(Detect, ControlBytesDoNotMakeUtf16) {
  for (int control = 0; control < 0x20; ++control) {
    SCOPED_TRACE(control);
    const std::string c(1, static_cast<char>(control));
    if (control == 0x1b) continue;
    EXPECT_EQ(guess("build done" + c + "\n"), "UTF8");
    EXPECT_EQ(guess("build done" + c), "UTF8");
    EXPECT_EQ(guess(c + "build done"), "UTF8");
    EXPECT_EQ(guess("na\u00efve" + c), "UTF8");
    EXPECT_EQ(guess("1" + c + "foo" + c + "2021-03-04" + c + "\\N\n2" + c + "bar" + c + "x\n"), "UTF8");
    EXPECT_EQ(guess("Gr\xfc\xdf"
                    "e aus Z\xfcrich" +
                    c),
              "")
        << "bytes of another encoding stay such";
  }
  EXPECT_EQ(guess("some/name.c\0other.txt\0"s), "UTF8");
}

// Devanagari is U+09xx, and 09 is a tab.
TEST(Detect, ColumnsOfOneCharacterAreNotUtf16) {
  std::string digits;
  for (int i = 0; i < 300; ++i) {
    digits += static_cast<char>('0' + i * 7 % 10);
    digits += i % 3 == 2 ? '\n' : '\t';
  }
  EXPECT_EQ(guess(digits), "UTF8");
  EXPECT_EQ(guess(digits + "\x1a"), "UTF8");
  EXPECT_EQ(guess("a\tb\tc\td\na\tb\tc\td\n"), "UTF8");
  EXPECT_EQ(guess(utf16(u"नमस्ते दुनिया", true)), "UTF16BE");
}

TEST(Detect, WideFormsWithoutAMark) {
  for (const bool big : {false, true}) {
    for (const std::u16string_view text : kTexts) {
      SCOPED_TRACE(utf16(text, big));
      EXPECT_EQ(guess_unicode(utf16(text, big)), big ? "UTF16BE" : "UTF16LE");
      EXPECT_EQ(order(utf16(text, big), false), big ? UnicodeForm::utf16be : UnicodeForm::utf16le);
    }
    const std::string javanese = utf32(U"ꦲꦤ", big);
    EXPECT_EQ(guess_unicode(javanese), big ? "UTF32BE" : "UTF32LE");
    EXPECT_EQ(order(javanese, true), big ? UnicodeForm::utf32be : UnicodeForm::utf32le);
    EXPECT_EQ(guess(utf32(U"ab", big)), big ? "UTF32BE" : "UTF32LE");
  }
}

TEST(Detect, MarksDecide) {
  EXPECT_EQ(guess("\xef\xbb\xbf"), "UTF8");
  EXPECT_EQ(guess("\xff\xfe"), "UTF16LE");
  EXPECT_EQ(guess("\xff\xfe\0\0"s), "UTF32LE");
  EXPECT_EQ(guess("\xfe\xff" + utf16(u"ab", false)), "UTF16BE");
  EXPECT_EQ(order("\xfe\xff" + utf16(u"ab", false), false), UnicodeForm::utf16be);
}

TEST(Detect, Escapes) {
  EXPECT_EQ(guess("\x1b$B$3$s\x1b(B"), "ISO-2022-JP");
  EXPECT_EQ(guess("\x1b$)C\x0e"), "ISO-2022-KR");
  EXPECT_EQ(guess("This is ~{<:Ky2;Sc~} so"), "HZ");
  EXPECT_EQ(guess("a home ~{ is not ~} closed"), "UTF8");
  EXPECT_EQ(guess("\x1b[1mbold\x1b[0m"), "UTF8");
}

TEST(Detect, EvidenceIsWhatIsNotAscii) {
  const std::string long_ascii(1000, 'a');
  const test::Exact late(long_ascii + "\xc4\xe3\xba\xc3" + long_ascii + "\xca\xc0" + long_ascii);
  const std::string evidence = encoding_evidence(sample(late), 500);
  EXPECT_LT(evidence.size(), 200);
  EXPECT_NE(evidence.find("a\xc4\xe3\xba\xc3"
                          "a"),
            evidence.npos);
  EXPECT_NE(evidence.find("a\xca\xc0"
                          "a"),
            evidence.npos);
  const test::Exact zeros("\xc4\0\xe3"s);
  EXPECT_EQ(encoding_evidence(sample(zeros), 500), "\xc4\xe3");
  const test::Exact none("");
  EXPECT_EQ(encoding_evidence(sample(none), 500), "");
}

// A document that is ASCII for long is judged by what comes after.
TEST(Detect, LateCharactersAreSeen) {
  std::string late(3 << 20, 'a');
  late += "\xc4\xe3\xba\xc3";
  const test::Exact text(late);
  EXPECT_EQ(certain_encoding(sample(text)).name, nullptr);
  EXPECT_NE(encoding_evidence(sample(text), 500).find("\xc4\xe3\xba\xc3"), std::string::npos);
}

TEST(Detect, ContestIsWonByTheLikeliestText) {
  const test::Exact bytes("\xd0\xd2\xc9\xd7\xa6\xd4, \xa7\xd6\xc1\xcb");
  Contest contest(sample(bytes), 1024);
  contest.enter({"KOI8R", 3}, {"прив╕т, ╖жак", 0, 0, 0}, false);
  contest.enter({"KOI8U", 3}, {"привіт, їжак", 0, 0, 0}, false);
  contest.enter({"WIN1251", 2}, {"РТЙЧ¦Ф, §ЦБЛ", 0, 0, 0}, false);
  EXPECT_STREQ(contest.winner().name, "KOI8U");
  EXPECT_GT(contest.winner().confidence, 0.8);
  EXPECT_GT(contest.lead(), 0);
  EXPECT_FALSE(contest.leaders().empty());
}

TEST(Detect, ConfidenceIsSharedByOtherTextsOnly) {
  const test::Exact bytes("caf\xe9 au lait");
  Contest contest(sample(bytes), 1024);
  contest.enter({"LATIN1", 2}, {"café au lait", 0, 0, 0}, false);
  const double alone = contest.winner().confidence;
  contest.enter({"WIN1252", 1}, {"café au lait", 0, 0, 0}, false);
  EXPECT_STREQ(contest.winner().name, "WIN1252");
  EXPECT_GE(contest.winner().confidence, alone);
  contest.enter({"LATIN2", 1}, {"cafę au lait", 0, 0, 0}, false);
  EXPECT_LT(contest.winner().confidence, alone);
  // Broken characters lower it, too.
  Contest broken(sample(bytes), 1024);
  broken.enter({"LATIN1", 0}, {"café au lait", 12, 12, 0}, true);
  EXPECT_LE(broken.winner().confidence, 0.5);
}

}  // namespace
}  // namespace neardup::detect_encoding_test
