// Similar words equal those of comparing all rows, whatever the form of the kernels, memory, threads and blocks.
#include "core/word_model/similar_words.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/kernels/word_kernels.h"
#include "core/work/workspace.h"

#include "test/reference/signature_sets.h"
#include "test/unit/support.h"

namespace neardup::similar_words_test {
namespace {

using test::Random;

struct Model {
  std::vector<uint64_t> begin{0};
  std::vector<uint32_t> features;
  std::vector<uint16_t> values;
  std::vector<uint32_t> weights;
  std::vector<uint32_t> tie;
  uint32_t most = 0;  // all features are below

  uint32_t words() const { return static_cast<uint32_t>(weights.size()); }
  WordMatrix matrix() const { return {begin.data(), features.data(), values.data(), words(), 0}; }
  WordRow row(uint32_t i) const { return matrix().row(i); }
  void end_row() {
    weights.push_back(static_cast<uint32_t>(
        row_weight({features.data() + begin.back(), values.data() + begin.back(), features.size() - begin.back()})));
    begin.push_back(features.size());
    tie.push_back(static_cast<uint32_t>(tie.size()));
  }
};

// Feature f is held by a share of the words that falls with f, as in texts; every tenth word has none.
Model random_model(Random& random, uint32_t words, uint32_t features, double densest, uint32_t greatest) {
  Model m;
  m.most = features;
  for (uint32_t i = 0; i < words; ++i) {
    for (uint32_t f = 0; f < features && i % 10 != 9; ++f) {
      const double share = densest / (1 + 20.0 * f / features);
      if (static_cast<double>(random() >> 11) * 0x1p-53 >= share) continue;
      m.features.push_back(f);
      m.values.push_back(static_cast<uint16_t>(1 + random() % greatest));
    }
    m.end_row();
  }
  std::shuffle(m.tie.begin(), m.tie.end(), random);
  return m;
}

using Best = std::vector<std::vector<std::pair<uint32_t, double>>>;

Best by_definition(const Model& m, uint32_t k) {
  Best out(m.words());
  for (uint32_t i = 0; i < m.words(); ++i) {
    for (uint32_t j = 0; j < m.words(); ++j) {
      const uint64_t sum = i == j ? 0 : common_information(m.row(i), m.row(j));
      if (sum > 0)
        out[i].push_back({j, static_cast<double>(sum) / static_cast<double>(uint64_t{m.weights[i]} + m.weights[j])});
    }
    std::sort(out[i].begin(), out[i].end(), [&](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : m.tie[a.first] < m.tie[b.first];
    });
    if (out[i].size() > k) out[i].resize(k);
  }
  return out;
}

Best read_all(const SimilarWords& engine, uint32_t words, uint32_t k) {
  Best out(words);
  std::vector<SimilarWord> best(k);
  for (uint32_t i = 0; i < words; ++i) {
    const size_t n = engine.best(i, best.data());
    for (size_t b = 0; b < n; ++b) out[i].push_back({best[b].word, best[b].similarity});
  }
  return out;
}

// most_words: of a block; 0: as many as fit. again: each block with an engine of its own, as a stored model has it.
Best found(const Model& m, const SimilarOptions& options, uint32_t most_words = 0, bool again = false,
           SimilarWords::Stats* stats = nullptr) {
  auto engine = std::make_unique<SimilarWords>(m.words(), m.weights.data(), m.tie.data(), m.most, options);
  for (uint32_t first = 0; first < m.words();) {
    if (again) {
      const Best so_far = read_all(*engine, m.words(), options.k);
      engine = std::make_unique<SimilarWords>(m.words(), m.weights.data(), m.tie.data(), m.most, options);
      for (uint32_t i = 0; i < m.words(); ++i) {
        std::vector<SimilarWord> best;
        for (const auto& [word, similarity] : so_far[i]) best.push_back({word, similarity});
        engine->restore(i, best.data(), best.size());
      }
    }
    engine->begin_block(first);
    uint32_t end = first;
    while (end < m.words() && (most_words == 0 || end - first < most_words) && engine->load(m.row(end))) ++end;
    for (uint32_t i = 0; i < end; ++i) engine->probe(m.row(i));
    engine->end_block();
    first = end;
  }
  if (stats != nullptr) *stats = engine->stats();
  return read_all(*engine, m.words(), options.k);
}

TEST(SimilarWords, EqualsComparingAll) {
  Random random(1);
  for (const auto& [words, features, densest, greatest] : {std::tuple{1u, 3u, 1.0, 9u},
                                                           {2u, 1u, 1.0, 3u},
                                                           {70u, 40u, 0.3, 3u},
                                                           {330u, 300u, 0.9, 32767u},
                                                           {600u, 90u, 0.2, 12u}}) {
    const Model m = random_model(random, words, features, densest, greatest);
    for (const uint32_t k : {1u, 7u, 1000u}) {
      const Best expected = by_definition(m, k);
      SimilarOptions options;
      options.k = k;
      test::for_each_kernels([&] { EXPECT_EQ(found(m, options), expected); });
      for (const unsigned threads : {2u, 5u}) {
        options.threads = threads;
        EXPECT_EQ(found(m, options), expected);
      }
      for (const size_t limit : {size_t{1}, size_t{20000}, size_t{200000}}) {
        options.memory_limit = limit;
        EXPECT_EQ(found(m, options), expected) << limit;
      }
      EXPECT_EQ(found(m, options, 37, true), expected);
    }
  }
}

// More words than a lane has, with lists as well as dense features, and rows of all lanes.
TEST(SimilarWords, SeveralLanes) {
  Random random(2);
  const Model m = random_model(random, 2 * kLaneWords + 300, 12, 0.2, 50);
  SimilarOptions options;
  options.k = 2;
  options.threads = 2;
  SimilarWords::Stats stats;
  const Best whole = found(m, options, 0, false, &stats);
  EXPECT_EQ(stats.blocks, 1u);
  EXPECT_GT(stats.dense, 0u);
  EXPECT_GT(stats.additions, 0u);
  EXPECT_EQ(stats.pairs, uint64_t{m.words()} * (m.words() - 1) / 2);
  EXPECT_EQ(found(m, options, 5000), whole);
  for (const uint32_t i : {0u, 8191u, 8192u, 16384u, m.words() - 2}) {
    double best = 0;
    for (uint32_t j = 0; j < m.words(); ++j) {
      if (j != i && m.weights[i] + m.weights[j] > 0)
        best =
            std::max(best, static_cast<double>(common_information(m.row(i), m.row(j))) / (m.weights[i] + m.weights[j]));
    }
    EXPECT_EQ(whole[i].empty() ? 0 : whole[i][0].second, best) << i;
  }
}

TEST(SimilarWords, MemoryIsBounded) {
  Random random(3);
  const Model m = random_model(random, 3000, 400, 0.5, 5000);
  SimilarOptions options;
  options.k = 5;
  options.memory_limit = 2 << 20;
  SimilarWords::Stats stats;
  const Best bounded = found(m, options, 0, false, &stats);
  const size_t best_of_words = 3000 * (5 * 12 + 20);
  EXPECT_LE(stats.peak_bytes, options.memory_limit + best_of_words);
  EXPECT_GT(stats.blocks, 1u);
  options.memory_limit = SIZE_MAX;
  EXPECT_EQ(found(m, options), bounded);
}

// Another device: does what it is told, with lists by a map, or gives up after some rows.
class FakeOffload final : public WordTiles {
 public:
  explicit FakeOffload(int probes) : left_(probes) {}

  bool begin(const WordMatrix& block, const uint32_t*, uint32_t words, uint32_t, uint32_t k, double cost,
             Workspace&) override {
    EXPECT_GE(cost, 0);
    EXPECT_LE(block.first + block.rows, words);
    EXPECT_GT(k, 0u);
    block_ = block;
    return left_ > 0;
  }
  bool probe(const WordMatrix& rows, const float* least, Workspace&, const Found& tell) override {
    EXPECT_LE(rows.first + rows.rows, block_.first + block_.rows);
    EXPECT_GE(least[rows.first], 0);
    if (--left_ < 0) {
      tell(0, 1, 12345);  // counts for nothing
      return false;
    }
    for (uint32_t x = 0; x < rows.rows; ++x) {
      for (uint32_t y = 0; y < block_.rows; ++y) {
        if (block_.first + y <= rows.first + x) continue;
        const uint64_t sum = common_information(rows.row(x), block_.row(y));
        if (sum > 0) tell(rows.first + x, block_.first + y, static_cast<uint32_t>(sum));
      }
    }
    return true;
  }

 private:
  WordMatrix block_{};
  int left_;
};

TEST(SimilarWords, OffloadedOrNot) {
  Random random(4);
  const Model m = random_model(random, 500, 200, 0.3, 100);
  SimilarOptions options;
  options.k = 6;
  const Best expected = by_definition(m, 6);
  for (const int probes : {0, 1, 3, 1000}) {
    FakeOffload offload(probes);
    options.offload = &offload;
    SimilarWords::Stats stats;
    EXPECT_EQ(found(m, options, 170, false, &stats), expected) << probes;
    EXPECT_EQ(stats.offloaded, probes > 0);
  }
}

TEST(SimilarWords, Refusals) {
  const uint32_t weights[] = {kMaxFeatureWeight, kMaxFeatureWeight + 1};
  const uint32_t tie[] = {0, 1};
  SimilarOptions options;
  SimilarWords fits(1, weights, tie, 1, options);
  EXPECT_THROW(SimilarWords(2, weights, tie, 1, options), Error);
  for (const uint32_t k : {0u, kMaxSimilar + 1}) {
    options.k = k;
    EXPECT_THROW(SimilarWords(1, weights, tie, 1, options), Error) << k;
  }
}

TEST(SimilarWords, EndsWhenCancelled) {
  Random random(5);
  const Model m = random_model(random, 3000, 300, 0.6, 100);
  for (const unsigned threads : {1u, 2u}) {
    reference::StopAfter stop(5);
    SimilarOptions options;
    options.stop = &stop;
    options.threads = threads;
    EXPECT_THROW(found(m, options), Error);
  }
}

TEST(WordKernels, EqualTheScalarForm) {
  Random random(6);
  constexpr uint32_t kFeatures = 40;
  std::vector<uint16_t> tile(kFeatures * kTileWords);
  for (uint16_t& v : tile)
    v = random() % 3 == 0 ? static_cast<uint16_t>(random() % 2 == 0 ? 32767 : 1 + random() % 32767) : 0;
  for (uint32_t n = 0; n <= kFeatures; ++n) {
    std::vector<WordProbe> row;
    for (uint32_t i = 0; i < n; ++i)
      row.push_back({static_cast<uint32_t>(random() % kFeatures), static_cast<uint32_t>(1 + random() % 32767)});
    std::vector<uint32_t> start(kTileWords);
    for (uint32_t& s : start) s = static_cast<uint32_t>(random() % 1000000);
    std::vector<uint32_t> expected = start;
    kScalarWordKernels.add_dense(row.data(), n, tile.data(), expected.data());
    test::for_each_kernels([&] {
      std::vector<uint32_t> sums = start;
      kernels().words->add_dense(row.data(), n, tile.data(), sums.data());
      EXPECT_EQ(sums, expected) << n;
    });
  }
  for (size_t n = 0; n <= 100; ++n) {
    std::vector<uint32_t> sums(n);
    std::vector<float> weights(n);
    std::vector<float> least(n);
    for (size_t i = 0; i < n; ++i) {
      sums[i] = random() % 4 == 0 ? 0 : static_cast<uint32_t>(random() % 2000);
      weights[i] = static_cast<float>(random() % 3000);
      least[i] = static_cast<float>(random() % 100) / 100;
    }
    for (const float own : {0.0F, 0.3F, 1.0F}) {
      std::vector<uint32_t> expected(n + 16);
      expected.resize(
          kScalarWordKernels.candidates(sums.data(), weights.data(), least.data(), n, 500, own, expected.data()));
      test::for_each_kernels([&] {
        std::vector<uint32_t> out(n + 16);
        out.resize(kernels().words->candidates(sums.data(), weights.data(), least.data(), n, 500, own, out.data()));
        EXPECT_EQ(out, expected) << n;
      });
    }
  }
}

}  // namespace
}  // namespace neardup::similar_words_test
