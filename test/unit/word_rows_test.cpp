// Rows of a word model come back as they were added, from memory and from a file, in any order.
#include "core/word_model/word_rows.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "test/reference/stdio_temp_file.h"
#include "test/unit/support.h"

namespace neardup::word_rows_test {
namespace {

using reference::StdioTempFiles;
using test::Random;

constexpr uint32_t kFeatures = 5000;

struct Kept {
  std::vector<uint32_t> features;
  std::vector<uint16_t> values;
  WordRow row() const { return {features.data(), values.data(), features.size()}; }
};

std::vector<Kept> random_rows(Random& random, uint32_t n) {
  std::vector<Kept> rows(n);
  for (Kept& r : rows) {
    const uint64_t sparse = random() % 4 == 0 ? 2 : 200;
    for (uint32_t f = 0; f < kFeatures && random() % 3000 != 0; ++f) {
      if (random() % sparse != 0) continue;
      r.features.push_back(f);
      r.values.push_back(static_cast<uint16_t>(1 + random() % kMaxInformation));
    }
  }
  return rows;
}

void expect_row(const WordRow& row, const Kept& kept, uint32_t i) {
  ASSERT_EQ(std::vector<uint32_t>(row.features, row.features + row.size), kept.features) << i;
  ASSERT_EQ(std::vector<uint16_t>(row.values, row.values + row.size), kept.values) << i;
}

TEST(WordRows, ComeBack) {
  Random random(1);
  for (const size_t limit : {size_t{0}, size_t{200} << 10, SIZE_MAX}) {
    StdioTempFiles files;
    {
      WordRows rows(kFeatures, limit, &files, nullptr);
      const std::vector<Kept> kept = random_rows(random, 400);
      uint64_t entries = 0;
      for (const Kept& k : kept) {
        rows.add(k.row());
        entries += k.features.size();
        EXPECT_EQ(rows.weights()[rows.size() - 1], row_weight(k.row()));
      }
      EXPECT_EQ(rows.size(), kept.size());
      EXPECT_EQ(rows.entries(), entries);
      EXPECT_EQ(files.open > 0, limit != SIZE_MAX);
      for (uint32_t i = 0; i < kept.size(); ++i) expect_row(rows.read(i), kept[i], i);
      for (int j = 0; j < 300; ++j) {
        const auto i = static_cast<uint32_t>(random() % kept.size());
        expect_row(rows.read(i), kept[i], i);
      }
    }
    EXPECT_EQ(files.open, 0);
  }
}

TEST(WordRows, ComparesWhatIsKept) {
  Random random(2);
  WordRows rows(kFeatures, SIZE_MAX, nullptr, nullptr);
  const std::vector<Kept> kept = random_rows(random, 60);
  std::vector<uint32_t> tie;
  for (const Kept& k : kept) {
    rows.add(k.row());
    tie.push_back(static_cast<uint32_t>(tie.size()));
  }
  SimilarOptions options;
  options.k = 1;
  SimilarWords engine(rows.size(), rows.weights(), tie.data(), kFeatures, options);
  compare_all(rows, engine);
  for (uint32_t i = 0; i < rows.size(); ++i) {
    double best = 0;
    for (uint32_t j = 0; j < rows.size(); ++j) {
      const uint64_t weight = row_weight(kept[i].row()) + row_weight(kept[j].row());
      if (i != j && weight > 0)
        best = std::max(
            best, static_cast<double>(common_information(kept[i].row(), kept[j].row())) / static_cast<double>(weight));
    }
    SimilarWord found{0, 0};
    engine.best(i, &found);
    EXPECT_EQ(found.similarity, best) << i;
  }
}

TEST(WordRows, RefusesTooMuchInformation) {
  std::vector<uint32_t> features(40000);
  for (uint32_t i = 0; i < features.size(); ++i) features[i] = i;
  const std::vector<uint16_t> values(features.size(), kMaxInformation);
  WordRows rows(40000, SIZE_MAX, nullptr, nullptr);
  rows.add({features.data(), values.data(), 32000});
  EXPECT_THROW(rows.add({features.data(), values.data(), features.size()}), Error);
}

TEST(WordRows, RanksOfWords) {
  EXPECT_EQ(ranks_of_words({"b", "a", "\xc3\xa4", "aa", "B"}, nullptr), (std::vector<uint32_t>{3, 1, 4, 2, 0}));
  EXPECT_TRUE(ranks_of_words({}, nullptr).empty());
}

}  // namespace
}  // namespace neardup::word_rows_test
