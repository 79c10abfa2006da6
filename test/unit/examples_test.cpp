// Pairs on both sides of a threshold.
#include "core/suggest/examples.h"

#include <gtest/gtest.h>

namespace neardup::examples_test {
namespace {

using Places = std::vector<size_t>;

TEST(Examples, NearestOnBothSides) {
  const std::vector<SamplePair> pairs = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}};
  const std::vector<float> similarities = {0.9F, 0.1F, 0.8F, 0.79F, 0.6F, 1.0F};
  EXPECT_EQ(pairs_around(0.8, 2, pairs, similarities), (Places{0, 2, 3, 4}));
  EXPECT_EQ(pairs_around(0.8, 1, pairs, similarities), (Places{2, 3}));
  EXPECT_EQ(pairs_around(0.8, 5, pairs, similarities), (Places{5, 0, 2, 3, 4, 1}));
  EXPECT_EQ(pairs_around(0.05, 9, pairs, similarities).size(), 6u);
  EXPECT_TRUE(pairs_around(0.8, 2, {}, {}).empty());
}

TEST(Examples, NoDocumentComesTwice) {
  const std::vector<SamplePair> pairs = {{0, 1}, {0, 2}, {1, 2}, {3, 4}, {0, 3}};
  const std::vector<float> similarities = {0.81F, 0.82F, 0.83F, 0.9F, 0.7F};
  EXPECT_EQ(pairs_around(0.8, 5, pairs, similarities), (Places{3, 0}));
}

TEST(Examples, PairsThatShareNothingAreLeftOut) {
  EXPECT_EQ(pairs_around(0.3, 5, {{0, 1}, {2, 3}}, {0.0F, 0.2F}), Places{1});
}

}  // namespace
}  // namespace neardup::examples_test
