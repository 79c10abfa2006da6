// Signatures of weighted sets: time of ours and of three samplers of the literature, and their errors. One thread,
// medians of 5; cosine_similarity() of vectors. Usage: weighted_bench
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include "core/exact/cosine.h"
#include "core/signature/weighted_minhash.h"

#include "reference/weighted_reference.h"

namespace {

using namespace neardup;

uint64_t g_sink;

double median_seconds(int times, const std::function<void()>& work) {
  std::vector<double> t;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int j = 0; j < times; ++j) work();
    t.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times);
  }
  std::sort(t.begin(), t.end());
  return t[2];
}

// Log-normal weights.
reference::RealSet some_set(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  reference::RealSet set;
  for (size_t i = 0; i < n; ++i) set.emplace_back(random(), static_cast<float>(std::exp(normal(random))));
  return set;
}

std::vector<uint64_t> ours(const reference::RealSet& set, uint32_t num_perm) {
  std::vector<WeightedElement> elements;
  for (const auto& [x, w] : set) elements.push_back({x, weight_units(w)});
  std::vector<uint32_t> c(num_perm);
  sign_weighted(num_perm, 0, &elements, nullptr, c.data());
  return {c.begin(), c.end()};
}

using Sampler = std::function<std::vector<uint64_t>(const reference::RealSet&, uint32_t)>;

void times() {
  const std::pair<const char*, Sampler> samplers[] = {{"ours", ours},
                                                      {"ICWS", reference::icws},
                                                      {"BagMinHash", reference::bag_minhash},
                                                      {"ProbMinHash", reference::prob_minhash}};
  std::printf("microseconds a set\n%-12s %10s", "features", "num_perm");
  for (const auto& s : samplers) std::printf(" %12s", s.first);
  std::printf("\n");
  for (const uint32_t num_perm : {128u, 256u}) {
    for (const size_t n : {10u, 100u, 1000u, 10000u}) {
      const reference::RealSet set = some_set(n, n);
      std::printf("%-12zu %10u", n, num_perm);
      for (const auto& s : samplers) {
        const int rounds = static_cast<int>(std::max<size_t>(1, 2000 / n));
        std::printf(" %12.1f", 1e6 * median_seconds(rounds, [&] { g_sink += s.second(set, num_perm)[0]; }));
      }
      std::printf("\n");
    }
  }
}

// Sets of 100 features; the second has half of them with other weights, and `scale` times the total.
void errors(double scale) {
  const std::pair<const char*, Sampler> samplers[] = {{"ours", ours},
                                                      {"ICWS", reference::icws},
                                                      {"BagMinHash", reference::bag_minhash},
                                                      {"ProbMinHash", reference::prob_minhash}};
  std::printf("\n200 pairs, num_perm 128, second set x %g: mean error, and its root mean square / sqrt(J(1-J)/128)\n",
              scale);
  for (const auto& s : samplers) {
    double bias = 0, square = 0;
    constexpr int kPairs = 200;
    for (int p = 0; p < kPairs; ++p) {
      const reference::RealSet a = some_set(100, 1000 + p), other = some_set(100, 9000 + p);
      reference::RealSet b = a;
      double least = 0, most = 0;
      for (size_t i = 0; i < b.size(); ++i) {
        if (i % 2 == 1) b[i].second = other[i].second;
        b[i].second = static_cast<float>(b[i].second * scale);
        least += std::min(a[i].second, b[i].second);
        most += std::max(a[i].second, b[i].second);
      }
      const auto x = s.second(a, 128), y = s.second(b, 128);
      double m = 0;
      for (size_t i = 0; i < 128; ++i) m += x[i] == y[i];
      const double j = least / most;
      bias += m / 128 - j;
      square += (m / 128 - j) * (m / 128 - j) / (j * (1 - j) / 128);
    }
    std::printf("%-12s %8.4f %8.3f\n", s.first, bias / kPairs, std::sqrt(square / kPairs));
  }
}

void cosines() {
  std::printf("\ncosine_of(), ns\n");
  for (const size_t n : {100u, 384u, 1536u, 16384u}) {
    std::vector<double> a(n), b(n);
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (size_t i = 0; i < n; ++i) {
      a[i] = normal(random);
      b[i] = normal(random);
    }
    double sum = 0;
    std::printf("%-12zu %10.0f\n", n,
                1e9 * median_seconds(2000, [&] { sum += *cosine_similarity(a.data(), b.data(), n, nullptr); }));
    g_sink += sum > 0;
  }
}

}  // namespace

int main() {
  times();
  errors(1);
  errors(3);
  cosines();
  return g_sink == 42;
}
