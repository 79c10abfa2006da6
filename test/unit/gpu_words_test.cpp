// Words that are compared by a GPU module: what it tells is passed on, its failures are errors or say that the engine
// must go on, and nothing stays open. The module is a double.
#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <tuple>

#include "core/work/workspace.h"
#include "offload/gpu_word_tiles.h"

#include "test/gpu/fake_host.h"
#include "test/gpu/fake_words.h"
#include "test/reference/hash_sets.h"
#include "test/reference/pairs_reference.h"
#include "test/reference/signature_sets.h"
#include "test/reference/similar_lists.h"
#include "test/reference/word_rows.h"

namespace neardup::gpu_words_test {
namespace {

using fake::Behaviour;
using fake::fell_back;
using fake::last_reason;
using fake::open_nothing;
using fake::opened;
using reference::StopAfter;
using reference::WordRows;

bool signals_were_blocked = false;

NeardupGpuStatus create(const NeardupGpuOptions* options, NeardupGpuWords** words, char* error, uint32_t size) {
  signals_were_blocked = fake::signals_blocked_now();
  return fake::words_create(options, words, error, size);
}

NeardupGpuStatus step(NeardupGpuWords* words, NeardupGpuPair* pairs, uint32_t max, uint32_t* count, double* done,
                      char* error, uint32_t size) {
  EXPECT_FALSE(fake::signals_blocked_now());
  return fake::words_step(words, pairs, max, count, done, error, size);
}

const NeardupGpuApi* open_double(const char** reason) {
  static const NeardupGpuApi api = [] {
    NeardupGpuApi out = {};
    out.abi = NEARDUP_GPU_ABI;
    out.size = sizeof out;
    out.words_create = create;
    out.words_begin = fake::words_begin;
    out.words_probe = fake::words_probe;
    out.words_step = step;
    out.words_stats = fake::words_stats;
    out.words_destroy = fake::words_destroy;
    return out;
  }();
  ++opened;
  *reason = nullptr;
  return &api;
}

constexpr double kMuch = 1e12;

class GpuWordsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake::behaviour = Behaviour::works;
    fake::searches = fake::probes = 0;
    opened = 0;
    last_reason.clear();
    least.assign(rows.size(), 0.0f);
    words.set(true, 0);
  }
  void TearDown() override { EXPECT_EQ(fake::open, 0) << "the module's words were not destroyed"; }

  bool begin(GpuWords& gpu, uint32_t first, uint32_t end, double cost = kMuch) {
    return gpu.begin(rows.matrix(first, end), rows.weights.data(), rows.size(), rows.width, 3, cost, ws);
  }
  bool probe(GpuWords& gpu, uint32_t first, uint32_t end) {
    return gpu.probe(rows.matrix(first, end), least.data(), ws,
                     [this](uint32_t i, uint32_t j, uint32_t v) { told.emplace(i, j, v); });
  }

  WordRows rows = reference::make_word_rows("zipf", 40, 60, 1);
  std::vector<float> least;
  Workspace ws{SIZE_MAX, nullptr, nullptr};
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> told;
  GpuWords words{{open_double, fell_back}};
};

TEST_F(GpuWordsTest, PassesOnWhatTheModuleTells) {
  words.set(true, 12345);
  for (const uint32_t first : {0u, 10u, 25u}) {
    const uint32_t end = first + 15;
    ASSERT_TRUE(begin(words, first, end));
    EXPECT_EQ(fake::word_options.memory_limit, 12345u);
    EXPECT_EQ(fake::open, 1);
    for (uint32_t i = 0; i < end; i += 6) {
      told.clear();
      const uint32_t some = std::min(end, i + 6);
      ASSERT_TRUE(probe(words, i, some));
      for (uint32_t a = i; a < some; ++a) {
        // The most similar of the block for each row.
        double best = 0;
        uint32_t best_b = 0;
        for (uint32_t b = std::max(first, a + 1); b < end; ++b) {
          const uint32_t v = reference::common_information(rows, a, b);
          const double s = double(v) / (rows.weights[a] + rows.weights[b]);
          if (s > best) best = s, best_b = b;
        }
        if (best > 0) {
          EXPECT_EQ(told.count({a, best_b, reference::common_information(rows, a, best_b)}), 1u);
        }
      }
      for (const auto& [a, b, v] : told) EXPECT_EQ(v, reference::common_information(rows, a, b));
    }
    EXPECT_EQ(fake::open, 0) << "the device keeps a block that is done";
    EXPECT_GT(words.stats().told, 0u);
  }
  EXPECT_TRUE(signals_were_blocked);
  EXPECT_EQ(last_reason, "");
}

TEST_F(GpuWordsTest, LittleWorkLeavesTheModuleAlone) {
  words.set(false, 0);
  EXPECT_FALSE(begin(words, 0, 40, 1e8));
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(last_reason, "");
  EXPECT_TRUE(begin(words, 0, 40));
  words.release();
  words.set(true, 0);
  EXPECT_TRUE(begin(words, 0, 40, 0));
  words.release();
}

TEST_F(GpuWordsTest, FailuresFallBackAndAreRemembered) {
  for (const Behaviour behaviour : {Behaviour::create_fails, Behaviour::lost}) {
    fake::behaviour = behaviour;
    fake::searches = fake::probes = 0;
    GpuWords fresh({open_double, fell_back});
    fresh.set(false, 0);
    const bool lost = behaviour == Behaviour::lost;
    EXPECT_EQ(begin(fresh, 0, 40), lost);
    if (lost) {
      EXPECT_TRUE(probe(fresh, 0, 20));
      EXPECT_EQ(last_reason, "");
      EXPECT_FALSE(probe(fresh, 20, 40));
    }
    EXPECT_EQ(fake::open, 0);
    const char* const reason =
        lost ? "cudaStreamSynchronize failed: GPU is lost ??? (words.cu:2)" : "no GPU is usable: self_check failed";
    EXPECT_EQ(last_reason, reason);
    for (int round = 0; round < 2; ++round) {
      last_reason.clear();
      EXPECT_FALSE(begin(fresh, 0, 40));
      EXPECT_EQ(last_reason, reason);
    }
    last_reason.clear();
    EXPECT_EQ(fake::searches, 1) << "a failed device is not asked again";
  }
}

TEST_F(GpuWordsTest, RequiredFailuresAreErrors) {
  for (const Behaviour behaviour : {Behaviour::create_fails, Behaviour::lost, Behaviour::memory_once}) {
    fake::behaviour = behaviour;
    fake::searches = fake::probes = 0;
    try {
      begin(words, 0, 40);
      probe(words, 0, 20);
      probe(words, 20, 40);
      FAIL() << "went through";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::device);
      EXPECT_EQ(std::string(e.what()).find("cannot search on the GPU: "), 0u) << e.what();
    }
    EXPECT_EQ(fake::open, 0);
  }
  EXPECT_EQ(last_reason, "");
}

TEST_F(GpuWordsTest, AnAbsentModuleIsAReason) {
  GpuWords absent({open_nothing, fell_back});
  absent.set(true, 0);
  EXPECT_THROW(begin(absent, 0, 40), Error);
  absent.set(false, 0);
  EXPECT_FALSE(begin(absent, 0, 40));
  EXPECT_EQ(last_reason, "the GPU module is not installed");
}

TEST_F(GpuWordsTest, MemoryMayBeThereTheNextTime) {
  fake::behaviour = Behaviour::memory_once;
  words.set(false, 0);
  EXPECT_FALSE(begin(words, 0, 40));
  EXPECT_NE(last_reason.find("out of memory"), std::string::npos);
  EXPECT_TRUE(begin(words, 0, 40));
  EXPECT_TRUE(probe(words, 0, 40));
}

TEST_F(GpuWordsTest, CancelEndsAProbeThatDoesNot) {
  fake::behaviour = Behaviour::never_ends;
  StopAfter stop(50);
  Workspace stopped(SIZE_MAX, nullptr, &stop);
  ASSERT_TRUE(words.begin(rows.matrix(0, 40), rows.weights.data(), rows.size(), rows.width, 3, kMuch, stopped));
  try {
    words.probe(rows.matrix(0, 40), least.data(), stopped, [](uint32_t, uint32_t, uint32_t) {});
    FAIL() << "not cancelled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::cancelled);
  }
  EXPECT_EQ(fake::open, 0);
}

// A query that the engine's rows come from may run another engine in the middle of a block.
TEST_F(GpuWordsTest, AnotherEnginesBlockIsNotProbed) {
  words.set(false, 0);
  ASSERT_TRUE(begin(words, 0, 40));
  Workspace other(SIZE_MAX, nullptr, nullptr);
  ASSERT_TRUE(words.begin(rows.matrix(0, 20), rows.weights.data(), rows.size(), rows.width, 3, kMuch, other));
  EXPECT_FALSE(probe(words, 0, 40));
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(fake::open, 0);
}

// The engine of the core with the module at its side finds what it finds alone, whatever fails.
TEST_F(GpuWordsTest, TheEngineFindsTheSameWords) {
  // All blocks look like much work.
  class Costly final : public WordTiles {
   public:
    explicit Costly(GpuWords& gpu) : gpu_(gpu) {}
    bool begin(const WordMatrix& block, const uint32_t* weights, uint32_t n, uint32_t features, uint32_t k, double,
               Workspace& workspace) override {
      return gpu_.begin(block, weights, n, features, k, kMuch, workspace);
    }
    bool probe(const WordMatrix& r, const float* l, Workspace& workspace, const Found& found) override {
      return gpu_.probe(r, l, workspace, found);
    }

   private:
    GpuWords& gpu_;
  };
  for (const char* shape : reference::kWordShapes) {
    const WordRows model = reference::make_word_rows(shape, 150, 80, 5);
    const reference::SimilarLists alone = reference::find_similar_words(model, 4, 0, nullptr);
    for (const Behaviour behaviour :
         {Behaviour::works, Behaviour::create_fails, Behaviour::lost, Behaviour::memory_once}) {
      SCOPED_TRACE(shape);
      fake::behaviour = behaviour;
      fake::searches = fake::probes = 0;
      GpuWords fresh({open_double, fell_back});
      Costly costly(fresh);
      EXPECT_EQ(reference::find_similar_words(model, 4, 50, &costly), alone);
      EXPECT_GT(fake::searches, 0);
      EXPECT_EQ(fake::open, 0) << "the device keeps a block that is done";
    }
  }
}

// An error that the engine throws goes through, and the block is given up.
TEST_F(GpuWordsTest, AnErrorOfTheEngineGivesTheBlockBack) {
  ASSERT_TRUE(begin(words, 0, 40));
  EXPECT_THROW(words.probe(rows.matrix(0, 20), least.data(), ws,
                           [](uint32_t, uint32_t, uint32_t) { throw Error(Errc::too_large, "enough"); }),
               Error);
  EXPECT_EQ(fake::open, 0);
  words.set(false, 0);
  EXPECT_FALSE(probe(words, 20, 40));
  EXPECT_EQ(last_reason, "the GPU was given back in the middle of a block");
  EXPECT_TRUE(begin(words, 0, 40)) << "that is no failure of the device";
  words.release();
  words.release();
}

}  // namespace
}  // namespace neardup::gpu_words_test
