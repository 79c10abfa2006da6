// The GPU module's searches, run on the host thread by thread: the same pairs as comparing all, whatever the memory,
// the number of devices and the pieces. What CUDA itself does is not seen here.
#include <gtest/gtest.h>
#include <set>

#include "gpu/pairs/check_job.h"
#include "gpu/pairs/ctph_search.h"
#include "gpu/pairs/join_search.h"

#include "test/gpu/host_gpu.h"
#include "test/gpu/jobs.h"

namespace neardup::gpu::host_search_test {
namespace {

using test::OwnedJob;
using test::Pairs;

// As api.cu has it for CUDA.
std::unique_ptr<Search> make_search(const std::vector<HostGpu*>& gpus, const NeardupGpuJob& job,
                                    const NeardupGpuOptions& options) {
  check_job(job);
  if (job.kind == NEARDUP_GPU_MINHASH) return std::make_unique<MinhashSearch<HostGpu>>(gpus, job, options.way);
  if (job.kind == NEARDUP_GPU_SIMHASH) return std::make_unique<SimhashSearch<HostGpu>>(gpus, job, options.way);
  return std::make_unique<CtphSearch<HostGpu>>(gpus, job, options.filter);
}

struct Setting {
  uint64_t limit = uint64_t{1} << 40;
  unsigned gpus = 1;
  uint64_t pieces = 1 << 24;
  uint32_t filter = NEARDUP_GPU_FILTER_AUTO;
  uint32_t way = NEARDUP_GPU_WAY_GROUP;
  uint32_t shared = 200 << 10;
  uint64_t memory = UINT64_MAX;  // what there really is
};

struct Result {
  Pairs pairs;
  NeardupGpuStats stats = {};
  uint64_t most_held = 0;
};

Result run(const NeardupGpuJob& job, const Setting& s, uint32_t max = 1000) {
  std::vector<HostGpu> owned(s.gpus, HostGpu(s.memory, s.shared));
  std::vector<HostGpu*> gpus;
  for (HostGpu& gpu : owned) gpus.push_back(&gpu);
  Result out;
  {
    const std::unique_ptr<Search> search = make_search(gpus, job, NeardupGpuOptions{0, 0, s.filter, s.way});
    dynamic_cast<DeviceSearch<HostGpu>&>(*search).set_first_piece(s.pieces);
    search->start(s.limit);
    std::vector<NeardupGpuPair> some(max);
    for (double done = 0; done < 1;) {
      const uint32_t n = search->step(some.data(), max, &done);
      EXPECT_LE(n, max);
      for (uint32_t i = 0; i < n; ++i) out.pairs.emplace_back(some[i].a, some[i].b, some[i].value);
    }
    out.stats = search->stats;
  }
  for (const HostGpu& gpu : owned) {
    EXPECT_EQ(gpu.held, 0u);
    out.most_held = std::max(out.most_held, gpu.most_held);
  }
  std::sort(out.pairs.begin(), out.pairs.end());
  return out;
}

const std::vector<OwnedJob>& jobs() {
  static const std::vector<OwnedJob> all = test::all_jobs();
  return all;
}

TEST(GpuSearchOnHost, EqualsDefinition) {
  size_t pairs = 0;
  for (const OwnedJob& j : jobs()) {
    pairs += j.pairs.size();
    const Result r = run(j.job, {});
    ASSERT_EQ(r.pairs, j.pairs) << j.name;
    EXPECT_EQ(r.stats.found, j.pairs.size()) << j.name;
    EXPECT_EQ(r.stats.devices, 1u);
  }
  EXPECT_GT(pairs, 100000u);
}

// Slabs, tiles and results that do not fit; several devices; either filter; little shared memory.
TEST(GpuSearchOnHost, EqualsDefinitionInEverySetting) {
  uint32_t halvings = 0, slabs = 0, brute = 0, joined = 0;
  size_t i = 0;
  for (const OwnedJob& j : jobs()) {
    std::vector<Setting> settings = {
        {.limit = 256 << 10, .pieces = 1 << 24},
        {.limit = 1 << 20, .gpus = 3, .pieces = 1000},
        {.gpus = 2, .pieces = 200, .filter = NEARDUP_GPU_FILTER_LCS},
        {.limit = 512 << 10, .filter = NEARDUP_GPU_FILTER_SYMBOLS, .shared = 48 << 10},
        {.filter = NEARDUP_GPU_FILTER_LCS, .way = NEARDUP_GPU_WAY_COMPARE, .shared = 48 << 10},
        {.limit = 700 << 10, .way = NEARDUP_GPU_WAY_COMPARE},
        {.way = NEARDUP_GPU_WAY_AUTO},
    };
    // All settings for every fifth, and one for each of the others.
    if (i++ % 5 != 0) settings = {settings[i % settings.size()]};
    for (const Setting& s : settings) {
      SCOPED_TRACE(j.name + ", limit " + std::to_string(s.limit) + ", devices " + std::to_string(s.gpus));
      Result r;
      try {
        r = run(j.job, s, 77);
      } catch (const NoMemory& e) {
        // Sorting takes a fixed amount.
        ASSERT_LT(s.limit, uint64_t{4} << 20) << e.what();
        Setting more = s;
        more.limit = 4 << 20;
        r = run(j.job, more, 77);
      }
      ASSERT_EQ(r.pairs, j.pairs);
      halvings += r.stats.halvings;
      slabs = std::max(slabs, r.stats.slabs);
      brute += r.stats.brute_force;
      joined += j.job.kind != NEARDUP_GPU_CTPH && r.stats.brute_force == 0;
    }
  }
  EXPECT_GT(halvings, 100u);
  EXPECT_GE(slabs, 2u);
  EXPECT_GT(brute, 50u);
  EXPECT_GT(joined, 20u);
}

// A set that needs several slabs within a limit at which all else is there: rows are loaded, dropped and loaded again.
TEST(GpuSearchOnHost, ManySlabsWithinTheLimit) {
  const auto check = [](const char* name, const OwnedJob& j, uint64_t limit) {
    SCOPED_TRACE(name);
    const Pairs expected = test::pairs_by_definition(j.job);
    const Result whole = run(j.job, {});
    ASSERT_EQ(whole.pairs, expected);
    for (const unsigned gpus : {1u, 2u}) {
      const Result r = run(j.job, {.limit = limit, .gpus = gpus});
      ASSERT_EQ(r.pairs, expected);
      EXPECT_GT(r.stats.slabs, 4u);
      EXPECT_LE(r.most_held, limit);
      EXPECT_LE(r.stats.device_bytes, limit);
    }
  };
  const reference::Rows rows = reference::make_set("mixed", 512, 32, 700);
  check("minhash", test::minhash_job(rows, 450, rows.size()), 3300 << 10);
  check("two sets of minhashes", test::minhash_job(rows, 450, rows.size() / 2), 3500 << 10);
  const reference::Values values = reference::make_values("families", 12000, 3);
  check("simhash", test::simhash_job(values, 3, values.size()), 2700 << 10);
  check("two sets of simhashes", test::simhash_job(values, 32, 100), 100 << 10);
  const std::vector<CtphDigest> digests = reference::mixed(3, 1200);
  check("digests", test::ctph_job(digests, 0.85, digests.size()), 200 << 10);
  const std::vector<CtphDigest> longs = reference::long_digests(300, 130);
  check("long digests", test::ctph_job(longs, 0.8, 100), 100 << 10);
}

// Less memory than was thought: the search makes do with it, or says that it cannot.
TEST(GpuSearchOnHost, MemoryThatIsNotThere) {
  const reference::Values values = reference::make_values("families", 10000, 3);
  const std::vector<OwnedJob> some = [&] {
    std::vector<OwnedJob> out;
    out.push_back(test::simhash_job(values, 3, values.size()));
    out.push_back(test::ctph_job(reference::mixed(3, 800), 0.8, 800));
    out.push_back(test::minhash_job(reference::make_set("mixed", 256, 32, 1500), 200, SIZE_MAX));
    return out;
  }();
  // Memory that ends while bands are chosen.
  const OwnedJob grouped = test::minhash_job(reference::make_set("mixed", 256, 32, 3000), 210, SIZE_MAX);
  const Pairs pairs = test::pairs_by_definition(grouped.job);
  for (const uint64_t megabytes : {1, 2, 5}) {
    const uint64_t memory = megabytes << 20;
    try {
      ASSERT_EQ(run(grouped.job, {.limit = uint64_t{1} << 30, .memory = memory}).pairs, pairs) << memory;
    } catch (const NoMemory&) {
      EXPECT_LT(memory, uint64_t{2} << 20);
    }
  }
  for (const OwnedJob& j : some) {
    const Pairs expected = test::pairs_by_definition(j.job);
    const Result all = run(j.job, {});
    unsigned less = 0;
    for (const uint64_t memory : {all.most_held, all.most_held * 3 / 4, all.most_held / 3, all.most_held / 8}) {
      try {
        const Result r = run(j.job, {.memory = memory});
        ASSERT_EQ(r.pairs, expected);
        EXPECT_LE(r.most_held, memory);
        ++less;
      } catch (const NoMemory&) {
        EXPECT_LT(memory, uint64_t{5} << 20);
      }
    }
    EXPECT_GE(less, 3u);
    EXPECT_THROW(run(j.job, {.memory = 100 << 10}), NoMemory);
    EXPECT_THROW(run(j.job, {.limit = 10 << 10}), NoMemory);
  }
}

// A device that is lost at any moment is an error, never missing pairs, and nothing is held afterwards.
TEST(GpuSearchOnHost, ALostDeviceIsAnError) {
  const OwnedJob j = test::ctph_job(reference::mixed(3, 200), 0.8, 200);
  const Pairs expected = test::pairs_by_definition(j.job);
  int finished = 0;
  int lost = 0;
  for (int64_t calls = 0; calls < 400; calls += calls < 60 ? 1 : 17) {
    HostGpu gpu;
    gpu.calls_left = calls;
    Pairs got;
    try {
      const auto search = make_search({&gpu}, j.job, {});
      dynamic_cast<DeviceSearch<HostGpu>&>(*search).set_first_piece(2000);
      search->start(1 << 20);
      NeardupGpuPair some[64];
      for (double done = 0; done < 1;) {
        const uint32_t n = search->step(some, 64, &done);
        for (uint32_t i = 0; i < n; ++i) got.emplace_back(some[i].a, some[i].b, some[i].value);
      }
      std::sort(got.begin(), got.end());
      EXPECT_EQ(got, expected);
      ++finished;
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "host GPU: the device is lost");
      ++lost;
    }
    EXPECT_EQ(gpu.held, 0u);
  }
  EXPECT_GT(lost, 50);
  EXPECT_GT(finished, 0);
}

TEST(GpuSearchOnHost, RefusesWrongJobs) {
  const auto refused = [](auto change) {
    OwnedJob j = test::ctph_job(reference::mixed(3, 20), 0.8, 20);
    change(j);
    try {
      check_job(j.job);
      return false;
    } catch (const Error& e) {
      return e.code() == Errc::invalid_argument;
    }
  };
  EXPECT_FALSE(refused([](OwnedJob&) {}));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.job.kind = 3; }));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.job.parts = nullptr; }));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.job.most_by_sum = nullptr; }));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.parts[3].length = 0; }));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.parts[3].length = 1025; }));
  EXPECT_TRUE(refused([](OwnedJob& j) { std::swap(j.parts.front(), j.parts.back()); }));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.most[100] = 101; }));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.most[1000] = static_cast<uint16_t>(j.most[1000] + 2); }));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.job.kind = NEARDUP_GPU_SIMHASH, j.job.most = 65; }));
  EXPECT_TRUE(refused([](OwnedJob& j) { j.job.kind = NEARDUP_GPU_MINHASH; }));
}

// ---------------------------------------------------------------- plans

#ifdef NEARDUP_SEES_RACES
// Threads that pass something on through shared memory without a barrier in between.
struct PassesOnTooEarly {
  static constexpr uint32_t kThreads = 64;
  static constexpr uint32_t kShared = 4 * kThreads;
  uint32_t* out;
  template <class Block>
  void operator()(Block& block) const {
    uint32_t* const shared = reinterpret_cast<uint32_t*>(block.shared());
    block.each([&](uint32_t thread) {
      shared[thread] = thread;
      out[block.x() * kThreads + thread] = shared[(thread + 1) % kThreads];
    });
  }
};

// Blocks that add to one number as if they were alone.
struct AddsAlone {
  static constexpr uint32_t kThreads = 64;
  uint32_t* out;
  template <class Block>
  void operator()(Block& block) const {
    block.each([&](uint32_t thread) {
      if (thread == 0) out[0] += block.x();
    });
  }
};

template <class Kernel>
void launch_and_exit() {
  HostGpu gpu;
  HostGpu::Stream stream(gpu);
  HostGpu::Buffer<uint32_t> out(gpu, 4096);
  for (int i = 0; i < 100; ++i) gpu.launch(stream, Kernel{out.data()}, 64);
  std::exit(0);
}

TEST(GpuSearchOnHost, RacesAreSeen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(launch_and_exit<PassesOnTooEarly>(), testing::ExitedWithCode(66), "data race");
  EXPECT_EXIT(launch_and_exit<AddsAlone>(), testing::ExitedWithCode(66), "data race");
}
#endif

TEST(GpuPlan, TilesCoverEveryPairOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const bool self = round % 2 == 0;
    std::vector<Store> stores(2);
    for (Store& s : stores) {
      s.n = 1 + random() % 300;
      s.slab_rows = 1 + random() % 200;
      s.slabs = (s.n - 1) / s.slab_rows + 1;
    }
    const uint32_t first_x = random() % stores[0].n, end_x = first_x + random() % (stores[0].n - first_x + 1);
    const uint32_t first_y = random() % stores[1].n, end_y = first_y + random() % (stores[1].n - first_y + 1);
    const GridJoin join = self ? GridJoin{0, first_x, end_x, 0, first_x, end_x, true, false}
                               : GridJoin{0, first_x, end_x, 1, first_y, end_y, false, false};
    const Weigh weigh = [](const GridJoin&, uint32_t x) { return uint64_t{1} + x * x / 100; };
    const bool weighed = round % 3 == 0;
    GridPlan plan({{0, 0, 0, 1, 0, 5, false, false}, join}, stores, nullptr, weighed ? weigh : Weigh{});
    std::vector<std::vector<int>> seen(stores[0].n, std::vector<int>(300, 0));
    GridTile t;
    double before = 0;
    uint64_t pairs = 1 + random() % 5000;
    for (int tiles = 0; plan.next(pairs, &t); ++tiles, pairs = 1 + random() % 5000) {
      ASSERT_LT(tiles, 100000);
      const uint32_t base_x = t.slab_x * stores[0].slab_rows;
      const uint32_t base_y = t.slab_y * stores[join.store_y].slab_rows;
      // One row of x may be too much already; the next ones are taken because the first of them is cheap.
      const uint64_t heaviest = weighed ? weigh(join, base_x + t.tile.x_first + t.tile.x_count - 1) : 1;
      ASSERT_TRUE(t.tile.y_count == 1 || t.tile.x_count * uint64_t{t.tile.y_count} * heaviest <= pairs);
      ASSERT_LE(t.tile.x_first + t.tile.x_count, stores[0].rows_in_slab(t.slab_x));
      ASSERT_LE(t.tile.y_first + t.tile.y_count, stores[join.store_y].rows_in_slab(t.slab_y));
      for (uint32_t x = 0; x < t.tile.x_count; ++x)
        for (uint32_t y = 0; y < t.tile.y_count; ++y)
          if (!t.tile.self || t.tile.y_first + y > t.tile.x_first + x)
            ++seen[base_x + t.tile.x_first + x][base_y + t.tile.y_first + y];
      EXPECT_GE(plan.done(), before);
      before = plan.done();
    }
    for (uint32_t x = 0; x < stores[0].n; ++x)
      for (uint32_t y = 0; y < 300; ++y) {
        const bool wanted = x >= first_x && x < end_x && (self ? y > x && y < end_x : y >= first_y && y < end_y);
        ASSERT_EQ(seen[x][y], wanted) << x << " " << y;
      }
  }
}

TEST(GpuPlan, HalvesAreTheWhole) {
  const auto count = [](const Tile& t) {
    uint64_t n = 0;
    for (uint32_t x = t.x_first; x < t.x_first + t.x_count; ++x)
      for (uint32_t y = t.y_first; y < t.y_first + t.y_count; ++y) n += !t.self || y > x;
    return n;
  };
  for (const Tile t :
       {Tile{0, 7, 0, 7, true}, Tile{3, 1, 4, 9, false}, Tile{5, 9, 2, 1, false}, Tile{0, 2, 0, 2, false}}) {
    const auto [one, two] = halves(t);
    EXPECT_EQ(count(one) + count(two), count(t));
    EXPECT_GT(one.x_count * one.y_count, 0u);
    EXPECT_GT(two.x_count * two.y_count, 0u);
  }
}

TEST(GpuPlan, MemoryFitsOrIsRefused) {
  std::mt19937_64 random(2);
  unsigned fitted = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Store> stores(1 + random() % 2);
    for (Store& s : stores) {
      s.n = static_cast<uint32_t>(random() % (uint64_t{1} << random() % 32));
      s.columns = 2;
      s.width[0] = 8 << random() % 8;
      s.width[1] = 4;
    }
    MemoryNeed need;
    need.scratch = random() % 2 * 26;
    need.fixed = 1 << random() % 20;
    const uint64_t limit = uint64_t{1} << (15 + random() % 25);
    MemoryPlan plan;
    if (!plan_memory(stores, need, limit, &plan)) {
      ++refused;
      continue;
    }
    ++fitted;
    ASSERT_LE(plan.bytes, limit);
    ASSERT_GE(plan.room, kLeastRoom);
    uint64_t slabs = 0;
    for (const Store& s : stores) {
      slabs += s.held * s.row_bytes() * s.slab_rows;
      if (s.n == 0) continue;
      ASSERT_GT(s.slab_rows, 0u);
      ASSERT_GE(uint64_t{s.slabs} * s.slab_rows, s.n);
      ASSERT_LT(uint64_t{s.slabs - 1} * s.slab_rows, s.n);
      // Both slabs of a unit must have a place, and those of the other slot.
      ASSERT_GE(s.held, std::min(s.slabs, 4u));
    }
    ASSERT_GE(plan.bytes, slabs);
  }
  EXPECT_GT(fitted, 500u);
  EXPECT_GT(refused, 50u);
}

TEST(GpuPlan, PiecesGrowAndShrink) {
  WorkSize size = piece_size(1 << 20);
  size.took(1);
  EXPECT_EQ(size.size, 1u << 21);
  size.took(20);
  EXPECT_EQ(size.size, 1u << 21);
  size.took(100);
  EXPECT_EQ(size.size, 1u << 20);
  for (int i = 0; i < 100; ++i) size.took(100);
  EXPECT_GT(size.size, 1000u);
  for (int i = 0; i < 100; ++i) size.took(0);
  EXPECT_LE(size.size, uint64_t{1} << 31);
}

TEST(GpuPlan, JoiningPaysWhereKeysTellRowsApart) {
  // 1,000,000 random simhashes at distances of 3, 7 and 11.
  EXPECT_TRUE(worth_joining(3e7, kSimhashLookCost, 1e6, 4, 5e11, kSimhashCost));
  EXPECT_TRUE(worth_joining(1.6e10, kSimhashLookCost, 1e6, 8, 5e11, kSimhashCost));
  EXPECT_FALSE(worth_joining(1.9e11, kSimhashLookCost, 1e6, 12, 5e11, kSimhashCost));
}

TEST(GpuPlan, AFewPercentOfWhatIsFreeAreLeftToOthers) {
  EXPECT_EQ(memory_reserve(uint64_t{80} << 30), uint64_t{4} << 30);
  EXPECT_EQ(memory_reserve(uint64_t{1} << 30), uint64_t{256} << 20);
  EXPECT_EQ(memory_reserve(uint64_t{100} << 20), uint64_t{100} << 20);
}

}  // namespace
}  // namespace neardup::gpu::host_search_test
