// The GPU module beside the CPU engines and older kernels: pairs per second. Needs a GPU; says so where there is none.
//   cmake -S src/gpu -B build-gpu && cmake --build build-gpu --target gpu_bench && build-gpu/gpu_bench
//   gpu_bench [pairs | words [MOST [LEAST]]]     one of the two alone; numbers of words
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/kernels/kernels.h"
#include "core/pairs/digests/ctph_pairs.h"
#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/simhash/simhash_pairs.h"
#include "gpu/base/device.h"
#include "gpu/neardup_gpu.h"

#include "test/gpu/reference_kernels.h"

namespace {

using namespace neardup;

double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const char* what, const char* why) {
  std::fprintf(stderr, "gpu_bench: %s: %s\n", what, why);
  std::exit(1);
}

const NeardupGpuApi* api() {
  static const NeardupGpuApi* table = [] {
    void* module = dlopen(NEARDUP_GPU_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) fail("the module", dlerror());
    return reinterpret_cast<NeardupGpuGetApi>(dlsym(module, NEARDUP_GPU_SYMBOL))();
  }();
  return table;
}

struct Run {
  double start_s, step_s, create_s;
  uint64_t pairs;
};

Run run(const NeardupGpuJob& job, const NeardupGpuOptions& options = {}) {
  char error[NEARDUP_GPU_TEXT] = "";
  NeardupGpuSearch* search = nullptr;
  if (api()->search_create(&options, &search, error, sizeof error) != NEARDUP_GPU_OK) fail("search_create", error);
  if (api()->search_start(search, &job, error, sizeof error) != NEARDUP_GPU_OK) fail("search_start", error);
  std::vector<NeardupGpuPair> some(1 << 16);
  Run out = {};
  for (double done = 0; done < 1;) {
    uint32_t n = 0;
    if (api()->search_step(search, some.data(), 1 << 16, &n, &done, error, sizeof error) != NEARDUP_GPU_OK)
      fail("search_step", error);
    out.pairs += n;
  }
  NeardupGpuStats stats;
  api()->search_stats(search, &stats);
  api()->search_destroy(search);
  out.create_s = stats.create_ms / 1000;
  out.start_s = stats.start_ms / 1000;
  out.step_s = stats.step_ms / 1000;
  return out;
}

uint64_t count(PairSearch& engine) {
  engine.run(nullptr, nullptr);
  uint64_t out = 0;
  RowPair some[4096];
  while (const size_t n = engine.next(some, 4096)) out += n;
  return out;
}

// The most that the devices can do, all of them together.
struct Rates {
  double int_ops = 0;
  double popcounts = 0;
};
Rates rates() {
  Rates out;
  int devices = 0;
  gpu::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  for (int i = 0; i < devices; ++i) {
    int sms = 0;
    int khz = 0;
    int major = 0;
    gpu::check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, i), "cudaDeviceGetAttribute");
    gpu::check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, i), "cudaDeviceGetAttribute");
    gpu::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i), "cudaDeviceGetAttribute");
    // CUDA C++ Programming Guide, arithmetic instructions: 64 integer operations and 16 population counts a clock.
    out.int_ops += 64.0 * sms * khz * 1000;
    out.popcounts += 16.0 * sms * khz * 1000;
  }
  return out;
}

struct Digests {
  std::vector<CtphDigest> digests;
  std::vector<NeardupGpuPart> parts;
  std::vector<uint16_t> most;
  NeardupGpuJob job = {};
};

// Random parts of so many characters of one block size, edit rate at most 0.15.
void make_digests(uint32_t n, uint16_t length, Digests* out) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::mt19937_64 random(n);
  for (uint32_t i = 0; i < n; ++i) {
    CtphDigest d;
    d.exponent = 5;
    d.part1.resize(length);
    for (char& c : d.part1) c = kAlphabet[random() % 64];
    out->digests.push_back(d);
  }
  for (uint32_t i = 0; i < n; ++i) out->parts.push_back({out->digests[i].part1.data(), i, length, 20});
  out->most.push_back(0);
  uint32_t d = 0;
  for (uint32_t sum = 1; sum <= 2 * kCtphMaxPart; ++sum) {
    while (d < sum && ctph_similarity((d + 1) << 16 | sum) >= 0.85) ++d;
    out->most.push_back(static_cast<uint16_t>(d));
  }
  out->job.kind = NEARDUP_GPU_CTPH;
  out->job.count = n;
  out->job.parts = out->parts.data();
  out->job.most_by_sum = out->most.data();
}

void line(const char* what, double pairs, double s, double ceiling) {
  std::printf("  %-44s %10.4f s  %9.3g pairs/s", what, s, pairs / s);
  if (ceiling > 0) std::printf("  %5.1f %% of the integer ceiling", 100 * pairs / s / ceiling);
  std::printf("\n");
}

// study: seconds that the study of 2015 published for so many documents, on its GPU, parts of up to 100 characters.
void digests(uint32_t n, uint16_t length, double study, const Rates& rate) {
  Digests set;
  make_digests(n, length, &set);
  const double pairs = 0.5 * n * (n - 1.0);
  std::printf("%u random digests of %u characters, edit rate at most 0.15\n", n, length);
  if (n <= 20000) {
    for (const char* form : {"scalar", "auto"}) {
      force_kernels(form);
      EngineOptions options;
      options.threads = std::string(form) == "scalar" ? 1 : std::max(1u, std::thread::hardware_concurrency());
      CtphPairs engine(0.85, options);
      for (const CtphDigest& d : set.digests) engine.add(digest_view(d));
      const double began = seconds();
      count(engine);
      const std::string what = std::string("CPU engine, ") + kernels().name + ", " + std::to_string(options.threads) +
                               (options.threads == 1 ? " thread" : " threads");
      line(what.c_str(), pairs, seconds() - began, 0);
    }
    for (const bool shared : {true, false}) {
      double ms = 0;
      older_kernel_pairs(set.job, shared, &ms);
      line(shared ? "table by rows, shared memory" : "table by rows, global memory", pairs, ms / 1000, 0);
    }
  }
  if (study > 0) line("published by the study, on its GPU of 2015", pairs, study, 0);
  if (length > 64) {
    const Run long_parts = run(set.job);
    line("this module", pairs, long_parts.step_s, 0);
    std::printf("  %-44s %10.4f s\n", "  plan and memory", long_parts.start_s);
    return;
  }
  // 5.2 and 18.2 integer operations a character: src/gpu/pairs/README.
  const Run lcs = run(set.job, {0, 0, NEARDUP_GPU_FILTER_LCS, 0});
  line("this module, subsequence first", pairs, lcs.step_s, rate.int_ops / (5.2 * 64));
  std::printf("  %-44s %5.1f %%\n", "  of the ceiling of Myers' algorithm alone",
              100 * pairs / lcs.step_s / (rate.int_ops / (18.2 * 64)));
  const Run symbols = run(set.job, {0, 0, NEARDUP_GPU_FILTER_SYMBOLS, 0});
  line("this module, symbols first", pairs, symbols.step_s, 0);
  std::printf("  %-44s %10.4f s\n", "  plan and memory", symbols.start_s);
}

void simhashes(uint32_t n, uint32_t most, const Rates& rate) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> values(n);
  for (uint64_t& v : values) v = random();
  for (uint32_t i = 1; i < n; i += 10) values[i] = values[i - 1] ^ uint64_t { 1 } << random() % 64;
  NeardupGpuJob job = {};
  job.kind = NEARDUP_GPU_SIMHASH;
  job.count = job.count_a = n;
  job.values = values.data();
  job.most = most;
  const double pairs = 0.5 * n * (n - 1.0);
  std::printf("%u simhashes, distance at most %u\n", n, most);
  EngineOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  SimhashPairs engine(most, options);
  for (const uint64_t v : values) engine.add(v);
  const double began = seconds();
  count(engine);
  line("CPU engine, all threads", pairs, seconds() - began, 0);
  line("this module, by blocks of bits", pairs, run(job, {0, 0, 0, NEARDUP_GPU_WAY_GROUP}).step_s, 0);
  const double all = run(job, {0, 0, 0, NEARDUP_GPU_WAY_COMPARE}).step_s;
  line("this module, all with all", pairs, all, 0);
  std::printf("  %-44s %5.1f %%\n", "  of the ceiling of two population counts",
              100 * pairs / all / (rate.popcounts / 2));
}

void minhashes(uint32_t n, bool cpu) {
  constexpr uint32_t kComponents = 128;
  constexpr uint32_t kNeed = 103;
  std::vector<uint32_t> components(size_t{n} * kComponents);
  std::mt19937_64 random(1);
  for (size_t i = 0; i < components.size(); i += 2) {
    const uint64_t v = random();
    components[i] = static_cast<uint32_t>(v);
    components[i + 1] = static_cast<uint32_t>(v >> 32);
  }
  // Every tenth row is a near copy of the one before.
  for (uint32_t i = 1; i < n; i += 10) {
    uint32_t* row = components.data() + size_t{i} * kComponents;
    std::copy_n(row - kComponents, kComponents, row);
    for (int k = 0; k < 16; ++k) row[random() % kComponents] = static_cast<uint32_t>(random());
  }
  std::vector<const void*> rows(n);
  for (uint32_t i = 0; i < n; ++i) rows[i] = components.data() + size_t{i} * kComponents;
  NeardupGpuJob job = {};
  job.kind = NEARDUP_GPU_MINHASH;
  job.count = job.count_a = n;
  job.rows = rows.data();
  job.num_perm = kComponents;
  job.bits = 32;
  job.need = kNeed;
  const double pairs = 0.5 * n * (n - 1.0);
  std::printf("%u minhashes of 128 components, at least %u equal\n", n, kNeed);
  if (cpu) {
    EngineOptions options;
    options.threads = std::max(1u, std::thread::hardware_concurrency());
    MinhashPairs engine(kComponents, 32, kNeed, options);
    for (const void* row : rows) engine.add(row);
    const double began = seconds();
    count(engine);
    line("CPU engine, all threads", pairs, seconds() - began, 0);
  }
  const Run r = run(job);
  line("this module, with copies to the device", pairs, r.step_s, 0);
  std::printf("  %-44s %10.4f s\n", "  plan, sample and memory", r.start_s);
}

// ---------------------------------------------------------------- words

struct WordRows {
  std::vector<uint64_t> begin;
  std::vector<uint32_t> features;
  std::vector<uint16_t> values;
  std::vector<uint32_t> weights;
  uint32_t width = 0;
};

// n words with about 6,000 features each. Context word number r of 100,000 is a feature of a share of 1, or s / r, of
// the words; by position it is six features. Words are of 200 topics, each of which likes its own quarter of the
// context words, so that there are similar ones.
WordRows make_words(uint32_t n, bool by_position) {
  constexpr uint32_t kContext = 100000;
  constexpr uint32_t kTopics = 200;
  const uint32_t each = by_position ? 6 : 1;
  // each * s * (1 + ln(kContext / s)) = 6700, of which the topics leave 6000.
  double s = 1000;
  for (int i = 0; i < 50; ++i) s = 6700.0 / each / (1 + std::log(kContext / s));
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<WordRows> parts(threads);
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      WordRows& out = parts[t];
      for (uint64_t i = uint64_t{n} * t / threads; i < uint64_t{n} * (t + 1) / threads; ++i) {
        std::mt19937_64 random(i + 1);
        const uint64_t topic = random() % kTopics;
        uint32_t weight = 0;
        const size_t first = out.features.size();
        const auto add = [&](uint32_t feature, double rank) {
          const auto value =
              static_cast<uint16_t>(1 + random() % static_cast<uint64_t>(400 + 600 * std::log(1 + rank)));
          out.features.push_back(feature);
          out.values.push_back(value);
          weight += value;
        };
        // Twice as many as there will be; of those that the topic does not like one in three stays.
        const auto wanted = [&](uint64_t r) {
          const bool liked = (r * kTopics + topic) * 0x9e3779b97f4a7c15u >> 62 == 0;
          return liked || random() % 3 == 0;
        };
        for (uint64_t r = 1; r <= static_cast<uint64_t>(s); ++r)
          for (uint32_t p = 0; p < each; ++p)
            if (random() % 10 != 0) add(static_cast<uint32_t>((r - 1) * each + p), static_cast<double>(r));
        const double end = each * kContext;
        double at = each * s;
        for (;;) {
          const double u = (static_cast<double>(random() >> 11) + 1) / 9007199254740993.0;
          at *= std::exp(-std::log(u) / (2 * s * each));
          if (at >= end) break;
          const auto f = static_cast<uint32_t>(at);
          if ((out.features.size() > first && out.features.back() >= f) || !wanted(f / each)) continue;
          add(f, at / each);
        }
        out.begin.push_back(out.features.size() - first);
        out.weights.push_back(weight);
      }
    });
  }
  for (std::thread& r : running) r.join();
  WordRows out;
  out.width = each * kContext;
  out.begin.push_back(0);
  size_t entries = 0;
  for (const WordRows& p : parts) entries += p.features.size();
  out.features.reserve(entries);
  out.values.reserve(entries);
  for (WordRows& p : parts) {
    for (const uint64_t size : p.begin) out.begin.push_back(out.begin.back() + size);
    out.features.insert(out.features.end(), p.features.begin(), p.features.end());
    out.values.insert(out.values.end(), p.values.begin(), p.values.end());
    out.weights.insert(out.weights.end(), p.weights.begin(), p.weights.end());
    p = {};
  }
  return out;
}

// The k best of each word are kept on the host, as an engine does, and bound what later probes need to tell.
void compare_words(const WordRows& rows, uint32_t k, uint32_t way, const char* what) {
  constexpr uint32_t kProbe = 8192;
  const auto n = static_cast<uint32_t>(rows.weights.size());
  char error[NEARDUP_GPU_TEXT] = "";
  NeardupGpuWords* words = nullptr;
  const NeardupGpuOptions options = {0, 0, 0, way};
  if (api()->words_create(&options, &words, error, sizeof error) != NEARDUP_GPU_OK) fail("words_create", error);
  const double began = seconds();
  const NeardupGpuWordRows all = {rows.begin.data(), rows.features.data(), rows.values.data(), n, 0};
  const NeardupGpuWordBlock block = {all, rows.weights.data(), n, rows.width, k};
  if (api()->words_begin(words, &block, error, sizeof error) != NEARDUP_GPU_OK) fail("words_begin", error);
  std::vector<float> best(size_t{n} * k);
  std::vector<float> least(n);
  std::vector<NeardupGpuPair> some(1 << 16);
  for (uint32_t first = 0; first < n; first += kProbe) {
    const NeardupGpuWordRows some_rows = {rows.begin.data() + first, rows.features.data(), rows.values.data(),
                                          std::min(kProbe, n - first), first};
    for (uint32_t w = 0; w < n; ++w) least[w] = best[size_t{w} * k];
    if (api()->words_probe(words, &some_rows, least.data(), error, sizeof error) != NEARDUP_GPU_OK)
      fail("words_probe", error);
    for (double done = 0; done < 1;) {
      uint32_t count = 0;
      if (api()->words_step(words, some.data(), 1 << 16, &count, &done, error, sizeof error) != NEARDUP_GPU_OK)
        fail("words_step", error);
      for (uint32_t i = 0; i < count; ++i) {
        const float s =
            static_cast<float>(some[i].value) / static_cast<float>(rows.weights[some[i].a] + rows.weights[some[i].b]);
        for (const uint32_t w : {some[i].a, some[i].b}) {
          float* const heap = best.data() + size_t{w} * k;
          if (s <= heap[0]) continue;
          std::pop_heap(heap, heap + k, std::greater<>());
          heap[k - 1] = s;
          std::push_heap(heap, heap + k, std::greater<>());
        }
      }
    }
  }
  const double took = seconds() - began;
  NeardupGpuWordStats stats;
  api()->words_stats(words, &stats);
  api()->words_destroy(words);
  line(what, static_cast<double>(stats.pairs), took, 0);
  std::printf("  %-44s %10.4f s loading the block, %.4f s probing, the rest keeping the best on the host\n", "",
              stats.begin_ms / 1000, stats.step_ms / 1000);
  std::printf(
      "  %-44s %10.4f s making contexts, %u dense features, %u slices, %u halvings, %.1f pairs told a word, %.2f GB\n",
      "", stats.create_ms / 1000, stats.dense, stats.slices, stats.halvings, static_cast<double>(stats.told) / n,
      static_cast<double>(stats.device_bytes) / 1e9);
}

// study: seconds that the study of 2015 published for so many words with about 6,000 co-occurring ones each.
void words(uint32_t n, bool by_position, double study) {
  const double began = seconds();
  const WordRows rows = make_words(n, by_position);
  std::printf("%u words, %.0f features each of %u%s, 50 most similar of each (made in %.1f s)\n", n,
              static_cast<double>(rows.features.size()) / n, rows.width, by_position ? ", by position" : "",
              seconds() - began);
  const double pairs = 0.5 * n * (n - 1.0);
  compare_words(rows, 50, NEARDUP_GPU_WAY_AUTO, "this module");
  if (n <= 20000) compare_words(rows, 50, NEARDUP_GPU_WAY_GROUP, "this module, lists alone");
  if (n <= 10000 || (n <= 20000 && !by_position)) {
    const NeardupGpuWordRows all = {rows.begin.data(), rows.features.data(), rows.values.data(), n, 0};
    for (const bool compressed : {false, true}) {
      if (by_position && !compressed) continue;
      double ms = 0;
      older_word_numerators(all, rows.width, compressed, nullptr, nullptr, &ms);
      line(compressed ? "the study's compressed rows, kernels alone" : "the study's reduced columns, kernels alone",
           pairs, ms / 1000, 0);
    }
  }
  if (study > 0) line("published by the study, on its GPU of 2015", pairs, study, 0);
}

}  // namespace

// Arguments: "words" for those alone, "pairs" for all else; then the most words (100000).
int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const unsigned long most_words = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100000;
  const unsigned long least_words = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  char error[NEARDUP_GPU_TEXT] = "";
  uint32_t devices = 0;
  if (api()->device_count(&devices, error, sizeof error) != NEARDUP_GPU_OK) fail("no measurement", error);
  for (uint32_t i = 0; i < devices; ++i) {
    NeardupGpuDevice info;
    if (api()->device_info(i, &info, error, sizeof error) == NEARDUP_GPU_OK) std::printf("GPU %u: %s\n", i, info.name);
  }
  if (only != "pairs") {
    constexpr struct {
      uint32_t n;
      double study;
    } kSizes[] = {{5000, 3.1}, {10000, 15.8}, {20000, 69.0}, {50000, 200.7}, {100000, 322.6}};
    for (const bool by_position : {false, true})
      for (const auto& size : kSizes)
        if (size.n <= most_words && size.n >= least_words) words(size.n, by_position, by_position ? 0 : size.study);
  }
  if (only == "words") return 0;
  // A first search makes the contexts; the others find them.
  Digests few;
  make_digests(100, 64, &few);
  std::printf("making contexts: %.3f s\n", run(few.job).create_s);
  const Rates rate = rates();
  std::printf("at most %.3g integer operations/s, %.3g population counts/s\n", rate.int_ops, rate.popcounts);
  constexpr struct {
    uint32_t n;
    double study;
  } kDocuments[] = {{1000, 1.10}, {2000, 3.8}, {5000, 23.7}, {10000, 92.7}, {20000, 360.4}};
  for (const auto& size : kDocuments) digests(size.n, 100, size.study, rate);
  for (const uint32_t n : {1000u, 5000u, 20000u, 200000u, 1000000u}) digests(n, 64, 0, rate);
  simhashes(1000000, 3, rate);
  simhashes(1000000, 11, rate);
  minhashes(1000000, true);
  minhashes(10000000, false);
  return 0;
}
