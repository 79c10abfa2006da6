// Shingles against golden vectors and against the obvious version, for every form of the kernels.
#include "core/document/shingle.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "test/reference/shingle_reference.h"
#include "test/unit/support.h"

namespace neardup::shingle_test {
namespace {

using test::Random;
using test::shingle_hashes;
using test::shingle_texts;

constexpr size_t kBlock = ShingleStream::kInputBlock;

// Every unit and form of the kernels for any bytes: ill-formed sequences read as U+FFFD.
void check(const std::string& bytes, const std::vector<int>& ks) {
  const std::string text = test::well_formed(bytes);
  for (const int k : ks) {
    const size_t units = static_cast<size_t>(k);
    const auto words = reference::word_shingle_hashes(text, units);
    const auto characters = reference::char_shingle_hashes(text, units);
    const auto raw = reference::byte_shingle_hashes(bytes, units);
    test::for_each_kernels([&] {
      ASSERT_EQ(shingle_hashes(Unit::word, k, bytes), words) << "k " << k << ", " << bytes.size() << " bytes";
      ASSERT_EQ(shingle_hashes(Unit::character, k, bytes), characters) << "k " << k;
      ASSERT_EQ(shingle_hashes(Unit::byte, k, bytes), raw) << "k " << k;
    });
    ASSERT_EQ(shingle_texts(Unit::word, k, bytes), reference::word_shingles(text, units)) << "k " << k;
    ASSERT_EQ(shingle_texts(Unit::character, k, bytes).size(), characters.size()) << "k " << k;
  }
}

TEST(Shingle, GoldenVectors) {
  const auto lines = test::golden_lines("golden_shingles.tsv");
  ASSERT_GT(lines.size(), 100u);
  test::for_each_kernels([&] {
    for (const auto& fields : lines) {
      ASSERT_EQ(fields.size(), 4u);
      const Unit unit = fields[0] == "byte" ? Unit::byte : parse_text_unit(fields[0]);
      const std::string text = test::bytes_of_hex(fields[2]);
      EXPECT_EQ(shingle_hashes(unit, std::stoi(fields[1]), text), test::hex_list(fields[3]))
          << fields[0] << " " << fields[1] << " " << fields[2];
    }
  });
}

TEST(Shingle, MixedTextsEqualTheReference) {
  Random random(1);
  for (int i = 0; i < 150; ++i) check(test::mixed_text(random, 1 + random() % 3000), {1, 3, 1 + int(random() % 64)});
}

TEST(Shingle, LongMixedTexts) {
  Random random(2);
  for (int i = 0; i < 12; ++i) check(test::mixed_text(random, 20000 + random() % 20000), {3, 5});
}

// Everything that may straddle a block's border, at every offset around it.
TEST(Shingle, BlockBorders) {
  const std::string pieces[] = {
      "word",
      "UPPER lower",
      " ",
      "\xd0\x96\xd0\xb6",          // Zhe, zhe
      "\xe4\xb8\xad\xe6\x96\x87",  // two letters that are words
      "e\xcc\x81t\xc3\xa9",        // a mark and a letter that needs none
      "\xe4\xb8\xad\xcc\x81z",     // a mark behind a solo letter, then a run
      "\xf0\x9f\x98\x80",
      "\xf0\x90\x90\x80x",  // emoji; Deseret, which folds
      "\xcc\x81",
      "\xe2\x84\xaa"
      "elvin",  // a mark alone; the Kelvin sign folds to k
      "\xff",
      "\xe4\xb8",  // ill-formed
      "12_34-56",
  };
  for (const size_t blocks : {1u, 2u}) {
    for (const std::string& piece : pieces) {
      for (int shift = -8; shift <= 8; ++shift) {
        const size_t lead = blocks * kBlock + static_cast<size_t>(shift + 8) - 8 - piece.size() / 2;
        for (const char filler : {'a', ' '}) {
          std::string text(lead, filler);
          for (size_t i = 0; filler == ' ' && i < lead; i += 700) text[i] = 'q';
          check(text + piece + "tail of it", {1, 3});
          check(text + piece, {2});
        }
      }
    }
  }
}

// Lengths around the block, the 64-byte group and the 8-byte step, filled to the end or ending in a separator.
TEST(Shingle, Lengths) {
  std::vector<size_t> lengths;
  for (size_t n = 0; n <= 200; ++n) lengths.push_back(n);
  for (size_t n = kBlock - 8; n <= kBlock + 8; ++n) lengths.push_back(n);
  for (size_t n = 2 * kBlock - 8; n <= 2 * kBlock + 8; ++n) lengths.push_back(n);
  for (const size_t n : lengths) {
    std::string text;
    for (size_t i = 0; i < n; ++i) text += i % 7 == 6 ? ' ' : static_cast<char>('A' + i * i % 26);
    check(text, {1, 3, 64});
    if (n > 0) text.back() = '.';
    check(text, {2, 5});
  }
}

// Every length at which a word is hashed in another way: 8, 16, the buffer of 1024, one block, several.
TEST(Shingle, WordLengths) {
  std::vector<size_t> lengths;
  for (size_t n = 1; n <= 40; ++n) lengths.push_back(n);
  for (const size_t n : {239u,  240u,  241u,  1020u, 1021u, 1023u, 1024u, 1025u, 1030u, 2047u,  2048u,
                         2049u, 4088u, 4095u, 4096u, 4097u, 4104u, 5000u, 8192u, 9000u, 12289u, 100000u}) {
    lengths.push_back(n);
  }
  for (const size_t n : lengths) {
    std::string word;
    for (size_t i = 0; i < n; ++i) word += static_cast<char>("aBcDeFg0_"[i * 5 % 9]);
    std::string cyrillic;
    for (size_t i = 0; i < n / 2 + 1; ++i) test::append_utf8(&cyrillic, 0x410 + static_cast<uint32_t>(i % 64));
    check(word, {1});
    check("an " + word + " end", {1, 2});
    check("an " + cyrillic + " end", {1});
    check(word + cyrillic + word + " end " + cyrillic, {2});
    // A letter of its own and marks without end are one word too.
    std::string marks = "\xe4\xb8\xad";
    for (size_t i = 0; i < n / 2; ++i) marks += "\xcc\x81";
    check(marks + "z " + word, {1});
  }
}

TEST(Shingle, AnyBytes) {
  Random random(3);
  for (int i = 0; i < 150; ++i) {
    std::string bytes(random() % 6000, ' ');
    const unsigned kind = random() % 3;
    for (char& c : bytes) {
      const uint64_t r = random();
      // All bytes; leads and continuations mostly; ASCII with a few others.
      if (kind == 0) c = static_cast<char>(r);
      if (kind == 1) c = static_cast<char>(r % 4 == 0 ? 0xc0 | (r >> 8 & 0x3f) : 0x80 | (r >> 8 & 0x3f));
      if (kind == 2) c = static_cast<char>(r % 40 == 0 ? r >> 8 : "ab C.d"[(r >> 8) % 6]);
    }
    check(bytes, {1, 3});
  }
}

TEST(Shingle, BrokenMixedText) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    std::string text = test::mixed_text(random, 1 + random() % 5000);
    for (uint64_t n = random() % 20; n > 0; --n) text[random() % text.size()] = static_cast<char>(random());
    check(text.substr(0, random() % (text.size() + 1)), {3});
  }
}

// A short document has one shingle, all of it; k goes into its hash.
TEST(Shingle, ShortDocuments) {
  for (const std::string text : {"", " ", ".,- \n"}) {
    EXPECT_TRUE(shingle_hashes(Unit::word, 3, text).empty());
    EXPECT_TRUE(shingle_texts(Unit::word, 3, text).empty());
  }
  EXPECT_TRUE(shingle_hashes(Unit::character, 5, "").empty());
  EXPECT_TRUE(shingle_hashes(Unit::byte, 8, "").empty());
  EXPECT_EQ(shingle_hashes(Unit::word, 3, "Two words").size(), 1u);
  EXPECT_NE(shingle_hashes(Unit::word, 3, "two words"), shingle_hashes(Unit::word, 4, "two words"));
  EXPECT_EQ(shingle_texts(Unit::word, 3, "Two, WORDS!"), std::vector<std::string>{"two words"});
  EXPECT_EQ(shingle_texts(Unit::character, 5, "abc"), std::vector<std::string>{"abc"});
  EXPECT_EQ(shingle_texts(Unit::character, 2, "aB c"), (std::vector<std::string>{"aB", "B ", " c"}));
}

TEST(Shingle, WordsByHand) {
  EXPECT_EQ(shingle_texts(Unit::word, 1, "Don't re-use snake_case 3.14"),
            (std::vector<std::string>{"don", "t", "re", "use", "snake_case", "3", "14"}));
  EXPECT_EQ(shingle_texts(Unit::word, 2, "A\xe4\xb8\xad\xe6\x96\x87 b"),
            (std::vector<std::string>{"a \xe4\xb8\xad", "\xe4\xb8\xad \xe6\x96\x87", "\xe6\x96\x87 b"}));
}

TEST(Shingle, BadArguments) {
  const uint8_t text[] = {'a'};
  for (const int k : {-1, 0, 65, 1000000}) {
    EXPECT_THROW(ShingleStream(Unit::word, k, text, 1), Error) << k;
    EXPECT_THROW(ShingleText(Unit::word, k, text, 1), Error) << k;
    EXPECT_THROW(check_k(k), Error) << k;
  }
  EXPECT_THROW(check_k(INT64_MIN), Error);
  EXPECT_NO_THROW(check_k(1));
  EXPECT_NO_THROW(check_k(64));
  EXPECT_EQ(parse_text_unit("word"), Unit::word);
  EXPECT_EQ(parse_text_unit("char"), Unit::character);
  EXPECT_EQ(parse_text_unit("line"), Unit::line);
  EXPECT_EQ(parse_text_unit("paragraph"), Unit::paragraph);
  EXPECT_EQ(parse_text_unit("code"), Unit::code);
  for (const std::string unit : {"", "Word", "words", "byte", "char ", "Line", "lines", "page"}) {
    try {
      parse_text_unit(unit);
      ADD_FAILURE() << unit;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::invalid_argument);
      EXPECT_NE(std::string(e.what()).find('"' + unit + '"'), std::string::npos) << e.what();
      EXPECT_FALSE(e.hint().empty());
    }
  }
  EXPECT_STREQ(unit_name(Unit::word), "word");
  EXPECT_STREQ(unit_name(Unit::character), "char");
  EXPECT_STREQ(unit_name(Unit::byte), "byte");
}

}  // namespace
}  // namespace neardup::shingle_test
