// Error of the Jaccard estimate at 128 components against its goals: root mean square and bias.
// The sets come from a fixed generator, so a run gives the same figures everywhere. The numbers of pairs make the
// standard error of each factor 1 % or less (1 / sqrt(2 N)), below the distance between expected value and goal.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <gtest/gtest.h>
#include <vector>

#include "core/base/hash.h"
#include "core/signature/minhash.h"

namespace neardup::accuracy_test {
namespace {

constexpr uint32_t kNumPerm = 128;
constexpr int kSeeds = 32;

std::vector<uint32_t> sketch(const std::vector<uint64_t>& elements, uint64_t seed) {
  DocumentSketch s(kNumPerm, seed);
  s.add(elements.data(), elements.size());
  std::vector<uint32_t> components(kNumPerm);
  s.finish(components.data());
  return components;
}

struct Case {
  uint32_t size;    // |A| = |B|
  uint32_t shared;  // |A and B|
  int pairs;
  double goal;  // RMSE / sqrt(J (1 - J) / L)
};

// At 2 elements chance is as coarse as 1/3; the goal for up to 50 elements is met there too.
constexpr Case kCases[] = {
    {2, 1, 12800, 0.75},      {10, 3, 12800, 0.75},     {10, 7, 12800, 0.75},     {50, 17, 12800, 0.75},
    {50, 33, 12800, 0.75},    {50, 47, 12800, 0.75},    {200, 67, 25600, 0.85},   {200, 133, 12800, 0.85},
    {200, 189, 12800, 0.85},  {1000, 333, 6400, 1.03},  {1000, 667, 6400, 1.03},  {1000, 947, 6400, 1.03},
    {5000, 1667, 9600, 1.03}, {5000, 3333, 9600, 1.03}, {5000, 4737, 9600, 1.03},
};

class Accuracy : public testing::TestWithParam<Case> {};

TEST_P(Accuracy, WithinGoalAndUnbiased) {
  const Case c = GetParam();
  const double jaccard = static_cast<double>(c.shared) / (2 * c.size - c.shared);
  double sum = 0, squares = 0;
  std::vector<uint64_t> a(c.size), b(c.size);
  for (int pair = 0; pair < c.pairs; ++pair) {
    // Every other pair holds consecutive integers, as ids do, instead of hashes.
    const uint64_t base =
        mix64((uint64_t{c.size} << 40) + (uint64_t{c.shared} << 24) + static_cast<uint64_t>(pair) + 1);
    const auto element = [&](uint64_t i) { return pair % 2 == 0 ? mix64(base + i) : (base >> 8) + i; };
    for (uint32_t i = 0; i < c.size; ++i) {
      a[i] = element(i);
      b[i] = element(i + c.size - c.shared);
    }
    const uint64_t seed = static_cast<uint64_t>(pair / 2 % kSeeds) - kSeeds / 2;
    const std::vector<uint32_t> sa = sketch(a, seed), sb = sketch(b, seed);
    const double error = estimate_jaccard(count_matches(sa.data(), sb.data(), kNumPerm, 32), kNumPerm, 32) - jaccard;
    sum += error;
    squares += error * error;
  }
  const double rmse = std::sqrt(squares / c.pairs);
  const double bias = sum / c.pairs;
  const double standard_error = rmse / std::sqrt(c.pairs);
  const double factor = rmse / std::sqrt(jaccard * (1 - jaccard) / kNumPerm);
  std::printf("%5u elements, J = %.3f: factor %.3f (goal %.2f), bias %+.1f standard errors\n", c.size, jaccard, factor,
              c.goal, bias / standard_error);
  EXPECT_LE(factor, c.goal);
  EXPECT_LE(std::abs(bias), 3 * standard_error);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Accuracy, testing::ValuesIn(kCases), [](const auto& info) {
  return std::to_string(info.param.size) + "_" + std::to_string(info.param.shared);
});

}  // namespace
}  // namespace neardup::accuracy_test
