// Words to compare, and whether what was told of them is right and enough; for the module on the host and on devices.
#pragma once

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/gpu/fake_words.h"
#include "test/reference/word_rows.h"

namespace neardup::test {

// Rows of words, and all pairs of them.
struct WordCase {
  reference::WordRows rows;
  uint32_t k = 3;
  std::vector<NeardupGpuPair> all;  // of all words, above 0: fake::word_pairs()

  WordCase(const std::string& shape, uint32_t n, uint32_t width, uint32_t best)
      : rows(reference::make_word_rows(shape, n, width, 7)), k(best) {
    all = fake::word_pairs(view(0, n), view(0, n));
  }
  NeardupGpuWordRows view(uint32_t first, uint32_t end) const {
    return {rows.begin.data() + first, rows.features.data(), rows.values.data(), end - first, first};
  }
  NeardupGpuWordBlock block(uint32_t first, uint32_t end) const {
    return {view(first, end), rows.weights.data(), rows.size(), rows.width, k};
  }
};

// Checks that the reported pairs are right, each once, and hold all that a probe of these rows must report. Returns how
// many more there are.
inline size_t check_told(const WordCase& c, uint32_t first, uint32_t end, uint32_t block, uint32_t block_end,
                         const std::vector<float>& least, const std::vector<NeardupGpuPair>& told) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> values;
  std::vector<NeardupGpuPair> here;
  for (const NeardupGpuPair& p : c.all) {
    if (p.a < first || p.a >= end || p.b < block || p.b >= block_end) continue;
    here.push_back(p);
    values[{p.a, p.b}] = p.value;
  }
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const NeardupGpuPair& p : told) {
    EXPECT_TRUE(seen.emplace(p.a, p.b).second) << "twice: " << p.a << " " << p.b;
    const auto at = values.find({p.a, p.b});
    if (at == values.end()) {
      ADD_FAILURE() << "not a pair: " << p.a << " " << p.b;
      continue;
    }
    EXPECT_EQ(at->second, p.value) << p.a << " " << p.b;
  }
  const std::vector<NeardupGpuPair> wanted =
      fake::wanted_pairs(here, c.rows.weights.data(), c.rows.size(), c.k, least.data());
  size_t missing = 0;
  for (const NeardupGpuPair& p : wanted) missing += seen.count({p.a, p.b}) == 0;
  EXPECT_EQ(missing, 0u) << "of " << wanted.size();
  return seen.size() - wanted.size() + missing;
}

}  // namespace neardup::test
