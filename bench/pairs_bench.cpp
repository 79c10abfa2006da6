// All pairs and clusters of realistic signatures: medians of several runs, in one table.
// Usage: pairs_bench [rows ...]   (default 20000 100000; 1000000 takes 0.5 GB and about a minute)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "core/pairs/clusters/cluster.h"
#include "core/pairs/minhash/minhash_pairs.h"

#include "bench/signatures.h"
#include "test/reference/stdio_temp_file.h"

namespace {

using namespace neardup;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(seconds(work));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

constexpr uint32_t kPerm = 128;
constexpr uint32_t kBits = 32;

void pairs_line(const std::vector<unsigned char>& data, uint32_t n, uint32_t need, size_t limit, int runs,
                unsigned threads = 1) {
  reference::StdioTempFiles files;
  SearchStats stats;
  std::vector<double> adding;
  const double total = median(runs, [&] {
    MinhashPairs engine(kPerm, kBits, need,
                        {.memory_limit = limit, .files = limit == SIZE_MAX ? nullptr : &files, .threads = threads});
    adding.push_back(seconds([&] {
      for (uint32_t i = 0; i < n; ++i) engine.add(data.data() + size_t{i} * kPerm * kBits / 8);
    }));
    engine.run();
    std::vector<RowPair> some(4096);
    while (engine.next(some.data(), some.size()) != 0) {
    }
    stats = engine.stats();
  });
  std::sort(adding.begin(), adding.end());
  std::printf("%-12s %8u %5u %8s %8.3f %8.3f %12llu %10llu %10llu %8llu %8zu %s\n",
              threads == 1 ? "pairs" : ("pairs, " + std::to_string(threads)).c_str(), n, need,
              limit == SIZE_MAX ? "-" : std::to_string(limit >> 20).c_str(), total, adding[adding.size() / 2],
              static_cast<unsigned long long>(stats.looked), static_cast<unsigned long long>(stats.compared),
              static_cast<unsigned long long>(stats.found), static_cast<unsigned long long>(stats.spilled_bytes >> 20),
              stats.peak_bytes >> 20, stats.brute_force ? "brute" : "");
}

void cluster_line(const char* name, Linkage linkage, const std::vector<unsigned char>& data, uint32_t n, uint32_t need,
                  size_t limit, int runs, unsigned threads = 1) {
  reference::StdioTempFiles files;
  size_t kept = 0;
  const double total = median(runs, [&] {
    const EngineOptions options{.memory_limit = limit,
                                .files = limit == SIZE_MAX ? nullptr : &files,
                                .threads = threads,
                                .identical = Identical::marked};
    Clusterer clusters(linkage, std::make_unique<MinhashPairs>(kPerm, kBits, need, options));
    for (uint32_t i = 0; i < n; ++i)
      clusters.add_value(MinhashView{nullptr, data.data() + size_t{i} * kPerm * kBits / 8, 0});
    clusters.run();
    kept = 0;
    for (uint32_t i = 0; i < n; ++i) kept += clusters.representative()[i] == i;
  });
  std::printf("%-12s %8u %5u %8s %8.3f   clusters %zu\n", name, n, need,
              limit == SIZE_MAX ? "-" : std::to_string(limit >> 20).c_str(), total, kept);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<uint32_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(static_cast<uint32_t>(std::atol(argv[i])));
  if (sizes.empty()) sizes = {20000, 100000};
  std::printf("%-12s %8s %5s %8s %8s %8s %12s %10s %10s %8s %8s\n", "what", "rows", "need", "limit MB", "s", "adding",
              "looked", "compared", "found", "spill MB", "peak MB");
  for (const uint32_t n : sizes) {
    const std::vector<unsigned char> data = bench::Signatures(n, kPerm, kBits).all();
    const int runs = n > 200000 ? 1 : 5;
    for (const uint32_t need : {103u, 96u, 116u}) pairs_line(data, n, need, SIZE_MAX, runs);
    pairs_line(data, n, 103, SIZE_MAX, runs, 2);
    for (const size_t limit : {size_t{64} << 20, size_t{4} << 20}) {
      // A million rows in 4 MB are hundreds of blocks against each other: minutes.
      if (n <= 200000 || limit >= size_t{64} << 20) pairs_line(data, n, 103, limit, runs);
    }
    cluster_line("anchor", Linkage::anchor, data, n, 103, SIZE_MAX, runs);
    cluster_line("anchor, 2", Linkage::anchor, data, n, 103, SIZE_MAX, runs, 2);
    cluster_line("anchor", Linkage::anchor, data, n, 103, size_t{64} << 20, runs);
    cluster_line("anchor, 2", Linkage::anchor, data, n, 103, size_t{64} << 20, runs, 2);
    cluster_line("connected", Linkage::connected, data, n, 103, SIZE_MAX, runs);
    cluster_line("connected, 2", Linkage::connected, data, n, 103, SIZE_MAX, runs, 2);
    cluster_line("connected", Linkage::connected, data, n, 103, size_t{64} << 20, runs);
  }
  return 0;
}
