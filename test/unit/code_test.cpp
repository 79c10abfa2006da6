// Unit code against its definition: places, keys, hashes and texts of shingles; reading from any token on.
#include "core/document/code.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/document/shingle.h"
#include "core/document/text_units.h"
#include "core/unicode/utf8.h"

#include "test/reference/passages_reference.h"
#include "test/unit/support.h"

namespace neardup::code_test {
namespace {

using test::Exact;
using test::Random;

// Pieces that begin, end and change tokens, and others between them.
std::string some_code(Random& random) {
  static const std::string pieces[] = {"\"",
                                       "\"",
                                       "'",
                                       "'",
                                       "`",
                                       "\\",
                                       "\\",
                                       "\n",
                                       "\r\n",
                                       "\r",
                                       " ",
                                       " ",
                                       "\t",
                                       "//",
                                       "/*",
                                       "*/",
                                       "#",
                                       "#define",
                                       "#if",
                                       "# if",
                                       "#endifs",
                                       "R\"",
                                       "LR\"x(",
                                       ")x\"",
                                       ")\"",
                                       "(",
                                       ")",
                                       "u8",
                                       "rb",
                                       "F",
                                       "x",
                                       "name",
                                       "if",
                                       "None",
                                       "0x1e+2",
                                       "1e",
                                       "E",
                                       "p",
                                       "+",
                                       "-",
                                       ".",
                                       "5",
                                       "1'0",
                                       "=",
                                       "<",
                                       ">",
                                       "&",
                                       "*",
                                       ":",
                                       "?",
                                       "!",
                                       "@",
                                       "$a",
                                       "_",
                                       "\xc3\xa9",
                                       "\xe3\x80\x80",
                                       "\xef\xbb\xbf",
                                       "\xf0\x9f\x98\x80",
                                       "\xff",
                                       "\xe2\x80\xa8",
                                       "\"\"\"",
                                       "'''",
                                       "...",
                                       "delimiter",
                                       "\x7f",
                                       std::string(1, '\0')};
  std::string out;
  for (uint64_t n = random() % 50; n > 0; --n) out += pieces[random() % std::size(pieces)];
  return out;
}

std::vector<std::string> keys(std::string_view text) { return test::shingle_texts(Unit::code, 1, std::string(text)); }

std::vector<std::string> list(std::string_view words) {
  std::vector<std::string> out(1);
  for (const char c : words) {
    if (c != ' ')
      out.back() += c;
    else
      out.emplace_back();
  }
  return out;
}

TEST(Code, IsTheDefinition) {
  Random random(1);
  size_t tokens = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string bytes = some_code(random), text = test::well_formed(bytes);
    const Exact exact(text);
    SCOPED_TRACE("<" + text + ">");
    const auto expected = reference::placed_units(Unit::code, text);
    UnitScanner units(Unit::code, exact.data(), exact.size()), without_keys(Unit::code, exact.data(), exact.size());
    TextUnit u, same;
    std::string_view key;
    size_t n = 0;
    std::vector<uint64_t> hashes;
    for (; units.next(&u, &key); ++n) {
      ASSERT_LT(n, expected.size());
      ASSERT_EQ(key, expected[n].key);
      ASSERT_EQ(u.position, expected[n].position);
      ASSERT_EQ(count_code_points(exact.data(), u.begin), u.position);
      ASSERT_EQ(count_code_points(exact.data(), u.end), u.position + expected[n].length);
      ASSERT_EQ(units.consumed(), u.end);
      ASSERT_TRUE(without_keys.next(&same));
      ASSERT_EQ(same.begin, u.begin);
      hashes.push_back(reference::xxh3(std::string(key)));
    }
    ASSERT_EQ(n, expected.size());
    tokens += n;
    const int k = 1 + static_cast<int>(random() % 5);
    ASSERT_EQ(test::shingle_hashes(Unit::code, k, bytes), reference::combine(hashes, static_cast<size_t>(k)));
  }
  EXPECT_GT(tokens, 100000u);
}

// A token reads the same from its start on, whatever stood before it, and up to 4 bytes behind its end.
TEST(Code, IsReadFromAnyTokenOn) {
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = test::well_formed(some_code(random));
    const Exact exact(text);
    UnitScanner units(Unit::code, exact.data(), exact.size());
    TextUnit u, first;
    std::string_view key, again;
    while (units.next(&u, &key)) {
      SCOPED_TRACE("<" + text + "> " + std::to_string(u.begin));
      for (const size_t behind : {exact.size(), std::min(exact.size(), u.end + 4)}) {
        const Exact rest(text.substr(u.begin, behind - u.begin));
        UnitScanner from(Unit::code, rest.data(), rest.size());
        ASSERT_TRUE(from.next(&first, &again));
        ASSERT_EQ(first.begin, 0u);
        ASSERT_EQ(first.end, u.end - u.begin);
        ASSERT_EQ(again, key);
      }
    }
  }
}

TEST(Code, Examples) {
  EXPECT_EQ(keys("int sum(int a) { return a + 1; } // all"), list("int id ( int id ) { return id + lit ; }"));
  EXPECT_EQ(keys("int total(int x) { /* more */ return x + 99; }"), keys("int sum(int a){return a+1;}"));
  EXPECT_EQ(keys("def f(x):\n    # why\n    return x or None"), list("def id ( id ) : return id or None"));
  EXPECT_EQ(keys("#include <stdio.h>\n#define N 5\n#ifdef N\n#endif"),
            list("#include < id . id > #define id lit #ifdef id #endif"));
  EXPECT_EQ(keys("# include x\n#!/bin/sh\n#defined\n#\n#"), std::vector<std::string>());
  EXPECT_EQ(keys("a /* b\n c */ d"), list("id id"));
  EXPECT_EQ(keys("a /* b"), list("id"));
  EXPECT_EQ(keys("a \\\n b \\ c"), list("id id \\ id"));
}

TEST(Code, Strings) {
  EXPECT_EQ(keys(R"(f("a\"b // c", 'd', '\'', "") // e)"), list("id ( lit , lit , lit , lit )"));
  EXPECT_EQ(keys("\"no end\nx"), list("lit id"));
  EXPECT_EQ(keys("\"goes \\\n on\" x"), list("lit id"));
  EXPECT_EQ(keys("\"goes \\\r\n on\" x"), list("lit id"));
  EXPECT_EQ(keys("\"\"\"a\n\"b\" \\\"\"\" c\"\"\" x"), list("lit id"));
  EXPECT_EQ(keys("'''a\nb''' x '''c"), list("lit id lit"));
  EXPECT_EQ(keys("`a\n${b}` x"), list("lit id"));
  EXPECT_EQ(keys("u8\"a\" L'b' rb'c' Fr\"d\" x\"e\""), list("lit lit lit lit id lit"));
  EXPECT_EQ(keys("R\"(a\" // \n)\" x"), list("lit id"));
  EXPECT_EQ(keys("u8R\"d(a)\" )e\" )d\" x"), list("lit id"));
  EXPECT_EQ(keys("R\"d(a)\" x"), list("lit"));
  EXPECT_EQ(keys("R\"12345678901234567(\" x"), list("lit id"));
  for (const size_t n : std::initializer_list<size_t>{
           0, 1, 15, 16, 17}) {  // a longer delimiter is none: then the string ends at the quote
    const std::string name(n, 'd');
    SCOPED_TRACE(n);
    EXPECT_EQ(keys("R\"" + name + "(a\" b)" + name + "\" x"), list(n <= 16 ? "lit id" : "lit id ) id lit"));
  }
  EXPECT_EQ(keys("r\"a\\\"b\" x"), list("lit id"));
  EXPECT_EQ(keys("\"\\"), list("lit"));
}

TEST(Code, NumbersAndOperators) {
  EXPECT_EQ(keys("1 .5 1.5e-3 0x1p+4 1'000 10L 1_000"), list("lit lit lit lit lit lit lit"));
  EXPECT_EQ(keys("0xe+1 1e+1 1-e"), list("lit + lit lit lit - id"));
  EXPECT_EQ(keys("a.b 1..2"), list("id . id lit"));
  EXPECT_EQ(keys("vector<vector<int>> x >>= y >= z"), list("id < id < int > > id > >= id >= id"));
  EXPECT_EQ(keys("a<<=b<=>c===d->e::f...g"), list("id <<= id <=> id === id -> id :: id ... id"));
}

// More tokens than one batch has, and a comment longer than a piece of those who read in pieces.
TEST(Code, LongTexts) {
  std::string text;
  std::vector<uint64_t> hashes;
  for (int i = 0; i < 10000; ++i) {
    text += i % 3 == 0 ? "if" : i % 3 == 1 ? " x " : "/* " + std::string(static_cast<size_t>(i), 'c') + "*/ +";
    hashes.push_back(reference::xxh3(i % 3 == 0 ? "if" : i % 3 == 1 ? "id" : "+"));
    text += ' ';
  }
  EXPECT_EQ(test::shingle_hashes(Unit::code, 3, text), reference::combine(hashes, 3));
}

}  // namespace
}  // namespace neardup::code_test
