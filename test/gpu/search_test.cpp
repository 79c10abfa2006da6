// Searches by the module on real devices, through the C boundary: the same pairs as comparing all, as the engines of
// the core, and as older kernels. Skips without a device.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>

#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/simhash/simhash_pairs.h"
#include "core/signature/ctph_compare.h"

#include "test/gpu/jobs.h"
#include "test/gpu/reference_kernels.h"

namespace {

using neardup::test::OwnedJob;
using neardup::test::Pairs;

const NeardupGpuApi* api() {
  static const NeardupGpuApi* table = [] {
    void* module = dlopen(NEARDUP_GPU_MODULE, RTLD_NOW | RTLD_LOCAL);
    const auto get_api =
        module == nullptr ? nullptr : reinterpret_cast<NeardupGpuGetApi>(dlsym(module, NEARDUP_GPU_SYMBOL));
    return get_api == nullptr ? nullptr : get_api();
  }();
  return table;
}

TEST(GpuSearch, RefusesMistakes) {
  ASSERT_NE(api(), nullptr);
  char error[NEARDUP_GPU_TEXT];
  NeardupGpuSearch* search = nullptr;
  NeardupGpuOptions options = {};
  EXPECT_EQ(api()->search_create(nullptr, &search, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  EXPECT_EQ(api()->search_create(&options, nullptr, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  options.way = 3;
  EXPECT_EQ(api()->search_create(&options, &search, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  EXPECT_EQ(api()->search_start(nullptr, nullptr, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  uint32_t n = 0;
  double done = 0;
  NeardupGpuPair pair;
  EXPECT_EQ(api()->search_step(nullptr, &pair, 1, &n, &done, error, sizeof error), NEARDUP_GPU_INVALID_ARGUMENT);
  api()->search_destroy(nullptr);
}

TEST(GpuSearch, WithoutADeviceThereIsAReason) {
  ASSERT_NE(api(), nullptr);
  char error[NEARDUP_GPU_TEXT] = "";
  uint32_t count = 0;
  const NeardupGpuStatus status = api()->device_count(&count, error, sizeof error);
  if (status == NEARDUP_GPU_OK) GTEST_SKIP() << "there is a device";
  auto* search = reinterpret_cast<NeardupGpuSearch*>(&count);
  const NeardupGpuOptions options = {};
  error[0] = '\0';
  EXPECT_EQ(api()->search_create(&options, &search, error, sizeof error), status);
  EXPECT_EQ(search, nullptr);
  EXPECT_STRNE(error, "");
}

class GpuSearchOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(api(), nullptr);
    uint32_t count = 0;
    char error[NEARDUP_GPU_TEXT];
    if (api()->device_count(&count, error, sizeof error) != NEARDUP_GPU_OK) GTEST_SKIP() << error;
  }
};

Pairs run(const NeardupGpuJob& job, const NeardupGpuOptions& options, NeardupGpuStats* stats = nullptr) {
  Pairs out;
  char error[NEARDUP_GPU_TEXT] = "";
  NeardupGpuSearch* search = nullptr;
  NeardupGpuStatus status = api()->search_create(&options, &search, error, sizeof error);
  if (status == NEARDUP_GPU_OK) status = api()->search_start(search, &job, error, sizeof error);
  std::vector<NeardupGpuPair> some(10000);
  for (double done = 0; status == NEARDUP_GPU_OK && done < 1;) {
    uint32_t n = 0;
    status = api()->search_step(search, some.data(), 10000, &n, &done, error, sizeof error);
    for (uint32_t i = 0; i < n; ++i) out.emplace_back(some[i].a, some[i].b, some[i].value);
  }
  EXPECT_EQ(status, NEARDUP_GPU_OK) << error;
  if (stats != nullptr) api()->search_stats(search, stats);
  api()->search_destroy(search);
  std::sort(out.begin(), out.end());
  return out;
}

// All ways, all filters, much memory and hardly any.
TEST_F(GpuSearchOnDevice, EqualsDefinition) {
  uint32_t halvings = 0;
  for (const OwnedJob& j : neardup::test::all_jobs()) {
    SCOPED_TRACE(j.name);
    for (const uint32_t way : {NEARDUP_GPU_WAY_AUTO, NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE}) {
      for (const uint32_t filter : {NEARDUP_GPU_FILTER_SYMBOLS, NEARDUP_GPU_FILTER_LCS}) {
        if (j.job.kind == NEARDUP_GPU_CTPH ? way != NEARDUP_GPU_WAY_AUTO : filter != NEARDUP_GPU_FILTER_LCS) continue;
        for (const uint64_t limit : {uint64_t{0}, uint64_t{5} << 20, uint64_t{256} << 10}) {
          if (limit == 256 << 10 && way != NEARDUP_GPU_WAY_COMPARE && j.job.kind != NEARDUP_GPU_CTPH) continue;
          NeardupGpuStats stats;
          ASSERT_EQ(run(j.job, {limit, 0, filter, way}, &stats), j.pairs) << "way " << way << ", limit " << limit;
          EXPECT_EQ(stats.found, j.pairs.size());
          halvings += stats.halvings;
        }
      }
    }
  }
  EXPECT_GT(halvings, 0u);
}

std::vector<neardup::reference::Pair> drain(neardup::PairSearch& engine) {
  Pairs out;
  neardup::RowPair some[1000];
  while (const size_t n = engine.next(some, 1000))
    for (size_t i = 0; i < n; ++i) out.emplace_back(some[i].a, some[i].b, some[i].value);
  return out;
}

// Few jobs, each kind by each way, for compute-sanitizer, under which the others take long:
//   compute-sanitizer --tool racecheck build-gpu/gpu_test --gtest_filter='*Short'
TEST_F(GpuSearchOnDevice, Short) {
  using namespace neardup;
  std::vector<OwnedJob> jobs;
  const reference::Rows rows = reference::make_set("mixed", 128, 32, 130);
  std::mt19937_64 random(4);
  reference::Values values = reference::make_values("families", 300, 3);
  std::shuffle(values.begin(), values.end(), random);
  for (const size_t count_a : {SIZE_MAX, size_t{50}}) {
    jobs.push_back(test::minhash_job(rows, 103, std::min<size_t>(count_a, rows.size())));
    jobs.push_back(test::simhash_job(values, 3, std::min(count_a, values.size())));
    const std::vector<CtphDigest> digests = reference::mixed(3, 150);
    jobs.push_back(test::ctph_job(digests, 0.85, std::min(count_a, digests.size())));
  }
  // Longer parts are another kernel's.
  std::vector<CtphDigest> long_ones;
  for (uint32_t i = 0; i < 60; ++i)
    long_ones.push_back(
        {5, 64,
         i % 2 == 0 ? reference::random_part(random, 90) : reference::edited(random, long_ones.back().part1, 3, 90),
         ""});
  jobs.push_back(test::ctph_job(long_ones, 0.85, long_ones.size()));
  for (const OwnedJob& j : jobs) {
    const Pairs expected = test::pairs_by_definition(j.job);
    EXPECT_GT(expected.size(), 0u);
    for (const uint32_t way : {NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE}) {
      for (const uint32_t filter : {NEARDUP_GPU_FILTER_SYMBOLS, NEARDUP_GPU_FILTER_LCS}) {
        if (j.job.kind == NEARDUP_GPU_CTPH ? way != NEARDUP_GPU_WAY_GROUP : filter != NEARDUP_GPU_FILTER_LCS) continue;
        EXPECT_EQ(run(j.job, {0, 0, filter, way}), expected) << "kind " << j.job.kind << ", way " << way;
      }
    }
  }
}

// Larger sets, against the engines.
TEST_F(GpuSearchOnDevice, EqualsTheEngines) {
  using namespace neardup;
  const reference::Values values = reference::make_values("families", 200000, 3);
  for (const uint32_t most : {3u, 9u}) {
    const OwnedJob j = test::simhash_job(values, most, SIZE_MAX);
    SimhashPairs engine(most, {});
    for (const uint64_t v : j.values) engine.add(v);
    engine.run();
    const Pairs expected = drain(engine);
    for (const uint32_t way : {NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE})
      ASSERT_EQ(run(j.job, {0, 0, 0, way}), expected);
  }
  const reference::Rows rows = reference::make_set("mixed", 128, 32, 20000);
  for (const uint32_t need : {115u, 96u}) {
    const OwnedJob j = test::minhash_job(rows, need, SIZE_MAX);
    MinhashPairs engine(128, 32, need, {});
    for (const void* row : j.rows) engine.add(row);
    engine.run();
    const Pairs expected = drain(engine);
    for (const uint32_t way : {NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE})
      ASSERT_EQ(run(j.job, {0, 0, 0, way}), expected);
  }
  const std::vector<CtphDigest> digests = reference::mixed(3, 5000);
  const OwnedJob j = test::ctph_job(digests, 0.85, SIZE_MAX);
  size_t count = digests.size();
  CtphPairs engine(0.85, {});
  for (const CtphDigest& d : test::distinct(digests, &count)) engine.add(digest_view(d));
  engine.run();
  ASSERT_EQ(run(j.job, {}), drain(engine));
}

// The design of the 2015 study, kept as a second opinion: a table of distances by rows, a pair a thread.
TEST_F(GpuSearchOnDevice, EqualsTheOlderKernels) {
  using namespace neardup;
  std::mt19937_64 random(9);
  std::vector<CtphDigest> digests;
  for (uint32_t i = 0; i < 2000; ++i) {
    if (i % 3 == 0)
      digests.push_back({5, 64, reference::random_part(random, 64), ""});
    else
      digests.push_back({5, 64, reference::edited(random, digests.back().part1, random() % 8, 64), ""});
  }
  const OwnedJob j = test::ctph_job(digests, 0.85, SIZE_MAX);
  const Pairs expected = run(j.job, {});
  EXPECT_GT(expected.size(), 500u);
  for (const bool shared : {true, false}) {
    Pairs got;
    for (const NeardupGpuPair& p : older_kernel_pairs(j.job, shared, nullptr)) got.emplace_back(p.a, p.b, p.value);
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, expected) << (shared ? "shared memory" : "global memory");
  }
}

// Steps are short, and a search can be dropped in the middle.
TEST_F(GpuSearchOnDevice, StepsAreShortAndASearchCanBeDropped) {
  const neardup::reference::Values values = neardup::reference::make_values("random", 500000, 3);
  NeardupGpuJob job = {};
  job.kind = NEARDUP_GPU_SIMHASH;
  job.count_a = job.count = static_cast<uint32_t>(values.size());
  job.values = values.data();
  job.most = 14;
  char error[NEARDUP_GPU_TEXT];
  NeardupGpuSearch* search = nullptr;
  const NeardupGpuOptions options = {};
  ASSERT_EQ(api()->search_create(&options, &search, error, sizeof error), NEARDUP_GPU_OK) << error;
  ASSERT_EQ(api()->search_start(search, &job, error, sizeof error), NEARDUP_GPU_OK) << error;
  std::vector<NeardupGpuPair> some(1000);
  double done = 0;
  uint32_t n = 0;
  for (int i = 0; i < 5 && done < 1; ++i)
    ASSERT_EQ(api()->search_step(search, some.data(), 1000, &n, &done, error, sizeof error), NEARDUP_GPU_OK) << error;
  NeardupGpuStats stats;
  api()->search_stats(search, &stats);
  EXPECT_LT(stats.step_ms, 5 * 200);
  api()->search_destroy(search);
}

}  // namespace
