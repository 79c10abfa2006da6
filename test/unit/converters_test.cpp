// The users of uchardet, OpenCC and RE2: where pieces end, what is converted, guessed and refused.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/intake/clean.h"
#include "text/charset.h"
#include "text/patterns.h"
#include "text/script.h"

namespace neardup::converters_test {
namespace {

const std::string kHanziText = "字";  // of three bytes

std::string repeated(const std::string& text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Converters, PiecesEndWhereTheyMayBeCut) {
  EXPECT_EQ(script_piece(std::string(5000, 'x')), 5000u);
  EXPECT_EQ(script_piece(std::string(10000, 'x') + "\n" + std::string(20000, 'x')), 10001u) << "behind the last line";
  EXPECT_EQ(script_piece(repeated(kHanziText, 3000) + "a" + repeated(kHanziText, 9000)), 9001u) << "behind ASCII";
  EXPECT_EQ(script_piece(repeated(kHanziText, 3000) + "。" + repeated(kHanziText, 9000)), 9003u)
      << "behind a full stop";
  EXPECT_EQ(script_piece(repeated(kHanziText, 9000) + "。" + repeated(kHanziText, 9000)), 27003u) << "a later one";
  const size_t n = script_piece(repeated(kHanziText, 700000));
  EXPECT_GT(n, 1000000u);
  EXPECT_EQ(n % 3, 0u) << "not inside a character";
}

TEST(Converters, Scripts) {
  std::unique_ptr<ScriptConverter> simplified, traditional;
  try {
    simplified = ScriptConverter::open(ChineseScript::simplified);
    traditional = ScriptConverter::open(ChineseScript::traditional);
  } catch (const Error& e) {
    ASSERT_EQ(e.code(), Errc::unsupported);
    GTEST_SKIP() << e.what();
  }
  EXPECT_EQ(simplified->convert("漢語"), "汉语");
  EXPECT_EQ(traditional->convert("汉语"), "漢語");
  EXPECT_EQ(simplified->convert("a 漢語 b"), "a 汉语 b");
  EXPECT_EQ(simplified->convert("abc"), "abc");
}

TEST(Converters, TheWholeTextIsGuessedFrom) {
  const std::string cyrillic =
      "\xcf\xee\xf0\xee\xec \xe4\xee \xee\xf1\xf2\xf0\xee\xe2\xe0 \xe2\xb3\xe4\xf5\xee\xe4\xe8\xf2\xfc ";  // WIN1251
  const std::string plain(20000, 'a');
  if (guess_charset(repeated(cyrillic, 50), nullptr).empty()) GTEST_SKIP() << "built without uchardet";
  const std::string guess = guess_charset(plain, nullptr);
  EXPECT_NE(guess_charset(plain + repeated(cyrillic, 500), nullptr), guess);
}

std::string refusal(const std::string& pattern) {
  try {
    Rule rule;
    rule.name = "one";
    rule.pattern = pattern;
    compile_patterns({rule});
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Converters, PatternsThatAreRefused) {
  if (!has_patterns()) GTEST_SKIP() << "built without RE2";
  EXPECT_EQ(refusal("[a-z]{1,1000}"), "");
  const std::string large = refusal("[a-z]{1,1000}[0-9]{1,1000}[A-Z]{1,1000}[a-m]{1,1000}");
  EXPECT_NE(large.find("the pattern is too large, "), std::string::npos) << large;
  const std::string bad = refusal("(é");
  EXPECT_NE(bad.find("rule \"one\" has a bad pattern"), std::string::npos) << bad;
  EXPECT_TRUE(std::all_of(bad.begin(), bad.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) << bad;
}

}  // namespace
}  // namespace neardup::converters_test
