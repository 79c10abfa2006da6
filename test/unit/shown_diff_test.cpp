// The difference of two texts as a line.
#include "core/diff/shown_diff.h"

#include <gtest/gtest.h>

namespace neardup::shown_diff_test {
namespace {

TEST(ShownDiff, WordsThatDifferWithSomeAround) {
  EXPECT_EQ(shown_difference("one two three", "one 2 three"), "one [-two-] {+2+} three");
  EXPECT_EQ(shown_difference("a b c d e f g h old i j k l m n o", "a b c d e f g h i j k l m n o"),
            "… e f g h [-old-] i j k l …");
  EXPECT_EQ(shown_difference("x a b c d e f g h i y", "a b c d e f g h i z"), "[-x-] a b c d … f g h i [-y-] {+z+}");
  EXPECT_EQ(shown_difference("", "all new"), "{+all new+}");
}

TEST(ShownDiff, EqualTextsAndWhiteSpace) {
  EXPECT_EQ(shown_difference("a b", "a b"), "");
  EXPECT_EQ(shown_difference("a b", "a\n b "), "white space only");
  EXPECT_EQ(shown_difference("a\nb c", "a\nb d"), "a b [-c-] {+d+}");
}

TEST(ShownDiff, LongTextsAreCut) {
  std::string before;
  std::string after;
  for (int i = 0; i < 2000; ++i) {
    const std::string word = "w" + std::to_string(i) + " ";
    before += word + (i % 20 == 0 ? "odd " : "even ");
    after += word + (i % 20 == 0 ? "new " : "even ");
  }
  const std::string line = shown_difference(before, after);
  EXPECT_LT(line.size(), 600u);
  EXPECT_EQ(line.substr(0, 22), "w0 [-odd-] {+new+} w1 ");
  EXPECT_TRUE(shown_difference(before, "w0 other").starts_with("w0 [-odd w1 even "));
  const std::string word = std::string(59, 'a') + "\u00e9" + std::string(500, 'a');
  EXPECT_EQ(shown_difference(word, "b"), "[-" + std::string(59, 'a') + "…-] {+b+}");
  EXPECT_EQ(shown_difference("a b c d e f g h i j k l", "x"), "[-a b c d e f g h i j …-] {+x+}");
}

}  // namespace
}  // namespace neardup::shown_diff_test
