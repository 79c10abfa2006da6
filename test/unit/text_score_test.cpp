// Scores of texts against every way to pair their tokens; what the score promises; limits.
#include "core/exact/text_score.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "test/reference/signature_sets.h"
#include "test/reference/text_score_reference.h"
#include "test/unit/support.h"

namespace neardup::text_score_test {
namespace {

using test::Exact;
using test::Random;

int score(std::string_view a, std::string_view b) {
  const Exact x(a), y(b);
  const std::optional<int> one = text_score(x.data(), x.size(), y.data(), y.size());
  EXPECT_EQ(one, text_score(y.data(), y.size(), x.data(), x.size())) << a << " / " << b;
  return one.value_or(-1);
}

TEST(TextScore, ExamplesOfTheDocumentation) {
  EXPECT_EQ(score("John Smith", "Smith, John"), 100);
  EXPECT_EQ(score("JOHN  SMITH", "john-smith"), 100);
  EXPECT_EQ(score("OBrien", "O'Brien"), 100);
  EXPECT_EQ(score("J. Smith", "John Smith"), 88);  // 1 of 9
  EXPECT_EQ(score("Smith J", "John Smith"), 88);
  EXPECT_EQ(score("Jon Smith", "John Smith"), 88);
  EXPECT_EQ(score("Smith", "John Smith"), 55);      // 4 of 9
  EXPECT_EQ(score("5 High St", "57 High St"), 87);  // digits are no initials: 1 of 8 by the edit distance
  EXPECT_EQ(score("5", "5123"), 25);
  EXPECT_EQ(score("j", "john"), 75);
  EXPECT_EQ(score("abc", "xyz"), 0);
  EXPECT_EQ(score("", "abc"), -1);
  EXPECT_EQ(score("--", "--"), -1);
  EXPECT_EQ(score("\xc3\x84RGER", "\xc3\xa4rger"), 100);
}

TEST(TextScore, OnlyLettersDigitsAndTheirMarksAreText) {
  EXPECT_EQ(score("Éric_Rohmer", "Rohmer Eric"), 90);  // 1 of 10
  EXPECT_EQ(score("john_smith", "Smith, John"), 100);
  EXPECT_EQ(score("__init__", "init"), 100);
  EXPECT_EQ(score("_", "a"), -1);
  EXPECT_EQ(score("_", "_"), -1);
  EXPECT_EQ(score("́", "a"), -1);      // a lone mark
  EXPECT_EQ(score("⃝ ͅ", "a"), -1);     // U+0345 folds to a letter, and is none
  EXPECT_EQ(score("- ́a", "a"), 100);  // a mark begins no token
  EXPECT_EQ(score("é x", "X É"), 100);
  EXPECT_EQ(score("️1", "1"), 100);  // a variation selector alone
}

// Words of few letters, so that tokens are often equal or near; now and then long, wide or ill-formed.
std::string random_text(Random& random) {
  std::string out;
  for (uint64_t tokens = random() % 5; tokens > 0; --tokens) {
    const uint64_t kind = random() % 12;
    const uint64_t length = kind == 0 ? 60 + random() % 80 : 1 + random() % 6;
    for (uint64_t i = 0; i < length; ++i) {
      if (kind == 1) {
        test::append_utf8(&out, 0x430 + static_cast<uint32_t>(random() % 3));
      } else if (kind == 2 && random() % 6 == 0) {
        out += static_cast<char>(random());
      } else if (kind == 3 && random() % 3 == 0) {
        test::append_utf8(&out, random() % 2 ? '_' : 0x301);
      } else {
        out += "abAB1"[random() % 5];
      }
    }
    out += " ,."[random() % 3];
  }
  return out;
}

TEST(TextScore, EqualsTheReference) {
  Random random(1);
  for (int i = 0; i < 2500; ++i) {
    const std::string a = random_text(random), b = random_text(random);
    ASSERT_EQ(score(a, b), reference::text_score(a, b, kAlignedTokens).value_or(-1)) << a << " / " << b;
  }
}

TEST(TextScore, HundredMeansTheSameTokensOrTheSameJoined) {
  Random random(2);
  int hundreds = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string a = random_text(random);
    std::string b = random_text(random);
    if (i % 2 == 0) {  // the same in another order, now and then with two tokens joined
      std::vector<std::string> words(1);
      for (const char c : a) {
        if (c == ' ' || c == ',' || c == '.') {
          words.emplace_back();
        } else {
          words.back() += c;
        }
      }
      std::shuffle(words.begin(), words.end(), random);
      b.clear();
      for (const std::string& w : words) b += w + (random() % 8 ? " " : "");
    }
    auto x = reference::score_tokens(a), y = reference::score_tokens(b);
    if (x.empty() || y.empty()) continue;
    const bool same_joined = reference::joined(x) == reference::joined(y);
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    const int s = score(a, b);
    ASSERT_TRUE(s >= 0 && s <= 100);
    ASSERT_EQ(s == 100, x == y || same_joined) << a << " / " << b;
    hundreds += s == 100;
  }
  EXPECT_GT(hundreds, 1000);
}

TEST(TextScore, EveryFurtherReplacedCharacterCosts) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const std::string a = "Margaret Anne Woodhouse-Brown";
    std::string b = a;
    int before = 100;
    for (int edit = 0; edit < 12; ++edit) {
      const size_t at = random() % b.size();
      if (b[at] == ' ' || b[at] == '-') continue;
      b[at] = '7';  // that a has not
      const int now = score(a, b);
      ASSERT_LE(now, before) << b;
      before = now;
    }
    EXPECT_LT(before, 90);
  }
}

TEST(TextScore, ManyTokens) {
  std::string a, b, shuffled;
  for (int i = 0; i < 400; ++i) {
    a += "tok" + std::to_string(i) + " ";
    shuffled = "tok" + std::to_string(i) + " " + shuffled;
    b += (i < 100 ? "tok" : "xyz") + std::to_string(i) + " ";
  }
  EXPECT_EQ(score(a, shuffled), 100);
  // 300 tokens are left of each: too many to align; in order each differs in 3 of 6 characters
  EXPECT_EQ(score(a, b), static_cast<int>(100 * (reference::joined(reference::score_tokens(a)).size() - 900) /
                                          reference::joined(reference::score_tokens(a)).size()));
  std::string mixed;
  for (int i = 399; i >= 0; --i) mixed += (i % 2 ? "tok" : "xyzuvw") + std::to_string(i) + " ";
  EXPECT_EQ(score(a, mixed), reference::text_score(a, mixed, kAlignedTokens));
}

TEST(TextScore, AsManyTokensAsAreAligned) {
  Random random(4);
  for (const size_t n : {kAlignedTokens, kAlignedTokens + 1}) {
    std::vector<std::string> tokens;
    std::string a, b;
    size_t length = 0;
    for (size_t i = 0; i < n; ++i) {
      tokens.push_back("q" + std::to_string(1000 + 17 * i));
      a += tokens.back() + "x ";
      length += 6;
    }
    std::shuffle(tokens.begin(), tokens.end(), random);
    for (const std::string& t : tokens) b += t + "y ";
    const int s = score(a, b);
    if (n == kAlignedTokens) {
      EXPECT_EQ(s, static_cast<int>(100 * (length - n) / length));
    } else {
      EXPECT_LT(s, 50);
    }
  }
}

TEST(TextScore, OnlyTheFirstCharactersCount) {
  const std::string head(kScoredCharacters, 'a');
  EXPECT_EQ(score(head + "b", head + std::string(1000000, 'c')), 100);
  EXPECT_EQ(score(head.substr(1) + "b", head + "b"), 99);
}

TEST(TextScore, IsCancelled) {
  const std::string blank(3000000, ' ');
  reference::StopAfter stop(3);
  const auto* p = reinterpret_cast<const uint8_t*>(blank.data());
  EXPECT_THROW(text_score(p, blank.size(), p, blank.size(), &stop), Error);
}

TEST(ScorePrecision, Formula) {
  EXPECT_EQ(score_precision(10, 10, 45), 1);
  EXPECT_EQ(score_precision(45, 10, 45), 0);
  EXPECT_EQ(score_precision(27.5, 10, 45), 0.5);
  EXPECT_EQ(score_precision(5, 10, 45), 1);
  EXPECT_EQ(score_precision(60, 10, 45), 0);
  EXPECT_EQ(score_precision(0.5, 1, 0), 0.5);  // a measure that is greater for true pairs
  EXPECT_THROW(score_precision(1, 2, 2), Error);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_THROW(score_precision(nan, 1, 2), Error);
  EXPECT_THROW(score_precision(1, nan, 2), Error);
  EXPECT_THROW(score_precision(1, 2, inf), Error);
}

}  // namespace
}  // namespace neardup::text_score_test
