// Words compared by the module on real devices, through the C boundary: what must be told is told, with the same
// integers as the definition and as older kernels. Skips without a device.
#include <algorithm>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "test/gpu/reference_kernels.h"
#include "test/gpu/word_cases.h"

namespace {

using neardup::test::check_told;
using neardup::test::WordCase;

const NeardupGpuApi* api() {
  static const NeardupGpuApi* table = [] {
    void* module = dlopen(NEARDUP_GPU_MODULE, RTLD_NOW | RTLD_LOCAL);
    const auto get_api =
        module == nullptr ? nullptr : reinterpret_cast<NeardupGpuGetApi>(dlsym(module, NEARDUP_GPU_SYMBOL));
    return get_api == nullptr ? nullptr : get_api();
  }();
  return table;
}

TEST(GpuWords, RefusesMistakes) {
  ASSERT_NE(api(), nullptr);
  char error[NEARDUP_GPU_TEXT];
  NeardupGpuWords* words = nullptr;
  NeardupGpuOptions options = {};
  EXPECT_EQ(api()->words_create(nullptr, &words, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  EXPECT_EQ(api()->words_create(&options, nullptr, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  options.way = 3;
  EXPECT_EQ(api()->words_create(&options, &words, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  EXPECT_EQ(api()->words_begin(nullptr, nullptr, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  EXPECT_EQ(api()->words_probe(nullptr, nullptr, nullptr, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  uint32_t n = 0;
  double done = 0;
  NeardupGpuPair pair;
  EXPECT_EQ(api()->words_step(nullptr, &pair, 1, &n, &done, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  NeardupGpuWordStats stats;
  api()->words_stats(nullptr, &stats);
  EXPECT_EQ(stats.pairs, 0u);
  api()->words_destroy(nullptr);
}

TEST(GpuWords, WithoutADeviceThereIsAReason) {
  ASSERT_NE(api(), nullptr);
  char error[NEARDUP_GPU_TEXT] = "";
  uint32_t count = 0;
  const NeardupGpuStatus status = api()->device_count(&count, error, sizeof error);
  if (status == NEARDUP_GPU_OK) GTEST_SKIP() << "there is a device";
  auto* words = reinterpret_cast<NeardupGpuWords*>(&count);
  const NeardupGpuOptions options = {};
  error[0] = '\0';
  EXPECT_EQ(api()->words_create(&options, &words, error, sizeof error), status);
  EXPECT_EQ(words, nullptr);
  EXPECT_STRNE(error, "");
}

class GpuWordsOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(api(), nullptr);
    uint32_t count = 0;
    char error[NEARDUP_GPU_TEXT];
    if (api()->device_count(&count, error, sizeof error) != NEARDUP_GPU_OK) GTEST_SKIP() << error;
  }
};

// Goes through blocks and probes of all words, with least 0, and demands of each what it must tell.
NeardupGpuWordStats run(const WordCase& c, const NeardupGpuOptions& options, uint32_t blocks, uint32_t probe_rows) {
  NeardupGpuWordStats stats = {};
  char error[NEARDUP_GPU_TEXT] = "";
  NeardupGpuWords* words = nullptr;
  EXPECT_EQ(api()->words_create(&options, &words, error, sizeof error), NEARDUP_GPU_OK) << error;
  if (words == nullptr) return stats;
  const uint32_t n = c.rows.size();
  const std::vector<float> least(n, 0.0f);
  std::vector<NeardupGpuPair> some(10000);
  NeardupGpuStatus status = NEARDUP_GPU_OK;
  for (uint32_t b = 0; b < blocks && status == NEARDUP_GPU_OK; ++b) {
    const auto first = static_cast<uint32_t>(uint64_t{n} * b / blocks);
    const auto end = static_cast<uint32_t>(uint64_t{n} * (b + 1) / blocks);
    const NeardupGpuWordBlock block = c.block(first, end);
    status = api()->words_begin(words, &block, error, sizeof error);
    for (uint32_t i = 0; i < end && status == NEARDUP_GPU_OK; i += probe_rows) {
      const uint32_t stop = std::min(end, i + probe_rows);
      const NeardupGpuWordRows rows = c.view(i, stop);
      status = api()->words_probe(words, &rows, least.data(), error, sizeof error);
      std::vector<NeardupGpuPair> told;
      for (double done = 0; status == NEARDUP_GPU_OK && done < 1;) {
        uint32_t count = 0;
        status = api()->words_step(words, some.data(), 10000, &count, &done, error, sizeof error);
        told.insert(told.end(), some.begin(), some.begin() + count);
      }
      if (status == NEARDUP_GPU_OK) check_told(c, i, stop, first, end, least, told);
    }
  }
  EXPECT_EQ(status, NEARDUP_GPU_OK) << error;
  api()->words_stats(words, &stats);
  api()->words_destroy(words);
  return stats;
}

// All ways, much memory and little.
TEST_F(GpuWordsOnDevice, TellsTheBest) {
  uint32_t dense = 0, slices = 0;
  for (const char* shape : neardup::reference::kWordShapes) {
    const WordCase c(shape, 300, 400, 5);
    for (const uint32_t way : {NEARDUP_GPU_WAY_AUTO, NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE}) {
      for (const uint64_t limit : {uint64_t{0}, uint64_t{2} << 20, uint64_t{600} << 10}) {
        SCOPED_TRACE(std::string(shape) + ", way " + std::to_string(way) + ", limit " + std::to_string(limit));
        const NeardupGpuWordStats stats = run(c, {limit, 0, 0, way}, limit == 0 ? 1 : 2, limit == 0 ? 300 : 110);
        dense = std::max(dense, stats.dense);
        slices = std::max(slices, stats.slices);
      }
    }
  }
  EXPECT_GT(slices, 1u);
  if (dense == 0) GTEST_SKIP() << "cuBLAS is not here: products of matrices were not tried";
}

// For compute-sanitizer, as in search_test.cpp.
TEST_F(GpuWordsOnDevice, Short) {
  const WordCase c("zipf", 80, 120, 3);
  for (const uint32_t way : {NEARDUP_GPU_WAY_AUTO, NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE})
    run(c, {0, 0, 0, way}, 1, 80);
}

TEST_F(GpuWordsOnDevice, LargerModels) {
  const WordCase c("zipf", 3000, 6000, 50);
  for (const uint32_t way : {NEARDUP_GPU_WAY_AUTO, NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE})
    run(c, {0, 0, 0, way}, 1, 3000);
}

// Digits of all values, in products as long as there are.
TEST_F(GpuWordsOnDevice, TheGreatestWeights) {
  WordCase c("alone", 1, 1, 2);
  c.rows = {};
  c.rows.width = 32769;
  for (uint32_t i = 0; i < 40; ++i) {
    // 32767 * 32767 + 65534 = 2^30 - 1.
    for (uint32_t f = 0; f < 32769; ++f) {
      c.rows.features.push_back(f);
      c.rows.values.push_back(static_cast<uint16_t>(i > 35 ? 1 + (f * i) % 32767 : 32767));
    }
    c.rows.end_row();
  }
  c.all = neardup::fake::word_pairs(c.view(0, 40), c.view(0, 40));
  for (const uint32_t way : {NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE}) run(c, {0, 0, 0, way}, 1, 40);
}

// The two designs of the 2015 study, kept as a second opinion.
TEST_F(GpuWordsOnDevice, EqualsTheOlderKernels) {
  for (const char* shape : {"zipf", "borders", "empty rows"}) {
    const WordCase c(shape, 500, 700, 5);
    for (const bool compressed : {false, true}) {
      std::vector<uint32_t> numerators;
      older_word_numerators(c.view(0, 500), 700, compressed, &numerators, nullptr, nullptr);
      for (const NeardupGpuPair& p : c.all) {
        ASSERT_EQ(numerators[size_t{p.a} * 500 + p.b], p.value) << shape << (compressed ? ", rows" : ", columns");
        numerators[size_t{p.a} * 500 + p.b] = 0;
      }
      EXPECT_EQ(std::count(numerators.begin(), numerators.end(), 0u), 500 * 500);
    }
  }
}

// Dropped in the middle of a probe, and of a block.
TEST_F(GpuWordsOnDevice, CanBeDropped) {
  const WordCase c("zipf", 2000, 3000, 5);
  const std::vector<float> least(2000, 0.0f);
  for (const int steps : {0, 1, 3}) {
    char error[NEARDUP_GPU_TEXT] = "";
    NeardupGpuWords* words = nullptr;
    const NeardupGpuOptions options = {};
    ASSERT_EQ(api()->words_create(&options, &words, error, sizeof error), NEARDUP_GPU_OK) << error;
    const NeardupGpuWordBlock block = c.block(0, 2000);
    const NeardupGpuWordRows rows = c.view(0, 2000);
    ASSERT_EQ(api()->words_begin(words, &block, error, sizeof error), NEARDUP_GPU_OK) << error;
    ASSERT_EQ(api()->words_probe(words, &rows, least.data(), error, sizeof error), NEARDUP_GPU_OK) << error;
    EXPECT_EQ(api()->words_probe(words, &rows, least.data(), error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
    NeardupGpuPair some[10];
    uint32_t count = 0;
    double done = 0;
    for (int i = 0; i < steps && done < 1; ++i)
      ASSERT_EQ(api()->words_step(words, some, 10, &count, &done, error, sizeof error), NEARDUP_GPU_OK) << error;
    api()->words_destroy(words);
  }
}

}  // namespace
