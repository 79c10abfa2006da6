// Engines that have their rows joined by a GPU module give what they give alone; failures of the module are errors or
// change nothing. The module is a double that compares every pair.
#include "offload/gpu_join.h"

#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <random>
#include <string>

#include "core/base/union_find.h"
#include "core/pairs/digests/ctph_pairs.h"
#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/simhash/simhash_pairs.h"

#include "test/gpu/fake_host.h"
#include "test/gpu/fake_search.h"
#include "test/reference/hash_sets.h"
#include "test/reference/pairs_by_definition.h"
#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"

namespace neardup::gpu_join_test {
namespace {

using fake::Behaviour;
using fake::fell_back;
using fake::last_reason;
using fake::open_nothing;
using fake::opened;
using reference::drain;
using reference::Pair;
using reference::StdioTempFiles;
using reference::StopAfter;

bool signals_were_blocked = false;

NeardupGpuStatus create(const NeardupGpuOptions* options, NeardupGpuSearch** search, char* error, uint32_t size) {
  signals_were_blocked = fake::signals_blocked_now();
  return fake::search_create(options, search, error, size);
}

const NeardupGpuApi* open_double(const char** reason) {
  static const NeardupGpuApi api = [] {
    NeardupGpuApi out = {};
    out.abi = NEARDUP_GPU_ABI;
    out.size = sizeof out;
    out.search_create = create;
    out.search_start = fake::search_start;
    out.search_step = fake::search_step;
    out.search_stats = fake::search_stats;
    out.search_destroy = fake::search_destroy;
    return out;
  }();
  ++opened;
  *reason = nullptr;
  return &api;
}

class GpuJoinTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake::behaviour = Behaviour::works;
    fake::searches = 0;
    opened = 0;
    last_reason.clear();
    join.set(true, 0);
  }
  void TearDown() override { EXPECT_EQ(fake::open, 0) << "a search was not destroyed"; }

  GpuJoin join{{open_double, fell_back}};
};

// A set of rows, and the engine for them.
struct Case {
  std::string name;
  std::function<std::unique_ptr<PairSearch>(const EngineOptions&)> make;
  std::function<void(PairSearch&, uint32_t)> add;
  uint32_t n;
};

// The double compares each with each, by the textbook's table: of long digests there are few.
uint32_t count_near_pairs(const reference::DigestShape& shape) {
  constexpr size_t kMostSymbols = 8000;
  const size_t length = shape.digests.empty() ? 1 : shape.digests[0].part1.size() + 1;
  return static_cast<uint32_t>(std::min(shape.digests.size(), kMostSymbols / length));
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const std::string& name : reference::set_names()) {
    for (const uint32_t bits : {8u, 32u}) {
      auto rows = std::make_shared<reference::Rows>(reference::make_set(name, 48, bits, 100));
      for (const uint32_t need : {20u, 40u}) {
        out.push_back({"minhash " + name + " " + std::to_string(bits) + " bits, need " + std::to_string(need),
                       [=](const EngineOptions& o) { return std::make_unique<MinhashPairs>(48, bits, need, o); },
                       [rows](PairSearch& e, uint32_t i) { static_cast<MinhashPairs&>(e).add(rows->row(i)); },
                       rows->size()});
      }
    }
  }
  for (const char* shape : reference::kHashShapes) {
    for (const uint32_t most : {0u, 3u, 40u, 64u}) {
      const reference::Values values = reference::make_values(shape, 120, 7);
      out.push_back({"simhash " + std::string(shape) + ", distance " + std::to_string(most),
                     [=](const EngineOptions& o) { return std::make_unique<SimhashPairs>(most, o); },
                     [values](PairSearch& e, uint32_t i) { static_cast<SimhashPairs&>(e).add(values[i]); },
                     static_cast<uint32_t>(values.size())});
    }
  }
  for (const reference::DigestShape& shape : reference::digest_shapes()) {
    for (const double threshold : {0.6, 0.85}) {
      out.push_back(
          {"ctph " + std::string(shape.name) + ", threshold " + std::to_string(threshold),
           [=](const EngineOptions& o) { return std::make_unique<CtphPairs>(threshold, o); },
           [&shape](PairSearch& e, uint32_t i) { static_cast<CtphPairs&>(e).add(digest_view(shape.digests[i])); },
           count_near_pairs(shape)});
    }
  }
  return out;
}

struct Result {
  std::vector<Pair> pairs;
  SearchStats stats;
};

// count_a = n: one set.
Result search(const Case& c, uint32_t count_a, Identical identical, PairJoin* offload, bool ranks,
              size_t limit = SIZE_MAX) {
  StdioTempFiles files;
  Result out;
  {
    EngineOptions options;
    options.memory_limit = limit;
    options.files = &files;
    options.identical = identical;
    options.offload = offload;
    const std::unique_ptr<PairSearch> engine = c.make(options);
    for (uint32_t i = 0; i < c.n; ++i) {
      if (i == count_a) engine->start_set_b();
      c.add(*engine, i);
    }
    std::vector<uint32_t> rank_a(count_a), rank_b(c.n - count_a);
    for (uint32_t i = 0; i < count_a; ++i) rank_a[i] = count_a + 5 - i;
    for (uint32_t i = 0; i < c.n - count_a; ++i) rank_b[i] = i ^ 1;
    engine->run(ranks ? rank_a.data() : nullptr, ranks ? rank_b.data() : nullptr);
    out.pairs = drain(*engine);
    out.stats = engine->stats();
  }
  EXPECT_EQ(files.open, 0);
  return out;
}

TEST_F(GpuJoinTest, SamePairsAsTheEngineAlone) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    for (const Identical identical : {Identical::all, Identical::star, Identical::none, Identical::marked}) {
      for (const uint32_t count_a : {c.n, c.n / 3}) {
        const int before = fake::searches;
        const Result alone = search(c, count_a, identical, nullptr, true);
        ASSERT_EQ(fake::searches, before);
        const Result joined = search(c, count_a, identical, &join, true);
        ASSERT_EQ(joined.pairs, alone.pairs) << "set A has " << count_a;
        EXPECT_EQ(joined.stats.found, alone.stats.found);
        EXPECT_EQ(joined.stats.left_out, alone.stats.left_out);
        EXPECT_EQ(joined.stats.rows, alone.stats.rows);
        EXPECT_EQ(joined.stats.distinct, alone.stats.distinct);
        EXPECT_EQ(joined.stats.offloaded, fake::searches != before);
      }
    }
  }
  EXPECT_GT(fake::searches, 100);
  EXPECT_TRUE(signals_were_blocked);
}

TEST_F(GpuJoinTest, SameComponentsAndValues) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    std::vector<uint32_t> roots[2], values[2];
    for (int round = 0; round < 2; ++round) {
      StdioTempFiles files;
      EngineOptions options;
      options.files = &files;
      options.offload = round == 0 ? nullptr : &join;
      const std::unique_ptr<PairSearch> engine = c.make(options);
      for (uint32_t i = 0; i < c.n; ++i) c.add(*engine, i);
      UnionFind sets(c.n);
      engine->run_components(sets);
      for (uint32_t i = 0; i < c.n; ++i) roots[round].push_back(sets.find(i));
      values[round].resize(c.n);
      engine->values_with(roots[0].data(), values[round].data());
    }
    ASSERT_EQ(roots[1], roots[0]);
    ASSERT_EQ(values[1], values[0]);
  }
  EXPECT_GT(fake::searches, 50);
}

const Case& a_case() {
  static const Case one = [] {
    for (const Case& c : cases())
      if (c.name == "simhash families, distance 3") return c;
    return Case{};
  }();
  return one;
}

TEST_F(GpuJoinTest, LittleWorkLeavesTheModuleAlone) {
  join.set(false, 0);
  const Result alone = search(a_case(), a_case().n, Identical::all, nullptr, false);
  EXPECT_FALSE(alone.pairs.empty());
  EXPECT_EQ(search(a_case(), a_case().n, Identical::all, &join, false).pairs, alone.pairs);
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(last_reason, "");
}

// Makes every join look like much work.
class Costly final : public PairJoin {
 public:
  explicit Costly(PairJoin& join) : join_(join) {}
  bool join(const MinhashJob& j, double, Workspace& ws, const Found& f) override { return join_.join(j, 1e12, ws, f); }
  bool join(const SimhashJob& j, double, Workspace& ws, const Found& f) override { return join_.join(j, 1e12, ws, f); }
  bool join(const CtphJob& j, double, Workspace& ws, const Found& f) override { return join_.join(j, 1e12, ws, f); }
  void refuse_large() override { join_.refuse_large(); }

 private:
  PairJoin& join_;
};

// Keeps what it is told that the work costs, and leaves it to the engine.
class Estimates final : public PairJoin {
 public:
  bool join(const MinhashJob&, double cost, Workspace&, const Found&) override { return keep(cost); }
  bool join(const SimhashJob&, double cost, Workspace&, const Found&) override { return keep(cost); }
  bool join(const CtphJob&, double cost, Workspace&, const Found&) override { return keep(cost); }
  void refuse_large() override {}
  double cost = 0;

 private:
  bool keep(double told) {
    cost = told;
    return false;
  }
};

// Most of the work are rows that share bands: families cost more than as many strangers. Some rows are looked at alone.
TEST(PairJoinCost, SeesFamiliesOfMinhashes) {
  constexpr uint32_t kRows = 40000;
  double cost[2];
  for (const uint32_t members : {1u, 200u}) {
    Estimates estimates;
    EngineOptions options;
    options.offload = &estimates;
    MinhashPairs engine(128, 32, 103, options);
    std::mt19937_64 random(members);
    std::vector<uint32_t> base(128);
    for (uint32_t i = 0; i < kRows; ++i) {
      if (i % members == 0)
        for (uint32_t& c : base) c = static_cast<uint32_t>(random());
      std::vector<uint32_t> row = base;
      for (int k = 0; k < 20; ++k) row[random() % 128] = static_cast<uint32_t>(random());
      engine.add(row.data());
    }
    engine.run();
    cost[members > 1] = estimates.cost;
    EXPECT_GT(estimates.cost, 40000 * 100.0) << members;
    EXPECT_LT(estimates.cost, 40000 * 1000.0 + 10.0 * static_cast<double>(engine.stats().looked)) << members;
  }
  EXPECT_GT(cost[1], 2 * cost[0]);
}

TEST_F(GpuJoinTest, FailuresFallBackAndAreRemembered) {
  for (const Behaviour behaviour : {Behaviour::create_fails, Behaviour::lost}) {
    fake::behaviour = behaviour;
    fake::searches = 0;
    GpuJoin fresh({open_double, fell_back});
    fresh.set(false, 0);
    Costly costly(fresh);
    for (const Case& c : {a_case()}) {
      const Result alone = search(c, c.n, Identical::all, nullptr, false);
      for (int round = 0; round < 3; ++round) {
        last_reason.clear();
        const Result r = search(c, c.n, Identical::all, &costly, false);
        EXPECT_EQ(r.pairs, alone.pairs);
        EXPECT_EQ(r.stats.found, alone.stats.found);
        EXPECT_FALSE(r.stats.offloaded);
        EXPECT_EQ(last_reason, behaviour == Behaviour::lost
                                   ? "cudaStreamSynchronize failed: GPU is lost ??? (search.cu:2)"
                                   : "no GPU is usable: self_check failed");
      }
    }
    EXPECT_EQ(fake::searches, 1) << "a failed device is not asked again";
  }
}

TEST_F(GpuJoinTest, RequiredFailuresAreErrors) {
  for (const Behaviour behaviour : {Behaviour::create_fails, Behaviour::lost, Behaviour::memory_once}) {
    fake::behaviour = behaviour;
    fake::searches = 0;
    for (const Case& c : cases()) {
      if (c.name != "simhash giant, distance 3" && c.name != "ctph mixed, threshold 0.600000") continue;
      fake::searches = 0;
      try {
        search(c, c.n, Identical::all, &join, false);
        FAIL() << c.name << " went through";
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::device);
        EXPECT_EQ(std::string(e.what()).find("cannot search on the GPU: "), 0u) << e.what();
      }
      EXPECT_EQ(fake::open, 0);
    }
  }
  EXPECT_EQ(last_reason, "");
}

TEST_F(GpuJoinTest, AnAbsentModuleIsAReason) {
  GpuJoin absent({open_nothing, fell_back});
  absent.set(true, 0);
  EXPECT_THROW(search(a_case(), a_case().n, Identical::all, &absent, false), Error);
  absent.set(false, 0);
  Costly costly(absent);
  const Result alone = search(a_case(), a_case().n, Identical::all, nullptr, false);
  EXPECT_EQ(search(a_case(), a_case().n, Identical::all, &costly, false).pairs, alone.pairs);
  EXPECT_EQ(last_reason, "the GPU module is not installed");
}

TEST_F(GpuJoinTest, MemoryMayBeThereTheNextTime) {
  fake::behaviour = Behaviour::memory_once;
  join.set(false, 0);
  Costly costly(join);
  const Result alone = search(a_case(), a_case().n, Identical::all, nullptr, false);
  const Result first = search(a_case(), a_case().n, Identical::all, &costly, false);
  EXPECT_EQ(first.pairs, alone.pairs);
  EXPECT_FALSE(first.stats.offloaded);
  EXPECT_NE(last_reason.find("out of memory"), std::string::npos);
  const Result second = search(a_case(), a_case().n, Identical::all, &costly, false);
  EXPECT_EQ(second.pairs, alone.pairs);
  EXPECT_TRUE(second.stats.offloaded);
}

TEST_F(GpuJoinTest, CancelEndsASearchThatDoesNot) {
  fake::behaviour = Behaviour::never_ends;
  StopAfter stop(50);
  EngineOptions options;
  options.stop = &stop;
  options.offload = &join;
  const std::unique_ptr<PairSearch> engine = a_case().make(options);
  for (uint32_t i = 0; i < a_case().n; ++i) a_case().add(*engine, i);
  try {
    engine->run(nullptr, nullptr);
    FAIL() << "not cancelled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::cancelled);
  }
  EXPECT_EQ(fake::searches, 1);
}

// Rows that went to disk are the engine's own business.
TEST_F(GpuJoinTest, RowsOnDiskStayWithTheEngine) {
  constexpr size_t kLimit = 64 << 10;
  unsigned refused = 0;
  for (const Case& c : cases()) {
    const Result alone = search(c, c.n, Identical::all, nullptr, false, kLimit);
    GpuJoin any({open_double, fell_back});
    any.set(false, 0);
    Costly costly(any);
    ASSERT_EQ(search(c, c.n, Identical::all, &costly, false, kLimit).pairs, alone.pairs) << c.name;
    if (alone.stats.spilled_bytes == 0 || c.name.find("simhash") == 0) continue;
    try {
      search(c, c.n, Identical::all, &join, false, kLimit);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::out_of_budget) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 0u);
}

TEST_F(GpuJoinTest, MemoryIsCounted) {
  for (const Case& c : cases()) {
    for (const size_t limit : {size_t{256} << 10, size_t{4} << 20}) {
      GpuJoin any({open_double, fell_back});
      any.set(false, 0);
      Costly costly(any);
      const Result r = search(c, c.n, Identical::all, &costly, false, limit);
      EXPECT_LE(r.stats.peak_bytes, limit) << c.name;
    }
  }
}

}  // namespace
}  // namespace neardup::gpu_join_test
