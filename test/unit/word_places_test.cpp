// Places of texts and their sentences: what the rule says by example, and the same as the obvious version on any bytes.
#include "core/word_model/word_places.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "test/reference/cut_short.h"
#include "test/reference/signature_sets.h"
#include "test/reference/word_reference.h"
#include "test/unit/support.h"

namespace neardup::word_places_test {
namespace {

using reference::Document;

Document places(std::string_view text) {
  const test::Exact exact(text);
  WordPlaces scanner(exact.data(), exact.size());
  Document out;
  for (WordPlace place; scanner.next(&place);) {
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(place.word.data()[place.word.size() + i], 0);
    out.push_back({std::string(place.word), place.begins});
  }
  WordPlace place;
  EXPECT_FALSE(scanner.next(&place));
  return out;
}

// Words, '*' for a place without one, '|' where a sentence begins but the first.
std::string shown(std::string_view text) {
  std::string out;
  for (const reference::Place& p : places(text)) {
    if (!out.empty()) out += p.begins ? " | " : " ";
    out += p.word.empty() ? "*" : p.word;
  }
  EXPECT_EQ(places(text), reference::place_words(text)) << text;
  return out;
}

TEST(WordPlaces, Words) {
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown(" . "), "");
  EXPECT_EQ(shown("I have a Black cat"), "i have a black cat");
  EXPECT_EQ(shown("in 1999 the x2 of snake_case _ _it_ it's"), "in * the * of * * * it s");
  EXPECT_EQ(shown("ÉTÉ Straße ПРИВІТ \u4e2d\u6587"), "été straße привіт \u4e2d \u6587");
  // Decimal digits of any script, but not other numbers.
  EXPECT_EQ(shown("a\u0663 \u0e51 x\U0001d7ff \U00011f50 \U0001e4f9 \uff10 x\u00b2 \u2163 \u00bd"),
            "* * * * * * x\u00b2 \u2173 \u00bd");
  EXPECT_TRUE(is_decimal_digit('0') && is_decimal_digit('9') && !is_decimal_digit('/') && !is_decimal_digit(':'));
}

TEST(WordPlaces, LongWords) {
  for (const size_t n : {1023u, 1024u, 1025u, 5000u}) {
    const std::string word(n, 'a');
    EXPECT_EQ(shown("x " + word + " y"), "x " + (n <= 1024 ? word : "*") + " y") << n;
    EXPECT_EQ(shown(word + "1"), "*");
    EXPECT_EQ(shown(word + "\u00e9"), n <= 1022 ? word + "\u00e9" : "*");
  }
  std::string cyrillic;
  for (int i = 0; i < 512; ++i) cyrillic += "\u0434";
  EXPECT_EQ(shown(cyrillic), cyrillic);
  EXPECT_EQ(shown(cyrillic + "\u0434"), "*");
  EXPECT_EQ(shown("a" + cyrillic + " b"), "* b");
  // Two bytes that are folded to three.
  std::string grows;
  for (int i = 0; i < 400; ++i) grows += "\u023a";
  EXPECT_EQ(shown(grows), "*");
}

TEST(WordPlaces, Sentences) {
  EXPECT_EQ(shown("One two. Three"), "one two | three");
  EXPECT_EQ(shown("One! Two? Three"), "one | two | three");
  EXPECT_EQ(shown("a?b c!d"), "a | b c | d");
  EXPECT_EQ(shown("a\u2026b c\u3002d e\uff01f g\uff1fh i\uff61j k\u0964l m\u061fn o\u06d4p q\u203cr s\u2047t u\u2048v "
                  "w\u2049x"),
            "a | b c | d e | f g | h i | j k | l m | n o | p q | r s | t u | v w | x");
  // A full stop needs white space behind it,
  EXPECT_EQ(shown("no.Space 3.14 www.Example.org"), "no space * * www example org");
  EXPECT_EQ(shown("no.\tTab no.\nLine no.\u00a0Space no.\u3000Space"), "no | tab no | line no | space no | space");
  EXPECT_EQ(shown("no.\uff0cComma"), "no comma");
  EXPECT_EQ(shown("full\uff0e Width"), "full | width");
  // or quotes and brackets that close, and then white space.
  EXPECT_EQ(shown("he said \"so.\" Then (it was.) [Or.'] \u00abDa.\u00bb \u201eJa.\u201c Ende"),
            "he said so | then it was | or | da | ja | ende");
  EXPECT_EQ(shown("so.\"Then so.( Then so.)- Then"), "so then so then so then");
  EXPECT_EQ(shown("wait... Then"), "wait | then");
  EXPECT_EQ(shown("wait.- Then"), "wait then");
  // Initials and abbreviations.
  EXPECT_EQ(shown("Mr. Smith of J. R. R. Tolkien, e.g. the one vs. other"),
            "mr | smith of j r r tolkien e g the one vs other");
  EXPECT_EQ(shown("\u041c. \u0411\u0443\u043b\u0433\u0430\u043a\u043e\u0432. \u0422\u0443\u0442. \u0442\u0430\u043c"),
            "\u043c \u0431\u0443\u043b\u0433\u0430\u043a\u043e\u0432 | \u0442\u0443\u0442 \u0442\u0430\u043c");
  EXPECT_EQ(shown("e\u0301. Then"), "e\u0301 | then");  // two code points
  EXPECT_EQ(shown("in 5. Then no. 5 no. _x"), "in * then no | * no | *");
  // Georgian has no capitals at the beginning of sentences.
  EXPECT_EQ(shown("\u10d0\u10d1. \u10d2\u10d3"), "\u10d0\u10d1 | \u10d2\u10d3");
  EXPECT_TRUE(is_lower_case('a') && is_lower_case(0xe9) && is_lower_case(0x434) && is_lower_case(0x1e943));
  EXPECT_FALSE(is_lower_case('A') || is_lower_case('1') || is_lower_case(0x4e2d) || is_lower_case(0x10d0) ||
               is_lower_case(0x13a0) || is_lower_case(0xffffffff));
}

TEST(WordPlaces, Paragraphs) {
  EXPECT_EQ(shown("one\ntwo"), "one two");
  EXPECT_EQ(shown("one\n\ntwo"), "one | two");
  EXPECT_EQ(shown("one\r\n \t\r\ntwo"), "one | two");
  EXPECT_EQ(shown("one\n-\ntwo"), "one two");
  EXPECT_EQ(shown("one\n\f\ntwo\n\u00a0\nthree"), "one two three");
  EXPECT_EQ(shown("one\n\"\ntwo"), "one two");
  EXPECT_EQ(shown("a.\n\nb"), "a | b");
}

TEST(WordPlaces, EqualsTheReference) {
  test::Random random(1);
  static constexpr const char* kPieces[] = {".",       ". ",      ".\n",    "!",        "\n",     "\n\n",   " \n",
                                            "\r",      "\t",      ".\"",    ".) ",      "\u2026", "\u3002", "\uff0e",
                                            "\uff0e ", "\u201d ", "\u00a0", "\u3000",   "a",      "B",      "c. D",
                                            "5",       "_",       "\xff",   "\xe2\x80", "\u0301", "\u10d0", "\u13a0",
                                            "\uab70",  "\u4e2d",  "\u0e51", "x. y",     "Xy. Zw", "\f",     "-"};
  for (int i = 0; i < 400; ++i) {
    std::string text = i % 2 == 0 ? test::mixed_text(random, random() % 600) : "";
    for (uint64_t n = random() % 60; n > 0; --n) {
      const size_t at = random() % (text.size() + 1);
      text.insert(at, kPieces[random() % std::size(kPieces)]);
    }
    ASSERT_EQ(places(text), reference::place_words(text)) << text;
  }
}

TEST(WordPlaces, DigitsAndLowerCaseEqualTheReference) {
  for (uint32_t c = 0; c < 0x110000; c += c < 0x20000 ? 1 : 97) {
    ASSERT_EQ(is_decimal_digit(c), reference::decimal_digit(c)) << c;
    ASSERT_EQ(is_lower_case(c), reference::lower_case(c)) << c;
  }
}

// Long words and long gaps, too, are left when asked.
TEST(WordPlaces, CanBeStopped) {
  const size_t n = 1 << 20;
  std::string words;
  while (words.size() < n) words += "some words, ";
  for (const std::string& text : {std::string(n, ' '), std::string(n, 'a'), std::string(n, '\x85'), words}) {
    reference::StopAfter never(INT64_MAX);
    WordPlaces all(reinterpret_cast<const uint8_t*>(text.data()), text.size(), &never);
    for (WordPlace place; all.next(&place);) {
    }
    EXPECT_GE(never.asked, 8);
    for (int64_t after = 0; after < 8; ++after) {
      reference::StopAfter stop(after);
      EXPECT_THROW(
          {
            WordPlaces scanner(reinterpret_cast<const uint8_t*>(text.data()), text.size(), &stop);
            for (WordPlace place; scanner.next(&place);) {
            }
          },
          Error);
    }
  }
}

}  // namespace
}  // namespace neardup::word_places_test
