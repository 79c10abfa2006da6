// Labels found in a sample, and put together with near pairs.
#include "core/suggest/labelled_pairs.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace neardup::labelled_pairs_test {
namespace {

using Ids = std::vector<std::string_view>;
using Labels = std::vector<Label>;

LabelledPairs found(const Ids& ids, const Labels& labels) {
  return find_labelled(ids.data(), static_cast<uint32_t>(ids.size()), labels.data(), labels.size(), nullptr);
}

std::string shown(const std::vector<SamplePair>& pairs) {
  std::string text;
  for (const SamplePair& p : pairs)
    text += std::to_string(p.a) + "-" + std::to_string(p.b) + (p.duplicate ? "+" : "") + " " +
            std::to_string(static_cast<int>(p.weight)) + "; ";
  return text;
}

TEST(LabelledPairs, ByTheirPlacesInTheSample) {
  const LabelledPairs labelled =
      found({"x", "y", "z"}, {{"z", "y", true}, {"y", "x", false}, {"y", "z", true}, {"z", "x", true}});
  EXPECT_EQ(shown(labelled.pairs), "0-1 1; 0-2+ 1; 1-2+ 1; ");
  EXPECT_EQ(labelled.duplicates, 2u);
  EXPECT_EQ(labelled.strange, 0u);
  EXPECT_FALSE(labelled.all_duplicates());
}

TEST(LabelledPairs, StrangersAreCounted) {
  const LabelledPairs labelled =
      found({"x", "y"}, {{"x", "y", true}, {"x", "?", true}, {"?", "!", false}, {"?", "x", true}});
  EXPECT_EQ(shown(labelled.pairs), "0-1+ 1; ");
  EXPECT_EQ(labelled.strange, 3u);
  EXPECT_TRUE(labelled.all_duplicates());
  EXPECT_EQ(shown(found({"x"}, {}).pairs), "");
}

std::string refused(const Ids& ids, const Labels& labels) {
  try {
    found(ids, labels);
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

TEST(LabelledPairs, ContradictionsAreRefused) {
  EXPECT_EQ(refused({"x", "y"}, {{"y", "x", true}, {"x", "y", false}}), "labels says both true and false of x and y");
  // Labels of documents outside the sample are checked, too.
  EXPECT_EQ(refused({"x", "y"}, {{"b", "a", true}, {"x", "y", true}, {"a", "b", false}}),
            "labels says both true and false of a and b");
}

TEST(LabelledPairs, GoBeforeNearOnes) {
  const std::vector<SamplePair> near = {{0, 1, 9}, {0, 3, 9}, {1, 2, 9}};
  const std::vector<SamplePair> labelled = {{0, 2, 1, true}, {0, 3, 1, true}, {2, 3, 1, true}};
  EXPECT_EQ(shown(with_labels(near, labelled)), "0-1 9; 0-2+ 1; 0-3+ 9; 1-2 9; 2-3+ 1; ");
  EXPECT_EQ(shown(with_labels(near, {})), "0-1 9; 0-3 9; 1-2 9; ");
  EXPECT_EQ(shown(with_labels({}, labelled)), "0-2+ 1; 0-3+ 1; 2-3+ 1; ");
}

}  // namespace
}  // namespace neardup::labelled_pairs_test
