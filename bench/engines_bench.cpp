// All pairs of simhashes and of ctph digests: medians of several runs on generated values, one in ten a near copy of
// another, by threads and kernels.
// Usage: engines_bench [most simhashes]   (default 1000000; 10000000 takes 0.6 GB)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/kernels/kernels.h"
#include "core/pairs/digests/ctph_pairs.h"
#include "core/pairs/simhash/simhash_pairs.h"

namespace {

using namespace neardup;

double median(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void drain(PairSearch& engine) {
  RowPair some[1024];
  while (engine.next(some, 1024) != 0) {
  }
}

void line(const char* what, size_t rows, const std::string& bound, unsigned threads, const char* form, double s,
          const SearchStats& stats) {
  std::printf("%-22s %9zu %6s %8u %8s %9.4f %14llu %12llu %10llu %8zu %s\n", what, rows, bound.c_str(), threads, form,
              s, static_cast<unsigned long long>(stats.looked), static_cast<unsigned long long>(stats.compared),
              static_cast<unsigned long long>(stats.found), stats.peak_bytes >> 20, stats.brute_force ? "all" : "");
}

void simhashes(size_t n, uint32_t most, unsigned threads, const char* form) {
  if (!force_kernels(form)) return;
  std::vector<uint64_t> values(n);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t x = mix64(i + 1);
    values[i] = i % 10 != 9 ? x : values[i - 1] ^ uint64_t { 1 } << (x & 63) ^ uint64_t { 1 } << (x >> 8 & 63);
  }
  SearchStats stats;
  const double s = median(n > 2'000'000 ? 3 : 7, [&] {
    SimhashPairs engine(most, {.threads = threads});
    for (const uint64_t v : values) engine.add(v);
    engine.run();
    drain(engine);
    stats = engine.stats();
  });
  line("simhash", n, "<=" + std::to_string(most), threads, kernels().name, s, stats);
  force_kernels("auto");
}

// Parts of `length` and half of it; versions: that many of each original, a few characters apart.
void digests(const char* what, size_t n, uint32_t length, size_t versions, double threshold, unsigned threads,
             const char* form) {
  if (!force_kernels(form)) return;
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<CtphDigest> all(n);
  for (size_t i = 0; i < n; ++i) {
    if (i % versions != 0) {
      all[i] = all[i - i % versions];
      for (int edit = 0; edit < 4; ++edit) {
        const uint64_t x = mix64(i * 8 + static_cast<uint64_t>(edit));
        all[i].part1[x % all[i].part1.size()] = kAlphabet[x >> 32 & 63];
      }
      continue;
    }
    all[i].exponent = 7;
    all[i].length = std::max(kCtphLength, length);
    for (size_t k = 0; k < length; ++k) all[i].part1 += kAlphabet[mix64(i << 12 | k) & 63];
    for (size_t k = 0; k < length / 2; ++k) all[i].part2 += kAlphabet[mix64(i << 12 | k | 2048) & 63];
  }
  SearchStats stats;
  const double s = median(n > 50'000 ? 1 : 5, [&] {
    CtphPairs engine(threshold, {.threads = threads});
    for (const CtphDigest& d : all) engine.add(digest_view(d));
    engine.run();
    drain(engine);
    stats = engine.stats();
  });
  char bound[16];
  std::snprintf(bound, sizeof bound, ">=%.2f", threshold);
  line(what, n, bound, threads, kernels().name, s, stats);
  force_kernels("auto");
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const size_t most = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 1'000'000;
  std::printf("%-22s %9s %6s %8s %8s %9s %14s %12s %10s %8s\n", "what", "rows", "bound", "threads", "kernels", "s",
              "looked", "compared", "found", "peak MB");
  for (size_t n = 10'000; n <= most; n *= 10) {
    for (const unsigned threads : {1u, 2u}) simhashes(n, 3, threads, "auto");
    if (n <= 1'000'000) simhashes(n, 7, 2, "auto");
    if (n == 100'000) {
      for (const char* form : kKernelForms) simhashes(n, 3, 1, form);
    }
  }
  for (const size_t n : {1'000, 2'000, 5'000, 10'000, 20'000}) digests("digests of 64", n, 64, 10, 0.85, 2, "auto");
  for (const char* form : kKernelForms) digests("digests of 64", 20'000, 64, 10, 0.85, 1, form);
  digests("digests of 64", 20'000, 64, 200, 0.85, 2, "auto");
  digests("digests of 64", 20'000, 64, 10, 0.8, 2, "auto");
  // No filter rules anything out: every pair is compared in full.
  digests("digests of 64", 20'000, 64, 10, 0.6, 2, "auto");
  digests("digests of 64", 100'000, 64, 10, 0.85, 2, "auto");
  for (const size_t n : {1'000, 2'000, 5'000, 10'000, 20'000}) digests("digests of 100", n, 100, 10, 0.85, 2, "auto");
  return 0;
}
