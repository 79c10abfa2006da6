// Units line and paragraph against their definition: places, keys, hashes and texts of shingles.
#include "core/document/lines.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/document/shingle.h"
#include "core/document/text_units.h"
#include "core/unicode/utf8.h"

#include "test/reference/passages_reference.h"
#include "test/unit/support.h"

namespace neardup::lines_test {
namespace {

using test::Exact;
using test::Random;

constexpr Unit kUnits[] = {Unit::line, Unit::paragraph};

// White space of every kind, and what looks like it: U+200B is none, nor is NUL.
std::string some_lines(Random& random) {
  static const std::string pieces[] = {
      "\n",           "\n",           "\r\n",     "\r",   "\v",  "\f",  "\xc2\x85",
      "\xe2\x80\xa8", "\xe2\x80\xa9", " ",        "\t",   "a",   "b c", "\xc3\xa9",
      "\xe2\x80\x8b", "\xe3\x80\x80", "\xc2\xa0", "\xff", "W w", ".",   std::string(1, '\0')};
  std::string out;
  for (uint64_t n = random() % 40; n > 0; --n) out += pieces[random() % std::size(pieces)];
  return out;
}

std::vector<uint64_t> run_hashes(const std::vector<reference::PlacedUnit>& units, size_t k) {
  std::vector<uint64_t> h;
  for (const auto& unit : units) h.push_back(reference::xxh3(unit.key));
  return reference::combine(h, k);
}

TEST(Lines, AreTheDefinition) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = some_lines(random), text = test::well_formed(bytes);
    const Exact exact(text);
    for (const Unit unit : kUnits) {
      SCOPED_TRACE(std::string(unit_name(unit)) + " <" + text + ">");
      const auto expected = reference::placed_units(unit, text);
      UnitScanner units(unit, exact.data(), exact.size());
      TextUnit u;
      std::string_view key;
      size_t n = 0;
      for (; units.next(&u, &key); ++n) {
        ASSERT_LT(n, expected.size());
        ASSERT_EQ(key, expected[n].key);
        ASSERT_EQ(u.position, expected[n].position);
        ASSERT_EQ(count_code_points(exact.data(), u.begin), u.position);
        ASSERT_EQ(count_code_points(exact.data(), u.end), u.position + expected[n].length);
        ASSERT_GE(units.consumed(), u.end);
      }
      ASSERT_EQ(n, expected.size());
      const int k = 1 + static_cast<int>(random() % 5);
      ASSERT_EQ(test::shingle_hashes(unit, k, bytes), run_hashes(expected, static_cast<size_t>(k)));
    }
  }
}

TEST(Lines, Examples) {
  const auto texts = [](Unit unit, std::string_view text) { return test::shingle_texts(unit, 1, text); };
  const std::string poem = "  One  line\r\n\r\n\tand\tanother\nof it \n \n\nEND";
  EXPECT_EQ(texts(Unit::line, poem), (std::vector<std::string>{"One line", "and another", "of it", "END"}));
  EXPECT_EQ(texts(Unit::paragraph, poem), (std::vector<std::string>{"One line", "and another of it", "END"}));
  EXPECT_EQ(test::shingle_texts(Unit::line, 2, "a\nb\nc"), (std::vector<std::string>{"a\nb", "b\nc"}));
  EXPECT_TRUE(texts(Unit::line, " \n\t\r\n").empty());
  EXPECT_EQ(texts(Unit::line, "Case\ncase").size(), 2u);
  EXPECT_NE(test::shingle_hashes(Unit::line, 1, "Case"), test::shingle_hashes(Unit::line, 1, "case"));
  EXPECT_EQ(test::shingle_hashes(Unit::line, 1, " a  b "), test::shingle_hashes(Unit::line, 1, "a\tb"));
  EXPECT_EQ(test::shingle_hashes(Unit::paragraph, 1, "a\nb"), test::shingle_hashes(Unit::line, 1, "a b"));
}

// More lines than one batch has.
TEST(Lines, ManyLines) {
  std::string text;
  std::vector<std::string> lines;
  for (int i = 0; i < 10000; ++i) {
    lines.push_back("line " + std::to_string(i));
    text += lines.back() + "\n";
  }
  EXPECT_EQ(test::shingle_texts(Unit::line, 1, text), lines);
  EXPECT_EQ(test::shingle_hashes(Unit::line, 3, text), run_hashes(reference::placed_lines(text), 3));
}

}  // namespace
}  // namespace neardup::lines_test
