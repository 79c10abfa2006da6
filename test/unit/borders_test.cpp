// Sizes around the constants by which texts are cut into pieces, and around limits that users are told: what ends with
// a piece, and what reaches into the next one by a byte.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/diff/shown_diff.h"
#include "core/exact/edit_distance.h"
#include "core/intake/clean.h"
#include "core/intake/detect_encoding.h"
#include "core/intake/title.h"

namespace neardup::borders_test {
namespace {

// n - 1, n, n + 1.
std::vector<size_t> around(size_t n) { return {n - 1, n, n + 1}; }

const uint8_t* bytes(const std::string& text) { return reinterpret_cast<const uint8_t*>(text.data()); }

// Sees the pieces that rules are applied to, and finds nothing.
class Pieces final : public Patterns {
 public:
  void may_match(std::string_view piece, std::vector<uint8_t>* flags) override {
    pieces.emplace_back(piece);
    flags->assign(1, 0);
  }
  bool find(size_t, std::string_view, size_t, std::string_view*, int) override { return false; }
  int groups(size_t) const override { return 0; }

  std::vector<std::string> pieces;
};

// A text with one line end, or an empty line, around the end of the first piece.
TEST(Borders, PiecesOfCleanedTexts) {
  const std::vector<Rule> rules = {{"t", RuleKind::text, "never", "", {}}};
  for (const std::string end : {"\n", "\n\n", "\n\n\n", "\n \n"}) {
    for (size_t at = kCleanPiece - 6; at <= kCleanPiece + 2; ++at) {
      for (const std::string fill : {"x", "\u00e9"}) {
        std::string text;
        while (text.size() + fill.size() <= at) text += fill;
        text.resize(at, 'y');
        const std::string whole = text + end + text;
        Pieces seen;
        clean_text(rules, seen, whole, nullptr);
        std::string joined;
        for (const std::string& piece : seen.pieces) {
          EXPECT_LE(piece.size(), kCleanPiece) << at;
          EXPECT_NE(static_cast<uint8_t>(piece[0]) & 0xc0, 0x80) << at;
          joined += piece;
        }
        EXPECT_TRUE(joined == whole) << at;
      }
    }
  }
}

TEST(Borders, WordsOfADifference) {
  for (const size_t size : around(60)) {
    const std::string shown = shown_difference("same here", "same " + std::string(size, 'x'));
    EXPECT_EQ(shown, "same [-here-] {+" + std::string(std::min<size_t>(size, 60), 'x') + (size > 60 ? "…" : "") + "+}");
  }
}

// Changes are shown until there are 400 bytes: for each length of what is before the last one.
TEST(Borders, BytesOfADifference) {
  std::vector<size_t> lengths;
  for (size_t size = 30; size <= 60; ++size) {
    for (const std::string same : {" same ", " sames "}) {
      std::string a, b;
      for (const size_t word : {size_t{60}, size_t{60}, size}) {
        a += std::string(word, 'a') + same;
        b += std::string(word, 'b') + same;
      }
      const std::string shown = shown_difference(a + "more", b + "last");
      const std::string before = shown.substr(0, shown.find(" [-more-]"));
      lengths.push_back(before.size());
      EXPECT_EQ(before.size() < shown.size(), before.size() <= 400) << shown;
    }
  }
  for (const size_t length : around(400)) EXPECT_TRUE(std::count(lengths.begin(), lengths.end(), length)) << length;
}

TEST(Borders, BracketsOfTitles) {
  constexpr size_t kMost = 200;  // with the bracket that closes
  for (const size_t size : around(kMost)) {
    const std::string text = "[" + std::string(size - 1, 'x') + "] title";
    EXPECT_EQ(make_title(text) == "title", size <= kMost) << size;
  }
  for (const size_t size : around(kMaxFilename)) {
    if (size > kMaxFilename)
      EXPECT_THROW(make_title(std::string(size, 'x')), Error);
    else
      EXPECT_EQ(make_title(std::string(size, 'x')).size(), size);
  }
}

// Two texts that differ in one byte, whose characters are counted by pieces of 64 kB.
TEST(Borders, CharactersOfEditRates) {
  for (const size_t piece : {size_t{64 * 1024}, size_t{128 * 1024}}) {
    for (const size_t size : around(piece)) {
      std::string a(size, 'x'), b = a;
      b[size / 2] = 'y';
      EXPECT_EQ(edit_rate(Unit::character, bytes(a), size, bytes(b), size), 1 / (2.0 * static_cast<double>(size)));
      EXPECT_EQ(edit_distance(Unit::character, bytes(a), size, bytes(b), size), 1u);
    }
  }
}

// A document of one or two bytes more than its sample: the sample may end within a character, the document may not.
TEST(Borders, SamplesOfEncodings) {
  constexpr size_t kSample = 1 << 20;
  for (size_t size = kSample - 2; size <= kSample + 2; ++size) {
    std::string text = "\u00e9" + std::string(size - 4, 'x') + "\u00e9";
    const Sample s = encoding_sample(bytes(text), text.size(), nullptr);
    EXPECT_EQ(s.size, std::min(size, kSample));
    EXPECT_EQ(s.whole, size <= kSample) << size;
    EXPECT_STREQ(certain_encoding(s).name, "UTF8");
  }
}

}  // namespace
}  // namespace neardup::borders_test
