// The GPU module's comparison of words, run on the host thread by thread: the union of what is told holds the true k
// best of every word, whatever the memory, the number of devices and the size of the pieces. What CUDA and cuBLAS
// themselves do is not seen here.
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

#include "core/word_model/word_tiles.h"
#include "gpu/words/words_search.h"

#include "test/gpu/host_gpu.h"
#include "test/gpu/word_cases.h"
#include "test/reference/similar_lists.h"

namespace neardup::gpu::host_words_test {
namespace {

using reference::WordRows;
using test::check_told;
using Case = test::WordCase;
using Key = std::pair<uint32_t, uint32_t>;

struct Setting {
  uint64_t limit = uint64_t{1} << 40;
  unsigned gpus = 1;
  uint32_t strips = UINT32_MAX;
  uint32_t way = NEARDUP_GPU_WAY_AUTO;
  bool multiplies = true;
  uint64_t memory = UINT64_MAX;  // what there really is
};

class Session {
 public:
  Session(const Case& c, const Setting& s) : c_(c), owned_(s.gpus, HostGpu(s.memory)) {
    std::vector<HostGpu*> gpus;
    for (HostGpu& gpu : owned_) {
      gpu.multiplies = s.multiplies;
      gpus.push_back(&gpu);
    }
    search_ = std::make_unique<WordSearch<HostGpu>>(gpus, s.way);
    search_->limit_strips(s.strips);
    limit_ = s.limit;
  }
  ~Session() {
    search_.reset();
    for (const HostGpu& gpu : owned_) EXPECT_EQ(gpu.held, 0u);
  }

  void begin(uint32_t first, uint32_t end) { search_->begin(c_.block(first, end), limit_); }

  std::vector<NeardupGpuPair> probe(uint32_t first, uint32_t end, const float* least, uint32_t max = 1000) {
    search_->probe(c_.view(first, end), least);
    std::vector<NeardupGpuPair> out;
    std::vector<NeardupGpuPair> some(max);
    double before = 0;
    for (double done = 0; done < 1; before = done) {
      const uint32_t n = search_->step(some.data(), max, &done);
      EXPECT_LE(n, max);
      EXPECT_GE(done, before);
      out.insert(out.end(), some.begin(), some.begin() + n);
    }
    return out;
  }

  WordSearch<HostGpu>& search() { return *search_; }
  uint64_t most_held() const {
    uint64_t out = 0;
    for (const HostGpu& gpu : owned_) out = std::max(out, gpu.most_held);
    return out;
  }
  uint64_t products() const {
    uint64_t out = 0;
    for (const HostGpu& gpu : owned_) out += gpu.products;
    return out;
  }

 private:
  const Case& c_;
  std::vector<HostGpu> owned_;
  std::unique_ptr<WordSearch<HostGpu>> search_;
  uint64_t limit_ = 0;
};

// All blocks and probes of a model, as an engine goes through them; what is told becomes the least of later probes.
size_t run_all(const Case& c, const Setting& s, uint32_t blocks, uint32_t probe_rows) {
  const uint32_t n = c.rows.size();
  Session run(c, s);
  std::vector<float> least(n, 0.0f);
  std::vector<std::vector<double>> best(n);
  size_t told_all = 0;
  for (uint32_t b = 0; b < blocks; ++b) {
    const uint32_t first = static_cast<uint32_t>(uint64_t{n} * b / blocks);
    const uint32_t end = static_cast<uint32_t>(uint64_t{n} * (b + 1) / blocks);
    run.begin(first, end);
    for (uint32_t i = 0; i < end; i += probe_rows) {
      const uint32_t stop = std::min(end, i + probe_rows);
      const std::vector<NeardupGpuPair> told = run.probe(i, stop, least.data(), 177);
      check_told(c, i, stop, first, end, least, told);
      told_all += told.size();
      for (const NeardupGpuPair& p : told)
        for (const uint32_t w : {p.a, p.b}) best[w].push_back(fake::pair_similarity(p, c.rows.weights.data()));
      for (uint32_t w = 0; w < n; ++w) {
        std::sort(best[w].begin(), best[w].end(), std::greater<>());
        if (best[w].size() < c.k) continue;
        best[w].resize(c.k);
        // Rounded down.
        least[w] = static_cast<float>(best[w].back());
        if (double(least[w]) > best[w].back()) least[w] = std::nextafterf(least[w], 0.0f);
      }
    }
  }
  // The k best similarities of every word, exactly.
  std::vector<std::vector<double>> expected(n);
  for (const NeardupGpuPair& p : c.all)
    for (const uint32_t w : {p.a, p.b}) expected[w].push_back(fake::pair_similarity(p, c.rows.weights.data()));
  for (uint32_t w = 0; w < n; ++w) {
    std::sort(expected[w].begin(), expected[w].end(), std::greater<>());
    expected[w].resize(std::min<size_t>(expected[w].size(), c.k));
    best[w].resize(std::min<size_t>(best[w].size(), c.k));
    EXPECT_EQ(best[w], expected[w]) << "word " << w;
  }
  return told_all;
}

std::vector<Setting> settings() {
  return {
      {},
      {.limit = 3 << 20, .strips = 7},
      {.gpus = 3, .strips = 5},
      {.limit = 400 << 10, .gpus = 2, .way = NEARDUP_GPU_WAY_COMPARE},
      {.way = NEARDUP_GPU_WAY_GROUP},
      {.strips = 16, .way = NEARDUP_GPU_WAY_COMPARE},
      {.strips = 33, .way = NEARDUP_GPU_WAY_COMPARE, .multiplies = false},
  };
}

TEST(GpuWordsOnHost, TheBestOfEveryWord) {
  size_t i = 0;
  for (const char* shape : reference::kWordShapes) {
    for (const uint32_t n : {1u, 2u, 33u, 150u}) {
      for (const uint32_t k : {1u, 4u, 1000u}) {
        if (n < 33 && k != 4) continue;
        const Case c(shape, n, n == 33 ? 500 : 90, k);
        const Setting s = settings()[i++ % settings().size()];
        SCOPED_TRACE(std::string(shape) + ", " + std::to_string(n) + " words, k " + std::to_string(k) + ", limit " +
                     std::to_string(s.limit) + ", strips of " + std::to_string(s.strips) + ", way " +
                     std::to_string(s.way));
        run_all(c, s, 1 + i % 3, i % 2 == 0 ? n : 40);
      }
    }
  }
}

TEST(GpuWordsOnHost, TheBestOfEveryWordInEverySetting) {
  const Case zipf("zipf", 120, 200, 5);
  const Case borders("borders", 70, 64, 2);
  for (const Case* c : {&zipf, &borders}) {
    for (const Setting& s : settings()) {
      SCOPED_TRACE("limit " + std::to_string(s.limit) + ", strips of " + std::to_string(s.strips) + ", way " +
                   std::to_string(s.way));
      const size_t told = run_all(*c, s, 2, 50);
      // The k best, and not all there is.
      EXPECT_LT(told, c->all.size() * 3 / 4);
    }
  }
}

// Rows that are probed at once, in strips: what one strip found the next ones need not find again.
TEST(GpuWordsOnHost, BoundsOfColumnsAreKeptFromStripToStrip) {
  const Case c("zipf", 400, 100, 2);
  const std::vector<float> least(c.rows.size(), 0.0f);
  size_t more[2];
  for (const bool whole : {false, true}) {
    Session run(c, {.strips = whole ? 400u : 16u});
    run.begin(300, 400);
    more[whole] = check_told(c, 0, 400, 300, 400, least, run.probe(0, 400, least.data()));
  }
  // A bucket is 6 % wide; the pairs of one strip are told apart better than that.
  EXPECT_LT(more[true], 150u);
  EXPECT_LT(more[false], 600u);
}

// Words that are all about equally similar, so that most pairs are in few buckets.
TEST(GpuWordsOnHost, NearlyEqualPairsAreToldApart) {
  const Case c("dense", 250, 120, 2);
  const std::vector<float> least(c.rows.size(), 0.0f);
  Session run(c, {});
  run.begin(0, 250);
  const std::vector<NeardupGpuPair> told = run.probe(0, 250, least.data());
  EXPECT_LT(check_told(c, 0, 250, 0, 250, least, told), 50u) << "of " << told.size();
}

TEST(GpuWordsOnHost, LeastIsHeeded) {
  const Case c("groups", 120, 150, 10);
  std::vector<float> least(c.rows.size());
  std::mt19937 random(3);
  for (float& l : least) l = static_cast<float>(random() % 1000) / 1500;
  least[5] = least[100] = std::numeric_limits<float>::infinity();
  Session run(c, {.strips = 20});
  run.begin(60, 120);
  const std::vector<NeardupGpuPair> told = run.probe(0, 120, least.data());
  check_told(c, 0, 120, 60, 120, least, told);
  for (const NeardupGpuPair& p : told) {
    EXPECT_FALSE(p.a == 5 && p.b == 100);
    const double s = fake::pair_similarity(p, c.rows.weights.data());
    EXPECT_GE(s * 1.00001, std::min(least[p.a], least[p.b]));
  }
}

// All pairs equally similar: all are told, though room is for few.
TEST(GpuWordsOnHost, TiesThatDoNotFitAreToldInPieces) {
  Case c("equal", 140, 30, 1);
  const std::vector<float> least(c.rows.size(), 0.0f);
  Session run(c, {.limit = 300 << 10});
  run.begin(0, 140);
  EXPECT_EQ(run.search().plan().room, kLeastRoom);
  const std::vector<NeardupGpuPair> told = run.probe(0, 140, least.data(), 64);
  EXPECT_EQ(told.size(), 140u * 139 / 2);
  check_told(c, 0, 140, 0, 140, least, told);
  EXPECT_GT(run.search().stats.halvings, 0u);
  EXPECT_EQ(run.search().stats.told, told.size());
  EXPECT_EQ(run.search().stats.pairs, 140u * 139 / 2);
}

// A block that is held in slices: each is loaded again for each probe.
TEST(GpuWordsOnHost, SlicesWithinTheLimit) {
  const Case c("zipf", 300, 120, 3);
  for (const uint64_t limit : {200 << 10, 300 << 10, 450 << 10}) {
    for (const unsigned gpus : {1u, 3u}) {
      Session run(c, {.limit = limit, .gpus = gpus, .way = NEARDUP_GPU_WAY_GROUP});
      run.begin(100, 300);
      EXPECT_GT(run.search().plan().slices, limit < 300 << 10 ? 2u : 1u) << limit;
      const std::vector<float> least(c.rows.size(), 0.0f);
      for (const uint32_t first : {0u, 150u})
        check_told(c, first, first + 150, 100, 300, least, run.probe(first, first + 150, least.data()));
      EXPECT_LE(run.most_held(), limit);
      EXPECT_LE(run.search().stats.device_bytes, limit);
    }
  }
}

// The segments of counters in shared memory: a block of more words than one has.
TEST(GpuWordsOnHost, MoreWordsThanASegmentHas) {
  const uint32_t n = 2 * kSegment + 100;
  WordRows rows;
  rows.width = 5000;
  std::mt19937 random(1);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t f = 0;
    for (int e = 0; e < 3; ++e) {
      rows.features.push_back(f += 1 + random() % 1600);
      rows.values.push_back(static_cast<uint16_t>(1 + random() % 32767));
    }
    rows.end_row();
  }
  Case c("alone", 1, 1, 2);
  c.rows = rows;
  const uint32_t from[] = {0, kSegment - 2, n - 40};
  for (const uint32_t first : from) {
    Session run(c, {.limit = 100 << 20, .way = NEARDUP_GPU_WAY_GROUP});
    run.begin(0, n);
    ASSERT_EQ(run.search().plan().segments(), 3u);
    c.all = fake::word_pairs(c.view(first, first + 4), c.view(0, n));
    const std::vector<float> least(n, 0.0f);
    check_told(c, first, first + 4, 0, n, least, run.probe(first, first + 4, least.data()));
  }
}

TEST(GpuWordsOnHost, ARowLongerThanAnyOfTheBlock) {
  Case c("sparse", 60, 3000, 3);
  // Word 0 gets all features; the block is of the others.
  WordRows rows;
  rows.width = 3000;
  for (uint32_t f = 0; f < 3000; ++f) {
    rows.features.push_back(f);
    rows.values.push_back(static_cast<uint16_t>(1 + f));
  }
  rows.end_row();
  for (uint32_t i = 1; i < 60; ++i) {
    for (uint64_t e = c.rows.begin[i]; e < c.rows.begin[i + 1]; ++e) {
      rows.features.push_back(c.rows.features[e]);
      rows.values.push_back(c.rows.values[e]);
    }
    rows.end_row();
  }
  c.rows = rows;
  c.all = fake::word_pairs(c.view(0, 60), c.view(0, 60));
  Session run(c, {.limit = 1 << 20});
  run.begin(1, 60);
  const std::vector<float> least(60, 0.0f);
  check_told(c, 10, 60, 1, 60, least, run.probe(10, 60, least.data()));
  check_told(c, 0, 10, 1, 60, least, run.probe(0, 10, least.data()));
  EXPECT_GE(run.search().plan().strip_entries, 3000u);
}

TEST(GpuWordsOnHost, DenseFeaturesAreMultiplied) {
  const Case c("zipf", 150, 300, 3);
  const std::vector<float> least(c.rows.size(), 0.0f);
  struct {
    Setting setting;
    uint32_t least_dense, most_dense;
  } const cases[] = {
      {{}, 80, 250},
      {{.way = NEARDUP_GPU_WAY_COMPARE}, 251, 300},
      {{.way = NEARDUP_GPU_WAY_GROUP}, 0, 0},
      {{.multiplies = false}, 0, 0},
  };
  for (const auto& one : cases) {
    Session run(c, one.setting);
    run.begin(0, 150);
    check_told(c, 0, 150, 0, 150, least, run.probe(0, 150, least.data()));
    EXPECT_GE(run.search().stats.dense, one.least_dense);
    EXPECT_LE(run.search().stats.dense, one.most_dense);
    EXPECT_EQ(run.products() != 0, one.most_dense != 0);
  }
}

// Every value there is, as digits: in matrices, times ones, it is itself.
TEST(GpuWordsOnHost, DigitsAreExact) {
  for (uint32_t v = 1; v <= 32767; ++v) {
    const Digits d = to_digits(v);
    ASSERT_EQ(256 * (d.high * kHere) + d.low * kHere, static_cast<int>(v));
    ASSERT_EQ(static_cast<int>(d.high), -static_cast<int>((v + 127) / 256));
    ASSERT_LE(-static_cast<int>(d.high), 128);
    ASSERT_LE(std::abs(static_cast<int>(d.low)), 128);
  }
  // Whatever the order of summation, no partial sum leaves 32 bits.
  EXPECT_LT(uint64_t{128} * 2 * kMaxDense, uint64_t{1} << 31);
}

// The greatest numerator that weights allow.
TEST(GpuWordsOnHost, TheGreatestWeights) {
  Case c("alone", 1, 1, 2);
  c.rows = {};
  c.rows.width = 32769;
  for (uint32_t i = 0; i < 18; ++i) {
    // 32767 * 32767 + 65534 = 2^30 - 1.
    for (uint32_t f = 0; f < 32769; ++f) {
      c.rows.features.push_back(f);
      c.rows.values.push_back(static_cast<uint16_t>(32767 - (i > 15 ? f % 2 : 0)));
    }
    c.rows.end_row();
  }
  ASSERT_EQ(c.rows.weights[0], (1u << 30) - 1);
  c.all = fake::word_pairs(c.view(0, 18), c.view(0, 18));
  const std::vector<float> least(18, 0.0f);
  for (const uint32_t way : {NEARDUP_GPU_WAY_GROUP, NEARDUP_GPU_WAY_COMPARE}) {
    Session run(c, {.way = way});
    run.begin(0, 18);
    const std::vector<NeardupGpuPair> told = run.probe(0, 18, least.data());
    check_told(c, 0, 18, 0, 18, least, told);
    EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const auto& p) { return p.value == (1u << 31) - 2; }));
  }
}

TEST(GpuWordsOnHost, MemoryThatIsNotThere) {
  const Case c("zipf", 200, 150, 3);
  const std::vector<float> least(c.rows.size(), 0.0f);
  uint64_t all = 0;
  {
    Session run(c, {});
    run.begin(0, 200);
    check_told(c, 0, 200, 0, 200, least, run.probe(0, 200, least.data()));
    all = run.most_held();
    EXPECT_LE(all, run.search().plan().bytes);
  }
  unsigned less = 0;
  for (const uint64_t memory : {all, all * 3 / 4, all / 3, all / 10, all / 100}) {
    Session run(c, {.memory = memory});
    try {
      run.begin(0, 200);
      check_told(c, 0, 200, 0, 200, least, run.probe(0, 200, least.data()));
      ++less;
    } catch (const NoMemory&) {
    }
  }
  EXPECT_GE(less, 4u);
  Session tiny(c, {.memory = 50 << 10});
  EXPECT_THROW(tiny.begin(0, 200), NoMemory);
  Session limited(c, {.limit = 20 << 10});
  EXPECT_THROW(limited.begin(0, 200), NoMemory);
}

// A device that is lost at any moment is an error, never missing pairs, and nothing is held afterwards.
TEST(GpuWordsOnHost, ALostDeviceIsAnError) {
  const Case c("zipf", 60, 80, 2);
  const std::vector<float> least(c.rows.size(), 0.0f);
  int finished = 0;
  int lost = 0;
  for (int64_t calls = 0; calls < 600; calls += calls < 100 ? 1 : 13) {
    HostGpu gpu;
    gpu.calls_left = calls;
    try {
      WordSearch<HostGpu> search({&gpu}, NEARDUP_GPU_WAY_AUTO);
      search.limit_strips(9);
      search.begin(c.block(0, 60), 8 << 20);
      search.probe(c.view(0, 60), least.data());
      std::vector<NeardupGpuPair> told;
      NeardupGpuPair some[64];
      for (double done = 0; done < 1;) {
        const uint32_t n = search.step(some, 64, &done);
        told.insert(told.end(), some, some + n);
      }
      check_told(c, 0, 60, 0, 60, least, told);
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

TEST(GpuWordsOnHost, RefusesWrongBlocksAndRows) {
  const auto refused = [](auto change) {
    Case c("zipf", 30, 40, 2);
    NeardupGpuWordBlock block = c.block(10, 30);
    NeardupGpuWordRows rows = c.view(0, 30);
    const std::vector<float> least(30, 0.0f);
    change(c, block, rows);
    HostGpu gpu;
    try {
      WordSearch<HostGpu> search({&gpu}, NEARDUP_GPU_WAY_AUTO);
      search.begin(block, 1 << 30);
      search.probe(rows, least.data());
      NeardupGpuPair some[64];
      for (double done = 0; done < 1;) search.step(some, 64, &done);
      return false;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::invalid_argument) << e.what();
      return true;
    }
  };
  using B = NeardupGpuWordBlock;
  using R = NeardupGpuWordRows;
  EXPECT_FALSE(refused([](Case&, B&, R&) {}));
  EXPECT_FALSE(refused([](Case&, B& b, R&) { b.rows.rows = 0; }));
  EXPECT_FALSE(refused([](Case&, B&, R& r) { r.rows = 0; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.k = 0; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.k = 65536; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.words = 0; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.words = 29; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.features = 0; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.features = 39; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.weights = nullptr; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.rows.begin = nullptr; }));
  EXPECT_TRUE(refused([](Case&, B& b, R&) { b.rows.values = nullptr; }));
  EXPECT_TRUE(refused([](Case& c, B&, R&) { c.rows.weights[3] = 1u << 30; }));
  EXPECT_TRUE(refused([](Case& c, B&, R&) { c.rows.begin[15] += 1000; }));
  EXPECT_TRUE(refused([](Case& c, B&, R&) { c.rows.values.back() = 32768; }));
  EXPECT_TRUE(refused([](Case&, B&, R& r) { r.first = 1; }));
  EXPECT_TRUE(refused([](Case&, B&, R& r) { r.features = nullptr; }));
}

// The engine of the core with the module at its side, as GpuWords brings them together.
class HostTiles final : public WordTiles {
 public:
  HostTiles(unsigned gpus, uint64_t limit, uint32_t strips) : owned_(gpus), limit_(limit) {
    std::vector<HostGpu*> pointers;
    for (HostGpu& gpu : owned_) pointers.push_back(&gpu);
    search_ = std::make_unique<WordSearch<HostGpu>>(pointers, NEARDUP_GPU_WAY_AUTO);
    search_->limit_strips(strips);
  }
  bool begin(const WordMatrix& block, const uint32_t* weights, uint32_t words, uint32_t features, uint32_t k, double,
             Workspace&) override {
    ++blocks;
    search_->begin({word_rows(block), weights, words, features, k}, limit_);
    return true;
  }
  bool probe(const WordMatrix& rows, const float* least, Workspace&, const Found& found) override {
    search_->probe(word_rows(rows), least);
    NeardupGpuPair some[100];
    for (double done = 0; done < 1;) {
      const uint32_t n = search_->step(some, 100, &done);
      for (uint32_t i = 0; i < n; ++i) found(some[i].a, some[i].b, some[i].value);
    }
    return true;
  }
  unsigned blocks = 0;

 private:
  static NeardupGpuWordRows word_rows(const WordMatrix& m) { return {m.begin, m.features, m.values, m.rows, m.first}; }
  std::vector<HostGpu> owned_;
  uint64_t limit_;
  std::unique_ptr<WordSearch<HostGpu>> search_;
};

TEST(GpuWordsOnHost, TheEngineFindsTheSameWords) {
  size_t similar = 0;
  for (const char* shape : reference::kWordShapes) {
    const WordRows rows = reference::make_word_rows(shape, 170, 150, 11);
    for (const uint32_t k : {1u, 7u}) {
      SCOPED_TRACE(std::string(shape) + ", k " + std::to_string(k));
      const reference::SimilarLists alone = reference::find_similar_words(rows, k, 0, nullptr);
      for (const auto& list : alone) similar += list.size();
      HostTiles tiles(2, 1 << 20, 30);
      EXPECT_EQ(reference::find_similar_words(rows, k, 60, &tiles), alone);
      EXPECT_EQ(tiles.blocks, 3u);
    }
  }
  EXPECT_GT(similar, 5000u);
}

// ---------------------------------------------------------------- plans

TEST(GpuWordsPlan, FitsOrIsRefused) {
  std::mt19937_64 random(5);
  unsigned fitted = 0, refused = 0, sliced = 0, without = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto n = static_cast<uint32_t>(1 + random() % (uint64_t{1} << random() % 12));
    std::vector<uint64_t> begin(n + 1);
    const uint64_t length = 1 + random() % 20000;
    for (uint32_t i = 0; i < n; ++i) begin[i + 1] = begin[i] + random() % length;
    NeardupGpuWordBlock block = {};
    block.rows = {begin.data(), nullptr, nullptr, n, 0};
    block.words = n;
    block.features = static_cast<uint32_t>(1 + random() % (uint64_t{1} << random() % 25));
    const auto dense = static_cast<uint32_t>(random() % 3 == 0 ? 0 : random() % 40000);
    const uint64_t limit = uint64_t{1} << (16 + random() % 22);
    const uint64_t row_entries = random() % 2 * length;
    WordPlan plan;
    if (!plan_words(
            block, dense, row_entries, limit, [](uint32_t) { return 1000; }, &plan)) {
      ++refused;
      continue;
    }
    ++fitted;
    sliced += plan.slices > 1;
    without += dense != 0 && plan.dense == 0;
    ASSERT_LE(plan.bytes, limit);
    ASSERT_GE(uint64_t{plan.slices} * plan.slice_columns, n);
    ASSERT_LT(uint64_t{plan.slices - 1} * plan.slice_columns, n);
    ASSERT_LE(plan.dense, dense);
    ASSERT_GE(plan.dense_columns, plan.dense);
    ASSERT_GE(plan.strip_entries, row_entries);
    ASSERT_GE(plan.strip_rows, 1u);
    for (uint32_t s = 0; s < plan.slices; ++s) {
      const uint32_t end = std::min(n, (s + 1) * plan.slice_columns);
      ASSERT_LE(begin[end] - begin[s * plan.slice_columns], plan.slice_entries);
    }
  }
  EXPECT_GT(fitted, 500u);
  EXPECT_GT(refused, 50u);
  EXPECT_GT(sliced, 50u);
  EXPECT_GT(without, 5u);
}

// 100,000 words with 6,000 features each on an H200: all at once.
TEST(GpuWordsPlan, ALargeModelOnALargeDevice) {
  constexpr uint32_t kWords = 100000;
  std::vector<uint64_t> begin(kWords + 1);
  for (uint32_t i = 0; i < kWords; ++i) begin[i + 1] = begin[i] + 6000;
  NeardupGpuWordBlock block = {};
  block.rows = {begin.data(), nullptr, nullptr, kWords, 0};
  block.words = kWords;
  block.features = kWords;
  WordPlan plan;
  ASSERT_TRUE(plan_words(
      block, 36000, 0, uint64_t{130} << 30, [](uint32_t) { return 1 << 20; }, &plan));
  EXPECT_EQ(plan.slices, 1u);
  EXPECT_EQ(plan.strip_rows, kMaxStripRows);
  EXPECT_EQ(plan.dense, 36000u);
  EXPECT_LT(plan.bytes, uint64_t{40} << 30);
  // The same block by position fits on 16 GB, and is cut on 2.
  block.features = 6 * kWords;
  ASSERT_TRUE(plan_words(
      block, 26000, 0, uint64_t{15} << 30, [](uint32_t) { return 1 << 20; }, &plan));
  EXPECT_EQ(plan.dense, 26000u);
  ASSERT_TRUE(plan_words(
      block, 26000, 0, uint64_t{2} << 30, [](uint32_t) { return 1 << 20; }, &plan));
  EXPECT_GT(plan.slices, 1u);
}

TEST(GpuWordsPlan, HalvesAreTheWhole) {
  for (const WordPiece p : {WordPiece{0, 7, 3, 5}, WordPiece{2, 1, 0, 9}, WordPiece{4, 2, 1, 1}}) {
    const auto [one, two] = halves(p);
    std::set<Key> cells;
    for (const WordPiece& h : {one, two})
      for (uint32_t r = h.row; r < h.row + h.rows; ++r)
        for (uint32_t c = h.column; c < h.column + h.columns; ++c) EXPECT_TRUE(cells.emplace(r, c).second);
    EXPECT_EQ(cells.size(), p.rows * p.columns);
    EXPECT_GT(one.rows * one.columns, 0u);
    EXPECT_GT(two.rows * two.columns, 0u);
  }
}

// ---------------------------------------------------------------- numbers

TEST(GpuWordsOnHost, BucketsHoldWhatTheyShould) {
  using Scale = SimilarityScale<6>;
  std::mt19937 random(1);
  float before = 0;
  for (uint32_t b = 1; b < Scale::kBuckets; ++b) {
    const float edge = Scale::lower_edge(b);
    EXPECT_GT(edge, before);
    EXPECT_EQ(Scale::find_bucket(edge), b);
    EXPECT_EQ(Scale::find_bucket(std::nextafterf(edge, 0.0f)), b - 1);
    before = edge;
  }
  EXPECT_EQ(Scale::find_bucket(0.0f), 0u);
  EXPECT_EQ(Scale::find_bucket(1e-30f), 0u);
  EXPECT_EQ(Scale::find_bucket(1.0f), Scale::kBuckets - 1);
  EXPECT_EQ(Scale::find_fine_bucket(1.0f), Scale::kBuckets - 1);
  for (int round = 0; round < 100000; ++round) {
    const float x = static_cast<float>(random() % 1000000 + 20) / 1000019;
    const float y = round % 2 == 0 ? static_cast<float>(random() % 1000000 + 20) / 1000019 : x * 1.0002f;
    const auto place = [](float v) { return std::pair(Scale::find_bucket(v), Scale::find_fine_bucket(v)); };
    EXPECT_FALSE(x < y && place(x) > place(y));
    EXPECT_LE(Scale::lower_edge(place(x).first, place(x).second), x);
    EXPECT_GT(Scale::lower_edge(place(x).first, place(x).second) * 1.0001f, x);
  }
}

// lowered() makes up for the error of pair_similarity().
TEST(GpuWordsOnHost, RoundingLosesNothing) {
  std::mt19937_64 random(2);
  double most = 0;
  for (int round = 0; round < 300000; ++round) {
    const auto a = static_cast<uint32_t>(1 + random() % ((1u << (1 + random() % 30)) - 1));
    const auto b = static_cast<uint32_t>(1 + random() % ((1u << (1 + random() % 30)) - 1));
    const auto n = static_cast<uint32_t>(1 + random() % (uint64_t{a} + b));
    const double exact = double(n) / (double(a) + b);
    const float s = pair_similarity(n, a, b);
    most = std::max(most, std::abs(s - exact) / exact);
    // A bound that equals the similarity, rounded either way.
    EXPECT_GE(s, lowered(static_cast<float>(exact)));
    EXPECT_GE(s, lowered(std::nextafterf(static_cast<float>(exact), 2.0f)));
    EXPECT_LE(s, 1.0f);
  }
  EXPECT_LT(most, std::ldexp(1.0, -22));
  EXPECT_GT(most, std::ldexp(1.0, -25));
  for (const float v : {1.0f, 0.5f, 1e-9f}) EXPECT_LT(double(lowered(v)), double(v) * (1 - std::ldexp(1.0, -21)));
}

}  // namespace
}  // namespace neardup::gpu::host_words_test
