// The word diff of `neardup report` against the longest common subsequence by its table.
#include "core/diff/word_diff.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace neardup::word_diff_test {
namespace {

using Words = std::vector<std::string>;

std::size_t longest_common(const Words& a, const Words& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      table[i + 1][j + 1] = a[i] == b[j] ? table[i][j] + 1 : std::max(table[i][j + 1], table[i + 1][j]);
    }
  }
  return table[a.size()][b.size()];
}

TEST(WordDiff, FewestEdits) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    Words words[2];
    std::string texts[2];
    const unsigned kinds = 1 + random() % 5;
    for (int side = 0; side < 2; ++side) {
      for (unsigned n = random() % 14; n > 0; --n)
        words[side].push_back(std::string(1, static_cast<char>('a' + random() % kinds)));
      for (const std::string& word : words[side]) texts[side] += word + " ";
    }
    const std::uint32_t most = round % 2 == 0 ? 100 : random() % 6;
    const WordDiff diff = diff_words(texts[0], texts[1], most);
    std::size_t a = 0, b = 0, same = 0;
    for (std::size_t r = 0; r < diff.runs.size(); ++r) {
      const DiffRun& run = diff.runs[r];
      ASSERT_TRUE(run.a_begin == a && run.b_begin == b);
      ASSERT_TRUE(r == 0 || run.same != diff.runs[r - 1].same);
      a = run.a_end;
      b = run.b_end;
      if (!run.same) continue;
      ASSERT_EQ(run.a_end - run.a_begin, run.b_end - run.b_begin);
      for (std::uint32_t i = 0; i < run.a_end - run.a_begin; ++i) {
        ASSERT_EQ(words[0][run.a_begin + i], words[1][run.b_begin + i]);
      }
      same += run.a_end - run.a_begin;
    }
    ASSERT_TRUE(a == words[0].size() && b == words[1].size());
    ASSERT_TRUE(diff.complete || most < 100);
    if (diff.complete) {
      ASSERT_EQ(same, longest_common(words[0], words[1])) << texts[0] << "| " << texts[1];
    }
  }
}

TEST(WordDiff, Tokens) {
  const std::string text = " Ünï_1, (漢字)\t\"x\"\n… é\xff";
  std::string seen;
  for (const WordToken& token : diff_words(text, "").a) seen += text.substr(token.begin, token.end - token.begin) + "|";
  EXPECT_EQ(seen, "Ünï_1|,|(|漢|字|)|\"|x|\"|…|é\xff|");
}

}  // namespace
}  // namespace neardup::word_diff_test
