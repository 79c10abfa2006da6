// SimHash: the literature's example, ties, exact sums in any order and partition, counts against one bit at a time,
// frozen values, the estimate of angles, text forms.
#include "core/signature/simhash.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/base/error.h"
#include "core/exact/shingle_set.h"
#include "core/exact/weights.h"
#include "core/signature/sign.h"

#include "test/unit/support.h"

namespace neardup::simhash_test {
namespace {

using test::Random;

std::optional<uint64_t> weighted(const std::vector<std::pair<uint64_t, double>>& features) {
  SimhashSums sums;
  for (const auto& [signs, weight] : features) sums.add(signs, weight);
  return sums.result();
}

std::optional<uint64_t> simhash_text(std::string_view text, int k = 3, Unit unit = Unit::word) {
  return simhash_document(unit, k, reinterpret_cast<const uint8_t*>(text.data()), text.size(), nullptr);
}

// One counter a bit.
std::optional<uint64_t> plain(const std::vector<uint64_t>& signs) {
  if (signs.empty()) return std::nullopt;
  uint64_t bits = 0;
  for (int i = 0; i < 64; ++i) {
    int64_t sum = 0;
    for (const uint64_t s : signs) sum += (s >> i & 1) != 0 ? 1 : -1;
    if (sum > 0) bits |= uint64_t{1} << i;
  }
  return bits;
}

TEST(Simhash, ExampleOfTheLiterature) {
  // Hash bits 1010 with weight 3 make [3, -3, 3, -3]; with the second word, 1110 of weight 2, [5, -1, 5, -5].
  EXPECT_EQ(*weighted({{0b1010, 3}, {0b1110, 2}}) & 15, 0b1010u);
}

TEST(Simhash, ATieGivesZero) {
  EXPECT_EQ(*weighted({{0b01, 2}, {0b10, 2}}) & 3, 0u);
  EXPECT_EQ(*weighted({{0b01, 0.1}, {0b01, 0.2}, {0b10, 0.3}}) & 3, 0b01u)
      << "0.1 + 0.2 exceeds 0.3 as float8 has them";
  EXPECT_EQ(*weighted({{0b01, 0.25}, {0b01, 0.5}, {0b10, 0.75}}) & 3, 0u);
  SimhashCounts counts;
  const uint64_t signs[] = {0b01, 0b10};
  counts.add(signs, 2);
  EXPECT_EQ(*counts.result() & 3, 0u);
}

TEST(Simhash, NoFeatureNoValue) {
  EXPECT_FALSE(weighted({}));
  EXPECT_FALSE(weighted({{5, 0.0}, {7, -0.0}, {9, 1e-30}}));
  EXPECT_FALSE(SimhashCounts().result());
  for (const char* text : {"", "...", " \n\t "}) EXPECT_FALSE(simhash_text(text)) << text;
  const float zeros[3] = {0, -0.0f, 0};
  EXPECT_FALSE(simhash_vector(zeros, 3, nullptr));
}

// Sums of more than 64 bits: weights are kept as multiples of 2^-60.
TEST(Simhash, WeightsThatCarry) {
  EXPECT_EQ(*weighted({{0b01, 10}, {0b01, 10}, {0b10, 15}}) & 3, 0b01u);
  SimhashSums sums, more;
  sums.add(0b01, 10);
  sums.add(0b10, 15);
  more.add(0b01, 10);
  sums.merge(more);
  EXPECT_EQ(*sums.result() & 3, 0b01u);
}

TEST(Simhash, WeightsOutOfRange) {
  SimhashSums sums;
  for (const double bad : {-1.0, -1e-300, std::nextafter(kMaxWeight, 1e300), HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    try {
      sums.add(1, bad, 7);
      FAIL() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("weight 7"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("1099511627776"), std::string::npos) << e.what();
    }
  }
  EXPECT_FALSE(sums.result()) << "a refused weight is not counted";
  sums.add(1, kMaxWeight);
  EXPECT_EQ(sums.result(), 1u);
  for (int i = 0; i < 28; ++i) {
    SimhashSums copy = sums;
    if (i < 27)
      sums.merge(copy);  // 2^(40 + 1 + i)
    else
      EXPECT_THROW(sums.merge(copy), Error);
  }
  EXPECT_EQ(sums.result(), 1u) << "the sum before";
}

TEST(Simhash, SumsDoNotDependOnOrderOrPartition) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<uint64_t, double>> features(1 + random() % 60);
    for (auto& [signs, weight] : features) {
      signs = random();
      weight = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 80) - 93);
    }
    const auto want = weighted(features);
    std::shuffle(features.begin(), features.end(), random);
    EXPECT_EQ(weighted(features), want);
    SimhashSums parts[3];
    for (const auto& [signs, weight] : features) parts[random() % 3].add(signs, weight);
    parts[1].merge(parts[2]);
    parts[0].merge(parts[1]);
    EXPECT_EQ(parts[0].result(), want);
  }
}

TEST(Simhash, CountsAgreeWithOneBitAtATime) {
  Random random(2);
  for (const size_t n : {1, 2, 7, 8, 9, 63, 64, 65, 1000, 65534, 65535, 65536, 65537, 131077}) {
    std::vector<uint64_t> signs(n);
    const uint64_t often = random();
    for (uint64_t& s : signs) s = n > 60000 && random() % 3 != 0 ? often : random() & random();
    SimhashCounts counts;
    for (size_t at = 0; at < n;) {
      const size_t some = std::min<size_t>(n - at, random() % 4000);
      counts.add(signs.data() + at, some);
      at += some;
    }
    EXPECT_EQ(counts.result(), plain(signs)) << n;
    if (n > 2000) continue;
    SimhashSums sums;
    for (const uint64_t s : signs) sums.add(s, 1);
    EXPECT_EQ(sums.result(), plain(signs)) << n;
  }
  std::vector<uint64_t> all(200000, ~uint64_t{0});
  SimhashCounts counts;
  counts.add(all.data(), all.size());
  EXPECT_EQ(counts.result(), ~uint64_t{0});
}

TEST(Simhash, DocumentsWeighShinglesByHowOftenTheyOccur) {
  const std::string text = "one two three four one two three five one two three";
  for (const int k : {1, 3, 5}) {
    std::vector<uint64_t> signs;
    ShingleStream stream(Unit::word, k, reinterpret_cast<const uint8_t*>(text.data()), text.size());
    uint64_t batch[ShingleStream::kMaxBatch];
    while (const size_t n = stream.next(batch))
      for (size_t i = 0; i < n; ++i) signs.push_back(simhash_signs(batch[i]));
    EXPECT_EQ(simhash_text(text, k), plain(signs)) << k;
  }
  EXPECT_THROW(simhash_text(text, 0), Error);
  EXPECT_THROW(simhash_text(text, 65), Error);
}

TEST(Simhash, CountedBesideDistinctShingles) {
  std::string repeats = "one two three four five six ";
  for (int i = 0; i < 3; ++i) repeats += repeats;
  std::string many;
  for (int i = 0; i < 100000; ++i) many += std::to_string(i % 70000) + " ";
  for (const std::string& text : {std::string(), std::string("..."), std::string("one"), repeats, many}) {
    for (const Unit unit : {Unit::word, Unit::character}) {
      SimhashCounts counts;
      const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
      const auto with = distinct_shingles(unit, 3, bytes, text.size(), nullptr,
                                          [&](uint64_t* hashes, size_t n) { counts.add_shingles(hashes, n); });
      EXPECT_EQ(with, distinct_shingles(unit, 3, bytes, text.size(), nullptr));
      EXPECT_EQ(counts.result(), simhash_text(text, 3, unit));
    }
  }
}

TEST(Simhash, FrozenValues) {
  EXPECT_EQ(simhash_to_text(*simhash_text("the quick brown fox jumps over the lazy dog")), "5759a05777f35cc1");
  EXPECT_EQ(simhash_to_text(*simhash_text("the quick brown fox jumps over the lazy dog", 5, Unit::character)),
            "32df675543182daa");
  EXPECT_EQ(simhash_to_text(*simhash_text("one")), "a080c32ba10f2069");
  const float v[] = {1, -2, 0.5f, 1e-20f, 3e30f};
  EXPECT_EQ(simhash_to_text(*simhash_vector(v, 5, nullptr)), "ee8127a6c9797b1c");
  const float e[] = {0, 1};
  EXPECT_EQ(simhash_to_text(*simhash_vector(e, 2, nullptr)), "83272719754cdcf8");
}

// A vector that lies in a plane is on no side of it: 0, as where signs are even. Of two equal components one plane in
// twenty is met.
TEST(Simhash, VectorsInAPlane) {
  int ties = 0;
  for (size_t second = 1; second < 200; ++second) {
    std::vector<float> v(second + 1, 0.0f);
    v[0] = v[second] = 1;
    const uint64_t value = *simhash_vector(v.data(), v.size(), nullptr);
    for (uint32_t plane = 0; plane < kSimhashBits; ++plane) {
      const int sum = hyperplane(plane, 0) + hyperplane(plane, second);
      ties += sum == 0;
      EXPECT_EQ(value >> plane & 1, sum > 0 ? 1u : 0u) << second << ' ' << plane;
    }
  }
  EXPECT_GT(ties, 100);
}

TEST(Simhash, HyperplanesAreNearNormal) {
  double sum = 0, squares = 0, fourths = 0;
  constexpr int n = 4000;
  for (uint32_t plane = 0; plane < 64; ++plane)
    for (uint64_t at = 0; at < n; ++at) {
      const double r = hyperplane(plane, at);
      ASSERT_TRUE(std::fabs(r) <= 65 && static_cast<int>(r) % 2 != 0);
      sum += r;
      squares += r * r;
      fourths += r * r * r * r;
    }
  const double variance = squares / (64 * n);
  EXPECT_NEAR(sum / (64 * n), 0, 5 * std::sqrt(variance / (64 * n)));
  EXPECT_NEAR(variance, 4 * 16 + 1, 1);
  EXPECT_NEAR(fourths / (64 * n) / variance / variance, 3, 0.1);
}

// The mean distance of vectors at an angle; its standard error is known.
TEST(Simhash, DistancesEstimateAngles) {
  Random random(3);
  std::normal_distribution<double> normal;
  for (const int n : {2, 3, 16, 384})
    for (const double angle : {0.05, 0.3, 1.0, std::numbers::pi / 2, 2.5}) {
      constexpr int kPairs = 1500;
      double total = 0;
      for (int pair = 0; pair < kPairs; ++pair) {
        // a and an orthogonal b, both of length 1, turned by the angle.
        std::vector<double> a(n), b(n);
        for (double& x : a) x = normal(random);
        for (double& x : b) x = normal(random);
        const auto scale = [](std::vector<double>& v) {
          const double length = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
          for (double& x : v) x /= length;
        };
        scale(a);
        const double dot = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
        for (int i = 0; i < n; ++i) b[i] -= dot * a[i];
        scale(b);
        std::vector<float> p(n), q(n);
        for (int i = 0; i < n; ++i) {
          p[i] = static_cast<float>(a[i]);
          q[i] = static_cast<float>(std::cos(angle) * a[i] + std::sin(angle) * b[i]);
        }
        total += hamming_distance(*simhash_vector(p.data(), p.size(), nullptr),
                                  *simhash_vector(q.data(), q.size(), nullptr));
      }
      const double share = angle / std::numbers::pi;
      EXPECT_NEAR(total / kPairs / 64, share, 6 * std::sqrt(share * (1 - share) / kPairs / 64) + 0.004)
          << n << " " << angle;
    }
}

TEST(Simhash, CosineOfDistances) {
  EXPECT_EQ(simhash_cosine(0), 1);
  EXPECT_EQ(simhash_cosine(32), 0);
  EXPECT_EQ(simhash_cosine(64), -1);
  for (int h = 0; h <= 64; ++h) {
    EXPECT_NEAR(simhash_cosine(h), std::cos(std::numbers::pi * h / 64), 1e-15) << h;
    EXPECT_EQ(simhash_cosine(h), -simhash_cosine(64 - h)) << h;
    if (h > 0) {
      EXPECT_LT(simhash_cosine(h), simhash_cosine(h - 1));
    }
  }
}

TEST(Simhash, VectorErrors) {
  EXPECT_THROW(simhash_vector(nullptr, 0, nullptr), Error);
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    const float v[] = {1, bad};
    try {
      simhash_vector(v, 2, nullptr);
      FAIL();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("component 2"), std::string::npos) << e.what();
    }
  }
}

TEST(Simhash, Text) {
  EXPECT_EQ(simhash_to_text(0), "0000000000000000");
  EXPECT_EQ(simhash_to_text(0x0123456789abcdefULL), "0123456789abcdef");
  EXPECT_EQ(simhash_from_text("0123456789ABCDEF"), 0x0123456789abcdefULL);
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t v = random();
    EXPECT_EQ(simhash_from_text(simhash_to_text(v)), v);
  }
  for (const char* bad : {"", "0", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeg", " 123456789abcdef",
                          "0x23456789abcdef", "+123456789abcdef"})
    EXPECT_THROW(simhash_from_text(bad), Error) << bad;
}

}  // namespace
}  // namespace neardup::simhash_test
