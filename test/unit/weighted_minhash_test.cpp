// Weighted sets: components against golden vectors and the obvious version, the laws of unions, order and repeats, the
// estimates of similarity and of the total weight, exact measures; the exact cosine of vectors.
#include "core/signature/weighted_minhash.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/exact/cosine.h"
#include "core/signature/minhash.h"
#include "core/signature/simhash.h"

#include "test/reference/weighted_reference.h"
#include "test/unit/support.h"

namespace neardup::weighted_minhash_test {
namespace {

using test::Random;
using Elements = std::vector<WeightedElement>;
using Components = std::vector<uint32_t>;

constexpr WeightUnits kOne = WeightUnits{1} << kWeightBits;

Components sign(Elements elements, uint32_t num_perm, uint64_t seed = 0) {
  Components out(num_perm, 12345);
  if (!sign_weighted(num_perm, seed, &elements, nullptr, out.data())) out.assign(num_perm, kEmptyComponent32);
  return out;
}

Components plain(const Elements& elements, uint32_t num_perm, uint64_t seed = 0) {
  reference::WeightedSet set;
  for (const WeightedElement& e : elements) set.emplace_back(e.hash, e.units);
  return reference::weighted_minhash32(set, num_perm, seed);
}

WeightUnits random_units(Random& random) { return WeightUnits{random() >> random() % 64} << random() % 60; }

double to_weight(WeightUnits units) { return std::ldexp(static_cast<double>(units), -kWeightBits); }

WeightUnits hex_units(const std::string& text) {
  WeightUnits out = 0;
  for (const char c : text) out = out << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  return out;
}

TEST(WeightedMinhash, GoldenVectors) {
  const auto lines = test::golden_lines("golden_weighted.tsv");
  ASSERT_GT(lines.size(), 40u);
  for (const auto& fields : lines) {
    ASSERT_EQ(fields.size(), 5u);
    const uint32_t num_perm = static_cast<uint32_t>(std::stoul(fields[0]));
    const int bits = std::stoi(fields[1]);
    const uint64_t seed = static_cast<uint64_t>(std::stoll(fields[2]));
    Elements set;
    for (size_t at = 0; at < fields[3].size();) {
      const size_t colon = fields[3].find(':', at);
      const size_t end = std::min(fields[3].find(',', at), fields[3].size());
      set.push_back({std::stoull(fields[3].substr(at, colon - at), nullptr, 16),
                     hex_units(fields[3].substr(colon + 1, end - colon - 1))});
      at = end + 1;
    }
    const std::vector<uint64_t> want = test::hex_list(fields[4]);
    ASSERT_EQ(want.size(), num_perm);
    const Components got = sign(set, num_perm, seed);
    for (uint32_t i = 0; i < num_perm; ++i)
      EXPECT_EQ(bits == 32   ? got[i]
                : bits == 16 ? weighted_component16(got[i])
                             : component8(got[i]),
                want[i])
          << fields[0] << "x" << bits << " seed " << fields[2] << " of " << fields[3].substr(0, 60) << " component "
          << i;
  }
}

TEST(WeightedMinhash, LogarithmsAreAsPrecise) {
  for (uint32_t j = 0; j < 128; ++j)
    EXPECT_EQ(weighted_detail::reciprocal_log(j),
              static_cast<uint64_t>(std::llround(std::log(((1 << 24) / (129 + j)) / 65536.0L) * 0x1p44L)));
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t hash = i < 4 ? static_cast<uint64_t>(i - 2) : random() >> random() % 64 ^ -(random() & 1);
    const uint64_t got = weighted_detail::exponential(hash);
    const long double x = static_cast<long double>(~hash | 1) / 0x1p64L;
    const long double want = -std::log(x) * 0x1p44L;
    EXPECT_NEAR(static_cast<double>(got), static_cast<double>(want), 2 + static_cast<double>(want) * 0x1p-28) << hash;
    EXPECT_GE(got, hash >> 20);
    EXPECT_GE(got, 1u);
    EXPECT_EQ(got, reference::exponential(hash)) << hash;
  }
}

TEST(WeightedMinhash, AgreesWithTheObviousVersion) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const uint32_t num_perm = 16 + static_cast<uint32_t>(random() % 200);
    Elements set(random() % (round % 10 == 0 ? 300 : 12));
    const int style = static_cast<int>(random() % 4);
    for (WeightedElement& e : set) {
      e.hash = random() % 3 == 0 ? random() % 8 : random();
      e.units = style == 0   ? kOne
                : style == 1 ? random() % 5
                : style == 2 ? WeightUnits{1} << random() % 120
                             : random_units(random);
    }
    const uint64_t seed = random() % 3 == 0 ? 0 : random();
    EXPECT_EQ(sign(set, num_perm, seed), plain(set, num_perm, seed)) << round;
  }
  const WeightUnits most = ~WeightUnits{0};
  for (const WeightUnits units : {WeightUnits{1}, WeightUnits{2}, WeightUnits{3}, most, most - 1, most / 2,
                                  most / 2 + 1, most / 2 + 2, WeightUnits{1} << 64, (WeightUnits{1} << 65) + 1})
    for (const uint32_t num_perm : {16u, 700u})
      EXPECT_EQ(sign({{42, units}}, num_perm), plain({{42, units}}, num_perm));
}

// Total weights whose first bound, num_perm (ln num_perm + 3) / total * 1.00001, is a hair below a power of two: the
// first events of one stratum then come up to that bound with every hash.
TEST(WeightedMinhash, BoundsNextToAPowerOfTwo) {
  for (const uint32_t num_perm : {16u, 128u}) {
    const double total = num_perm * (std::log(num_perm) + 3) * 1.00001 / 1024;
    const size_t features = static_cast<size_t>(total * 512);
    for (int i = -2; i <= 10; ++i) {
      Elements set;
      for (uint64_t x = 0; x < features; ++x) set.push_back({x, weight_units(0x1p-9)});
      set.push_back({features, weight_units(total * (1 + i * 0x1p-47) - static_cast<double>(features) / 512)});
      EXPECT_EQ(sign(set, num_perm), plain(set, num_perm)) << num_perm << " " << i;
    }
  }
}

TEST(WeightedMinhash, OrderAndRepeatsDoNotMatter) {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    Elements set(1 + random() % 50);
    for (WeightedElement& e : set) e = {random(), random_units(random) + 2};
    const Components want = sign(set, 64);
    Elements parts;
    for (const WeightedElement& e : set) {
      const WeightUnits some = std::min<WeightUnits>(random(), e.units);
      parts.push_back({e.hash, some});
      parts.push_back({e.hash, e.units - some});
      parts.push_back({random(), 0});
    }
    std::shuffle(parts.begin(), parts.end(), random);
    EXPECT_EQ(sign(parts, 64), want);
  }
}

// The inverse of mix64, to make hashes that meet in the table of repeats.
uint64_t unmix64(uint64_t x) {
  uint64_t inverse = 0xe9846af9b1a615dULL;
  for (int i = 0; i < 6; ++i) inverse *= 2 - 0xe9846af9b1a615dULL * inverse;
  x ^= x >> 28 ^ x >> 56;
  x *= inverse;
  x ^= x >> 32;
  x *= inverse;
  return x ^ x >> 32;
}

TEST(WeightedMinhash, HashesChosenToMeet) {
  Elements set;
  for (uint64_t i = 0; i < 3000; ++i) {
    set.push_back({unmix64(i), kOne + i});
    ASSERT_EQ(reference::mix64(set.back().hash), i);
    if (i % 3 == 0) set.push_back({unmix64(i / 2), kOne * (i % 5)});
  }
  EXPECT_EQ(sign(set, 32), plain(set, 32));
}

TEST(WeightedMinhash, EmptyAndTooLarge) {
  Components c(16);
  Elements none;
  EXPECT_FALSE(sign_weighted(16, 0, &none, nullptr, c.data()));
  none = {{1, 0}, {2, 0}};
  EXPECT_FALSE(sign_weighted(16, 0, &none, nullptr, c.data()));
  Elements many = {{1, ~WeightUnits{0}}, {1, 1}};
  EXPECT_THROW(sign_weighted(16, 0, &many, nullptr, c.data()), Error);
  many = {{1, ~WeightUnits{0}}, {2, 1}};
  EXPECT_THROW(sign_weighted(16, 0, &many, nullptr, c.data()), Error);
  EXPECT_EQ(weight_units(0), 0u);
  EXPECT_EQ(weight_units(0x1p-61), 0u) << "half to even";
  EXPECT_EQ(weight_units(0x1.8p-60), 2u) << "half to even";
  EXPECT_EQ(weight_units(0x1p40), WeightUnits{1} << 100);
  for (const double bad : {-1.0, 0x1.0000000000001p40, HUGE_VAL, std::nan("")}) EXPECT_THROW(weight_units(bad), Error);
}

TEST(WeightedMinhash, MinimaAreSignaturesOfGreatestWeights) {
  Random random(4);
  for (int round = 0; round < 100; ++round) {
    std::map<uint64_t, WeightUnits> a, b, both;
    for (int i = 0; i < 40; ++i) {
      a[random() % 60] = random_units(random);
      b[random() % 60] = random_units(random);
    }
    for (const auto& [x, w] : a) both[x] = std::max(both[x], w);
    for (const auto& [x, w] : b) both[x] = std::max(both[x], w);
    const auto list = [](const std::map<uint64_t, WeightUnits>& m) {
      Elements out;
      for (const auto& [x, w] : m) out.push_back({x, w});
      return out;
    };
    Components want = sign(list(both), 128);
    const Components x = sign(list(a), 128), y = sign(list(b), 128);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(std::min(x[i], y[i]), want[i]);
  }
}

struct Pair {
  Elements a, b;
  double jaccard, containment, total;
};

// n features with weights of many magnitudes; b has some of them, of other weights.
Pair random_pair(Random& random, int n, double spread) {
  Pair p{};
  double least = 0, most = 0, total = 0;
  std::normal_distribution<double> normal;
  for (int i = 0; i < n; ++i) {
    const double w = std::exp(spread * normal(random));
    const double v = random() % 4 == 0 ? w : random() % 4 == 0 ? 0 : w * std::exp(normal(random));
    const uint64_t x = random();
    p.a.push_back({x, weight_units(w)});
    p.b.push_back({x, weight_units(v)});
    least += std::min(w, v);
    most += std::max(w, v);
    total += w;
  }
  p.jaccard = least / most;
  p.containment = least / total;
  p.total = total;
  return p;
}

// |sum of errors| within 4.5 standard errors of the sum.
TEST(WeightedMinhash, EstimatesAreUnbiased) {
  Random random(5);
  constexpr uint32_t kPerm = 1024;
  for (const double spread : {0.0, 1.0, 4.0}) {
    for (const int n : {1, 7, 200}) {
      for (const int bits : {32, 16}) {
        double error = 0, variance = 0, total_error = 0, containment_error = 0;
        constexpr int kPairs = 15;
        for (int i = 0; i < kPairs; ++i) {
          const Pair p = random_pair(random, n, spread);
          const Components x = sign(p.a, kPerm, random()), y = sign(p.b, kPerm, 0);
          const Components z = sign(p.a, kPerm, 0);
          std::vector<uint16_t> z16(kPerm), y16(kPerm), x16(kPerm);
          for (uint32_t c = 0; c < kPerm; ++c) {
            x16[c] = weighted_component16(x[c]);
            y16[c] = weighted_component16(y[c]);
            z16[c] = weighted_component16(z[c]);
          }
          const void* zs = bits == 32 ? static_cast<const void*>(z.data()) : z16.data();
          const void* ys = bits == 32 ? static_cast<const void*>(y.data()) : y16.data();
          const void* xs = bits == 32 ? static_cast<const void*>(x.data()) : x16.data();
          if (y[0] != kEmptyComponent32) {
            error += count_matches(zs, ys, kPerm, bits) / static_cast<double>(kPerm) - p.jaccard;
            containment_error += estimate_containment(zs, ys, kPerm, bits) - p.containment;
          }
          variance += p.jaccard * (1 - p.jaccard) / kPerm;
          total_error += estimate_total_weight(xs, kPerm, bits) / p.total - 1;
        }
        const double chance = bits == 16 ? kPairs * 0x1p-10 : 0;  // agreement of different times
        EXPECT_LE(std::fabs(error), 4.5 * std::sqrt(variance) + chance + 1e-9) << spread << " " << n << " " << bits;
        EXPECT_LE(std::fabs(containment_error), 9 * std::sqrt(variance) + 4 * chance + 1e-9) << spread << " " << n;
        EXPECT_LE(std::fabs(total_error), 4.5 * std::sqrt(kPairs / (kPerm - 2.0))) << spread << " " << n << " " << bits;
      }
    }
  }
}

// The shares of components that come from each feature are the shares of the weights: chi-squared over 16 features.
TEST(WeightedMinhash, FeaturesComeInProportionToTheirWeights) {
  constexpr int kFeatures = 16, kRounds = 100;
  constexpr uint32_t kPerm = 256;
  Elements set;
  double total = 0;
  for (uint64_t i = 0; i < kFeatures; ++i) {
    set.push_back({reference::mix64(i), weight_units(1.0 + static_cast<double>(i * i) / 7)});
    total += to_weight(set.back().units);
  }
  std::vector<double> seen(kFeatures);
  for (uint64_t seed = 0; seed < kRounds; ++seed) {
    const Components all = sign(set, kPerm, seed);
    for (int f = 0; f < kFeatures; ++f) {
      const Components one = sign({set[f]}, kPerm, seed);
      for (uint32_t i = 0; i < kPerm; ++i) seen[f] += one[i] == all[i];
    }
  }
  double chi = 0;
  for (int f = 0; f < kFeatures; ++f) {
    const double want = kRounds * kPerm * to_weight(set[f].units) / total;
    chi += (seen[f] - want) * (seen[f] - want) / want;
  }
  EXPECT_LT(chi, 44.3) << "15 degrees of freedom, p = 1e-4";
}

// The reference samplers estimate what they are said to: they are what ours is compared with.
TEST(WeightedMinhash, SamplersOfTheLiterature) {
  Random random(6);
  double icws = 0, bag = 0, prob = 0, apart = 0, variance = 0;
  for (int i = 0; i < 20; ++i) {
    const Pair p = random_pair(random, 30, 1);
    reference::RealSet a, b;
    for (size_t j = 0; j < p.a.size(); ++j) {
      a.emplace_back(p.a[j].hash, to_weight(p.a[j].units));
      if (p.b[j].units != 0) b.emplace_back(p.b[j].hash, 3 * to_weight(p.b[j].units));
    }
    double least = 0, most = 0;
    for (size_t j = 0; j < p.a.size(); ++j) {
      least += std::min(to_weight(p.a[j].units), 3 * to_weight(p.b[j].units));
      most += std::max(to_weight(p.a[j].units), 3 * to_weight(p.b[j].units));
    }
    const auto share = [](const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
      int m = 0;
      for (size_t j = 0; j < x.size(); ++j) m += x[j] == y[j];
      return m / static_cast<double>(x.size());
    };
    const double j = least / most;
    icws += share(reference::icws(a, 128), reference::icws(b, 128)) - j;
    bag += share(reference::bag_minhash(a, 128), reference::bag_minhash(b, 128)) - j;
    prob += share(reference::prob_minhash(a, 128), reference::prob_minhash(b, 128)) - j;
    variance += j * (1 - j) / 128;
    apart += 1;
  }
  EXPECT_LE(std::fabs(icws), 4.5 * std::sqrt(variance));
  EXPECT_LE(std::fabs(bag), 4.5 * std::sqrt(variance));
  EXPECT_GT(prob, 0.1 * apart) << "P-MinHash knows no difference of totals";
}

TEST(WeightedSets, ExactMeasures) {
  const auto overlap = [](std::vector<TextWeight> a, std::vector<TextWeight> b) {
    return weighted_overlap(&a, &b, nullptr);
  };
  const auto o = overlap({{"a", 3 * kOne}, {"b", kOne}, {"a", kOne}}, {{"c", kOne}, {"a", 2 * kOne}, {"", 0}});
  EXPECT_EQ(o.jaccard(), 2.0 / 6);
  EXPECT_DOUBLE_EQ(*o.cosine, 8 / std::sqrt(17.0 * 5));
  EXPECT_EQ(overlap({}, {{"a", 1}}).jaccard(), 0);
  EXPECT_EQ(overlap({}, {}).jaccard(), 0);
  EXPECT_FALSE(overlap({}, {{"a", 1}}).cosine);
  const WeightUnits most = ~WeightUnits{0};
  EXPECT_EQ(overlap({{"a", most}}, {{"a", most}}).jaccard(), 1);
  EXPECT_EQ(*overlap({{"a", most}}, {{"a", most}}).cosine, 1);
  EXPECT_EQ(overlap({{"a", most}}, {{"b", most}}).jaccard(), 0);
  EXPECT_EQ(overlap({{"a", most}}, {{"a", most / 2}}).jaccard(), 0.5);
  EXPECT_THROW(overlap({{"a", most}, {"b", 1}}, {}), Error);
  // The bytes of a feature count, all of them.
  EXPECT_EQ(overlap({{std::string_view("a\0b", 3), 1}}, {{std::string_view("a\0c", 3), 1}}).jaccard(), 0);
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::map<std::string, WeightUnits> a, b;
    for (int i = 0; i < 20; ++i) {
      a[std::to_string(random() % 30)] = random() >> 20;
      b[std::to_string(random() % 30)] = random() >> 20;
    }
    std::vector<TextWeight> x, y;
    for (const auto& [f, w] : a) x.push_back({f, w});
    for (const auto& [f, w] : b) y.push_back({f, w});
    double least = 0, most_sum = 0;
    for (const auto& [f, w] : a) {
      const WeightUnits v = b.count(f) ? b[f] : 0;
      least += static_cast<double>(std::min(w, v));
      most_sum += static_cast<double>(std::max(w, v));
    }
    for (const auto& [f, w] : b)
      if (!a.count(f)) most_sum += static_cast<double>(w);
    std::shuffle(x.begin(), x.end(), random);
    EXPECT_NEAR(overlap(x, y).jaccard(), least / most_sum, 1e-15);
  }
}

TEST(Cosine, AgreesWithLongDoubles) {
  Random random(8);
  std::normal_distribution<double> normal;
  for (const size_t n : {1, 2, 7, 8, 9, 31, 384, 1536, 100001}) {
    for (int round = 0; round < 6; ++round) {
      // Magnitudes at the ends of double, and each vector of its own.
      const int ea = static_cast<int>(random() % 2000) - 1000,
                eb = round % 3 == 0 ? -ea : static_cast<int>(random() % 2000) - 1000;
      std::vector<double> a(n), b(n);
      long double ab = 0, aa = 0, bb = 0;
      for (size_t i = 0; i < n; ++i) {
        const double x = normal(random), y = 0.5 * x + normal(random);
        a[i] = std::ldexp(x, ea);
        b[i] = std::ldexp(y, eb);
        ab += static_cast<long double>(x) * y;
        aa += static_cast<long double>(x) * x;
        bb += static_cast<long double>(y) * y;
      }
      const double want = static_cast<double>(ab / std::sqrt(aa * bb));
      EXPECT_NEAR(*cosine_similarity(a.data(), b.data(), n, nullptr), want, 1e-14) << n << " " << ea << " " << eb;
      EXPECT_NEAR(*cosine_similarity(a.data(), a.data(), n, nullptr), 1, 1e-15);
    }
  }
}

TEST(Cosine, Ends) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double huge = std::numeric_limits<double>::max();
  const auto cosine = [](std::vector<double> a, std::vector<double> b) {
    return cosine_similarity(a.data(), b.data(), a.size(), nullptr);
  };
  EXPECT_EQ(cosine({1, 0}, {0, 1}), 0);
  EXPECT_EQ(cosine({3, 4}, {-3, -4}), -1);
  EXPECT_EQ(cosine({huge, huge, huge}, {huge, huge, huge}), 1);
  EXPECT_EQ(cosine({huge, 0}, {tiny, 0}), 1);
  EXPECT_EQ(cosine({tiny, 0}, {-tiny, 0}), -1);
  EXPECT_DOUBLE_EQ(*cosine({tiny, tiny}, {huge, 0}), std::sqrt(0.5));
  EXPECT_FALSE(cosine({0, -0.0}, {1, 2}));
  EXPECT_FALSE(cosine({1, 2}, {0, 0}));
  EXPECT_THROW(cosine({}, {}), Error);
  for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    try {
      cosine({1, 2}, {3, bad});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()),
                std::isnan(bad) ? "component 2 of vector b is NaN" : "component 2 of vector b is infinite");
    }
    EXPECT_THROW(cosine({0, bad}, {0, 0}), Error);
    EXPECT_THROW(cosine({bad, 1}, {0, 0}), Error);
  }
}

}  // namespace
}  // namespace neardup::weighted_minhash_test
