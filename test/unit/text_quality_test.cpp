// Measures of a text's quality.
#include "core/intake/text_quality.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

#include "test/unit/support.h"

namespace neardup::text_quality_test {
namespace {

TextQuality quality(const std::string& text) {
  const test::Exact exact(text);
  return measure_quality(exact.data(), exact.size(), nullptr);
}

TEST(TextQuality, Letters) {
  EXPECT_EQ(quality("").length, 0u);
  EXPECT_EQ(quality("").letters, 0);
  EXPECT_EQ(quality("ab 1!").length, 5u);
  EXPECT_DOUBLE_EQ(quality("ab 1!").letters, 0.75);
  EXPECT_DOUBLE_EQ(quality("\u4e2d\u6587\u3002\u3000").letters, 2 / 3.0);
}

TEST(TextQuality, RepeatedLines) {
  EXPECT_EQ(quality("one\ntwo\nthree").repetition, 0);
  EXPECT_DOUBLE_EQ(quality("one\ntwo\n One \nsix").repetition, 0.25);
  EXPECT_EQ(quality("\n\n\n\n").repetition, 0);
}

TEST(TextQuality, RepeatedWords) {
  EXPECT_EQ(quality("a b c d e f g h").repetition, 0);
  EXPECT_DOUBLE_EQ(quality("a b c d e x a b c d e").repetition, 5 / 11.0);
  EXPECT_DOUBLE_EQ(quality("a b c d e f x a b c d e f").repetition, 6 / 13.0);  // overlapping n-grams count once
  // Ten letters where each is a word.
  EXPECT_EQ(quality("\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d").repetition, 0);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "say it again ";
  EXPECT_GT(quality(many).repetition, 0.99);
}

// The n-gram measure against its definition.
TEST(TextQuality, EqualsTheDefinition) {
  test::Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> words;
    std::string text;
    for (size_t n = random() % 300; n > 0; --n) {
      words.push_back(std::string(1 + random() % 3, static_cast<char>('a' + random() % 3)));
      text += words.back() + " ";
    }
    std::set<std::vector<std::string>> seen;
    std::vector<bool> repeated(words.size());
    for (size_t i = 0; i + 5 <= words.size(); ++i)
      if (!seen.insert({words.begin() + static_cast<long>(i), words.begin() + static_cast<long>(i) + 5}).second)
        std::fill(repeated.begin() + static_cast<long>(i), repeated.begin() + static_cast<long>(i) + 5, true);
    double all = 0;
    double part = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      all += static_cast<double>(words[i].size());
      if (repeated[i]) part += static_cast<double>(words[i].size());
    }
    ASSERT_DOUBLE_EQ(quality(text).repetition, all == 0 ? 0 : part / all);
  }
}

TEST(TextQuality, ScoreIsMonotone) {
  const TextQuality base{400, 0.8, 0.1};
  const double score = quality_score(base, 0.9);
  EXPECT_NEAR(score, 0.9 * 0.8 * 0.9 * 0.8, 1e-12);
  EXPECT_GT(quality_score(base, 1), score);
  EXPECT_GT(quality_score({500, 0.8, 0.1}, 0.9), score);
  EXPECT_GT(quality_score({400, 0.9, 0.1}, 0.9), score);
  EXPECT_LT(quality_score({400, 0.8, 0.2}, 0.9), score);
  EXPECT_EQ(quality_score({}, 1), 0);
}

}  // namespace
}  // namespace neardup::text_quality_test
