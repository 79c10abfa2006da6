// All pairs by the slow, obvious versions of test/reference, one core, scalar: what the engines are measured against
// (engines_bench, pairs_bench, all_pairs_bench.sh). Beyond the given number of pairs the time is that of a sample,
// scaled. Usage: reference_bench [most pairs compared]   (default 2000000)
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/base/hash.h"

#include "bench/signatures.h"
#include "test/reference/edit_reference.h"

namespace {

using namespace neardup;

volatile uint64_t sink;

// pair(i, j): anything that depends on comparing rows i and j.
void line(const char* what, uint32_t n, uint64_t most, const std::function<uint64_t(uint32_t, uint32_t)>& pair) {
  const uint64_t all = uint64_t{n} * (n - 1) / 2;
  uint64_t done = 0;
  uint64_t sum = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < n && done < most; ++i) {
    for (uint32_t j = i + 1; j < n && done < most; ++j, ++done) sum += pair(i, j);
  }
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  sink = sum;
  std::printf("%-30s %8u %12.3f %10.1f %s\n", what, n, s * static_cast<double>(all) / static_cast<double>(done),
              s / static_cast<double>(done) * 1e9, done < all ? "scaled" : "");
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t most = argc > 1 ? static_cast<uint64_t>(std::atoll(argv[1])) : 2'000'000;
  std::printf("%-30s %8s %12s %10s\n", "what", "rows", "s", "ns a pair");
  for (const uint32_t n : {1'000u, 2'000u, 5'000u, 10'000u, 20'000u}) {
    std::vector<uint32_t> rows(size_t{n} * 128);
    const bench::Signatures signatures(n, 128, 32);
    for (uint32_t i = 0; i < n; ++i) signatures.row(i, &rows[size_t{i} * 128]);
    line("minhash 128x32", n, most * 100, [&](uint32_t i, uint32_t j) {
      uint64_t equal = 0;
      for (size_t c = 0; c < 128; ++c) equal += rows[size_t{i} * 128 + c] == rows[size_t{j} * 128 + c];
      return equal;
    });
    line("simhash", n, most * 100, [&](uint32_t i, uint32_t j) {
      uint64_t bits = 0;
      for (uint64_t x = mix64(i + 1) ^ mix64(j + 1); x != 0; x &= x - 1) ++bits;
      return bits;
    });
    for (const uint32_t length : {64u, 100u}) {
      std::vector<reference::Symbols> parts(n);
      for (uint32_t i = 0; i < n; ++i)
        for (uint32_t k = 0; k < length; ++k) parts[i].push_back(mix64(uint64_t{i} << 12 | k) & 63);
      line(("digests of " + std::to_string(length) + ", dynamic programming").c_str(), n, most,
           [&](uint32_t i, uint32_t j) { return reference::edit_distance(parts[i], parts[j]); });
    }
  }
  return 0;
}
