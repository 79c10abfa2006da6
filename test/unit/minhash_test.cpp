// Sketches against golden vectors and the obvious version, and the laws that the estimates rest on.
#include "core/signature/minhash.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/hash.h"

#include "test/reference/minhash_reference.h"
#include "test/unit/support.h"

namespace neardup::minhash_test {
namespace {

using test::document_sketch;
using test::incremental_sketch;
using test::Random;

constexpr uint32_t kWidths[] = {16, 17, 100, 128, 256, 1000};

std::vector<uint64_t> random_set(Random& random, size_t n) {
  std::vector<uint64_t> out(n);
  for (uint64_t& x : out) x = random();
  return out;
}

template <class T>
std::vector<T> narrow(const std::vector<uint32_t>& components, uint32_t bits) {
  std::vector<T> out;
  const uint32_t n = static_cast<uint32_t>(components.size());
  for (const uint32_t v : components) out.push_back(static_cast<T>(bits == 16 ? component16(v, n) : component8(v)));
  return out;
}

std::vector<uint32_t> least(std::vector<uint32_t> a, const std::vector<uint32_t>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::min(a[i], b[i]);
  return a;
}

TEST(Minhash, GoldenVectors) {
  const auto lines = test::golden_lines("golden_minhash.tsv");
  ASSERT_GT(lines.size(), 300u);
  test::for_each_kernels([&] {
    for (const auto& fields : lines) {
      ASSERT_EQ(fields.size(), 5u);
      const uint32_t num_perm = static_cast<uint32_t>(std::stoul(fields[0]));
      const int bits = std::stoi(fields[1]);
      const uint64_t seed = static_cast<uint64_t>(std::stoll(fields[2]));
      std::vector<uint64_t> set;
      if (const size_t dots = fields[3].find(".."); dots != std::string::npos) {
        const int64_t first = std::stoll(fields[3]), last = std::stoll(fields[3].substr(dots + 2));
        for (int64_t i = first; i <= last; ++i) set.push_back(static_cast<uint64_t>(i));
      } else {
        set = test::hex_list(fields[3]);
      }
      const std::string where = fields[0] + "x" + fields[1] + " seed " + fields[2] + " of " + fields[3].substr(0, 40);
      const std::vector<uint64_t> expected = test::hex_list(fields[4]);
      ASSERT_EQ(expected.size(), num_perm) << where;
      const auto sketches = {document_sketch(set, num_perm, seed), incremental_sketch(set, num_perm, seed)};
      for (const std::vector<uint32_t>& components : sketches) {
        for (uint32_t i = 0; i < num_perm; ++i) {
          const uint32_t v = components[i];
          // The 8-bit form of the empty signature is all ones by convention, not by component8.
          const uint32_t got = bits == 32               ? v
                               : bits == 16             ? component16(v, num_perm)
                               : v == kEmptyComponent32 ? 255
                                                        : component8(v);
          ASSERT_EQ(got, expected[i]) << where << ", component " << i;
        }
      }
    }
  });
}

TEST(Minhash, DocumentEqualsTheReference) {
  test::for_each_kernels([] {
    Random random(1);
    for (const uint32_t num_perm : kWidths) {
      for (const size_t n : {0u, 1u, 2u, 3u, 10u, 50u, 100u, 300u, 1000u, 3000u}) {
        if (num_perm == 1000 && n > 0 && n < 50) continue;  // the reference takes all rounds
        const uint64_t seed = random();
        const std::vector<uint64_t> set = random_set(random, n);
        const std::vector<uint32_t> expected = reference::minhash32(set, num_perm, seed);
        ASSERT_EQ(document_sketch(set, num_perm, seed), expected) << num_perm << " " << n;
        ASSERT_EQ(document_sketch(set, num_perm, seed, 7), expected) << num_perm << " " << n;
        ASSERT_EQ(document_sketch(set, num_perm, seed, 1), expected) << num_perm << " " << n;
      }
    }
  });
}

TEST(Minhash, WidestSketch) {
  Random random(2);
  for (const size_t n : {1u, 5u, 5000u, 60000u}) {
    const std::vector<uint64_t> set = random_set(random, n);
    const std::vector<uint32_t> expected = reference::minhash32(set, kMaxNumPerm, 5);
    EXPECT_EQ(document_sketch(set, kMaxNumPerm, 5), expected) << n;
    if (n < 6000) {
      EXPECT_EQ(incremental_sketch(set, kMaxNumPerm, 5), expected) << n;
    }
  }
}

// Round L, where every bin has a hash of its own, is reached by sets of one element only, mostly.
TEST(Minhash, FewElementsReachTheLastRound) {
  int last = 0;
  for (uint64_t x = 0; x < 300; ++x) {
    const std::vector<uint32_t> got = document_sketch({x}, 16, 0);
    ASSERT_EQ(got, reference::minhash32({x}, 16, 0));
    ASSERT_EQ(got, incremental_sketch({x}, 16, 0));
    last += std::any_of(got.begin(), got.end(), [](uint32_t v) { return v >= (1u << 31 | 16u << 18); });
  }
  EXPECT_GT(last, 100);
}

TEST(Minhash, IncrementalEqualsDocument) {
  Random random(3);
  for (const uint32_t num_perm : kWidths) {
    for (const size_t n : {1u, 2u, 5u, 20u, 128u, 1000u}) {
      const std::vector<uint64_t> set = random_set(random, n);
      const std::vector<uint32_t> expected = document_sketch(set, num_perm, 9);
      // In another order, some of them several times.
      std::vector<uint64_t> fed = set;
      for (size_t i = 0; i < n; ++i) fed.push_back(set[random() % n]);
      std::shuffle(fed.begin(), fed.end(), random);
      ASSERT_EQ(incremental_sketch(fed, num_perm, 9), expected) << num_perm << " " << n;
      ASSERT_EQ(document_sketch(fed, num_perm, 9, 11), expected) << num_perm << " " << n;
      // Halfway from a document's sketch, as an aggregate that was read back.
      std::vector<uint32_t> half = document_sketch({set.begin(), set.begin() + n / 2}, num_perm, 9);
      IncrementalSketch rest(num_perm, 9, half.data());
      for (size_t i = n / 2; i < n; ++i) rest.add(set[i]);
      ASSERT_EQ(half, expected) << num_perm << " " << n;
    }
  }
}

TEST(Minhash, UnionIsTheComponentWiseMinimum) {
  Random random(4);
  for (const uint32_t num_perm : kWidths) {
    for (const auto& [n, m] : {std::pair{0, 0}, {0, 3}, {1, 1}, {2, 300}, {40, 40}, {500, 20}, {2000, 2000}}) {
      const std::vector<uint64_t> a = random_set(random, static_cast<size_t>(n));
      std::vector<uint64_t> b = random_set(random, static_cast<size_t>(m));
      b.insert(b.end(), a.begin(), a.begin() + n / 2);
      std::vector<uint64_t> both = a;
      both.insert(both.end(), b.begin(), b.end());
      const auto sa = document_sketch(a, num_perm, 1), sb = document_sketch(b, num_perm, 1);
      const auto su = document_sketch(both, num_perm, 1);
      ASSERT_EQ(least(sa, sb), su) << num_perm << " " << n << " " << m;
      const auto ha = narrow<uint16_t>(sa, 16), hb = narrow<uint16_t>(sb, 16), hu = narrow<uint16_t>(su, 16);
      for (uint32_t i = 0; i < num_perm; ++i) ASSERT_EQ(std::min(ha[i], hb[i]), hu[i]);
    }
  }
}

// More than 64 * L hashes, but too few of them different: the rest goes through the incremental sketch.
TEST(Minhash, RepetitiveText) {
  Random random(5);
  for (const uint32_t num_perm : {16u, 128u, 256u}) {
    for (const size_t distinct : {1u, 2u, 7u, 60u, 250u}) {
      std::vector<uint64_t> set = random_set(random, distinct);
      set[0] = 0;  // what an unused slot of the cache holds
      std::vector<uint64_t> fed;
      for (size_t i = 0; i < 64 * num_perm + 5000; ++i) fed.push_back(set[i * i % distinct]);
      fed.insert(fed.end(), set.begin(), set.end());
      // A late element, after the buffer is gone.
      set.push_back(random());
      fed.push_back(set.back());
      fed.push_back(set.front());
      const std::vector<uint32_t> expected = reference::minhash32(set, num_perm, 3);
      for (const size_t batch : {0u, 1u, 4096u, 4160u}) {
        if (batch == 1 && distinct > 7) continue;
        ASSERT_EQ(document_sketch(fed, num_perm, 3, batch), expected) << num_perm << " " << distinct << " " << batch;
      }
    }
  }
}

// Two shingles that share a slot of the cache and come in turn, without end: each goes through the rounds once.
TEST(Minhash, RepetitiveTextOfShinglesThatMeet) {
  std::string text;
  for (int i = 0; i < 500000; ++i) text += "g t ";
  const std::vector<uint64_t> fed = test::shingle_hashes(Unit::word, 3, text);
  std::vector<uint64_t> set = fed;
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  ASSERT_EQ(set.size(), 2u);
  ASSERT_EQ((mix64(set[0]) ^ mix64(set[1])) & 4095, 0u);
  const auto start = std::clock();
  ASSERT_EQ(document_sketch(fed, kMaxNumPerm, 0, 4096), reference::minhash32(set, kMaxNumPerm, 0));
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

// All that waits is drained, and what is kept is dropped, in time: sets that fill the bins of round 0 late or never.
TEST(Minhash, RepetitiveTextThatGrows) {
  Random random(11);
  for (const uint32_t num_perm : {16u, 128u, 1000u}) {
    for (const size_t distinct : {20u, 700u, 3000u, 20000u}) {
      const std::vector<uint64_t> set = random_set(random, distinct);
      std::vector<uint64_t> fed(64 * num_perm + 1, set[0]);
      for (size_t i = 0; i < 60000; ++i) fed.push_back(set[random() % (i / 3 % distinct + 1)]);
      fed.insert(fed.end(), set.begin(), set.end());
      const std::vector<uint32_t> expected = reference::minhash32(set, num_perm, 4);
      for (const size_t batch : {0u, 100u, 4160u})
        ASSERT_EQ(document_sketch(fed, num_perm, 4, batch), expected) << num_perm << " " << distinct << " " << batch;
    }
  }
}

// More hashes than are remembered, and none of them fills bin 0.
TEST(Minhash, ChosenToLeaveABinEmpty) {
  Random random(12);
  const uint32_t num_perm = 16;
  std::vector<uint64_t> set;
  while (set.size() < 40000) {
    const uint64_t x = random();
    if (static_cast<uint32_t>(mix64(x ^ sketch_seed(0))) >> 28 != 0) set.push_back(x);
  }
  const std::vector<uint32_t> expected = reference::minhash32(set, num_perm, 0);
  EXPECT_GE(expected[0], 1u << 31);
  std::vector<uint64_t> fed = set;
  fed.insert(fed.end(), set.rbegin(), set.rend());
  for (const size_t batch : {0u, 1000u, 8192u}) ASSERT_EQ(document_sketch(fed, num_perm, 0, batch), expected) << batch;
}

// A bin is filled for the first time in the batch that overflows the buffer.
TEST(Minhash, OverflowInTheFillingBatch) {
  Random random(6);
  const uint32_t num_perm = 128;
  std::vector<uint64_t> fed(64 * num_perm - 3, 77);
  std::vector<uint64_t> set = random_set(random, 5000);
  fed.insert(fed.end(), set.begin(), set.end());
  set.push_back(77);
  const std::vector<uint32_t> expected = reference::minhash32(set, num_perm, 0);
  for (const size_t batch : {1u, 100u, 4096u, 8191u, 8192u, 8193u}) {
    ASSERT_EQ(document_sketch(fed, num_perm, 0, batch), expected) << batch;
  }
}

TEST(Minhash, SeedsDiffer) {
  std::vector<uint64_t> set(1000);
  std::iota(set.begin(), set.end(), 0);
  const auto a = document_sketch(set, 128, 0), b = document_sketch(set, 128, 1);
  EXPECT_LE(count_matches(a.data(), b.data(), 128, 32), 1u);
}

TEST(Minhash, Component16IsMonotone) {
  for (const uint32_t num_perm : {16u, 128u, 4095u, 4096u}) {
    std::vector<uint32_t> values = {0, 1, 2, 3, 1023, 1024, 1025, 2047, 2048, 0x7ffffffeu, 0x7fffffffu, 0xfffffffeu};
    for (uint32_t r = 1; r <= num_perm; ++r) {
      for (const uint32_t f : {0u, 1u, 2u, 255u, 256u, 1u << 17, (1u << 18) - 2, (1u << 18) - 1}) {
        values.push_back(std::min(1u << 31 | r << 18 | f, 0xfffffffeu));
      }
    }
    Random random(7);
    for (int i = 0; i < 20000; ++i) values.push_back(static_cast<uint32_t>(random() >> (33 + random() % 31)));
    std::erase_if(values, [num_perm](uint32_t v) { return v >= 1u << 31 && (v & 0x7fffffffu) >> 18 > num_perm; });
    std::sort(values.begin(), values.end());
    uint16_t before = 0;
    for (const uint32_t v : values) {
      const uint16_t code = component16(v, num_perm);
      ASSERT_EQ(code, reference::code16(v, num_perm)) << v;
      ASSERT_GE(code, before) << v;
      ASSERT_LT(code, 65535) << v;
      before = code;
    }
    EXPECT_EQ(component16(kEmptyComponent32, num_perm), 65535);
  }
}

// Foreign components (imported ones) may hold anything: no input is undefined.
TEST(Minhash, Component16OfAnyValue) {
  Random random(8);
  for (int i = 0; i < 100000; ++i) {
    const uint32_t v = static_cast<uint32_t>(random());
    ASSERT_EQ(component16(v, 128), reference::code16(v, 128)) << v;
    ASSERT_EQ(component8(v), reference::code8(v)) << v;
  }
}

TEST(Minhash, MinMatchesEqualsLinearSearch) {
  Random random(9);
  std::vector<double> thresholds = {1e-300, 0.001, 0.1, 0.25, 1.0 / 3, 0.5, 0.7, 0.75, 0.8, 0.9, 0.95, 0.999, 1.0};
  for (int i = 0; i < 10; ++i) thresholds.push_back(static_cast<double>(random() >> 11) * 0x1p-53);
  for (const uint32_t L : {16u, 17u, 100u, 128u, 255u, 256u, 1000u, 4096u}) {
    for (const uint32_t bits : {8u, 16u, 32u}) {
      std::vector<double> t = thresholds;
      // The estimates themselves and their neighbours.
      for (const uint32_t m : {1u, L / 3, L / 2, L * 4 / 5, L - 1, L}) {
        const double e = estimate_jaccard(m, L, bits);
        t.insert(t.end(), {e, std::nextafter(e, 0.0), std::nextafter(e, 2.0)});
      }
      for (const double threshold : t) {
        ASSERT_EQ(min_matches(threshold, false, L, bits), reference::need(threshold, L, bits)) << threshold;
        ASSERT_EQ(min_matches(threshold, true, L, bits), reference::need(threshold, L, bits, false)) << threshold;
      }
      ASSERT_EQ(min_matches(1.5, false, L, bits), L + 1);
      ASSERT_EQ(min_matches(1.0, true, L, bits), L + 1);
      ASSERT_EQ(min_matches(1.0, false, L, bits), L);
    }
  }
  EXPECT_EQ(min_matches(0.75, false, 128, 32), 96u);
  EXPECT_EQ(min_matches(0.75, true, 128, 32), 97u);
}

TEST(Minhash, EstimateIsMonotoneAndExactAtTheEnds) {
  for (const uint32_t L : {16u, 100u, 128u, 4096u}) {
    for (const uint32_t bits : {8u, 16u, 32u}) {
      EXPECT_EQ(estimate_jaccard(0, L, bits), 0.0);
      EXPECT_EQ(estimate_jaccard(L, L, bits), 1.0);
      for (uint32_t m = 1; m <= L; ++m) {
        const double e = estimate_jaccard(m, L, bits);
        ASSERT_GE(e, estimate_jaccard(m - 1, L, bits));
        ASSERT_EQ(e, reference::estimate(m, L, bits));
      }
    }
  }
}

TEST(Minhash, CountMatches) {
  Random random(10);
  for (const uint32_t L : kWidths) {
    std::vector<uint32_t> a(L), b(L);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < L; ++i) {
      a[i] = static_cast<uint32_t>(random());
      b[i] = random() % 2 ? a[i] : a[i] ^ 0x01010101u;
      expected += a[i] == b[i];
    }
    EXPECT_EQ(count_matches(a.data(), b.data(), L, 32), expected);
    const std::vector<uint16_t> a16(a.begin(), a.end()), b16(b.begin(), b.end());
    EXPECT_EQ(count_matches(a16.data(), b16.data(), L, 16), expected);
    const std::vector<uint8_t> a8(a.begin(), a.end()), b8(b.begin(), b.end());
    EXPECT_EQ(count_matches(a8.data(), b8.data(), L, 8), expected);
  }
}

// Relative standard error is about 1 / sqrt(L); five of them.
TEST(Minhash, SetSize) {
  const uint32_t L = 1024;
  for (const size_t n : {2u, 10u, 100u, 1000u, 20000u, 300000u}) {
    double sum32 = 0, sum16 = 0;
    constexpr int kSeeds = 4;
    std::vector<uint64_t> set(n);
    for (int seed = 0; seed < kSeeds; ++seed) {
      for (size_t i = 0; i < n; ++i) set[i] = mix64(i + 1 + static_cast<uint64_t>(seed) * 1000003);
      const auto c = document_sketch(set, L, static_cast<uint64_t>(seed));
      const auto c16 = narrow<uint16_t>(c, 16);
      const double s32 = estimate_set_size(c.data(), L, 32), s16 = estimate_set_size(c16.data(), L, 16);
      EXPECT_NEAR(s16 / s32, 1, 0.001);
      sum32 += s32;
      sum16 += s16;
    }
    const double error = 5 / std::sqrt(double{L} * kSeeds);
    EXPECT_NEAR(sum32 / kSeeds / static_cast<double>(n), 1, error) << n;
    EXPECT_NEAR(sum16 / kSeeds / static_cast<double>(n), 1, error) << n;
  }
  const std::vector<uint32_t> none(L, kEmptyComponent32);
  EXPECT_EQ(estimate_set_size(none.data(), L, 32), 0.0);
  const std::vector<uint16_t> none16(L, 65535);
  EXPECT_EQ(estimate_set_size(none16.data(), L, 16), 0.0);
}

TEST(Minhash, Containment) {
  const uint32_t L = 1024;
  std::vector<uint64_t> all(8000);
  for (size_t i = 0; i < all.size(); ++i) all[i] = mix64(i + 1);
  const std::vector<uint64_t> part(all.begin(), all.begin() + 2000);
  std::vector<uint64_t> half(all.begin() + 1000, all.begin() + 2000);
  for (uint64_t i = 0; i < 1000; ++i) half.push_back(mix64(i + 100001));
  const auto sa = document_sketch(all, L, 0), sp = document_sketch(part, L, 0), sh = document_sketch(half, L, 0);
  const auto all16 = narrow<uint16_t>(sa, 16), part16 = narrow<uint16_t>(sp, 16);
  EXPECT_EQ(estimate_containment(sp.data(), sp.data(), L, 32), 1.0);
  EXPECT_EQ(estimate_containment(sp.data(), sa.data(), L, 32), 1.0);  // a subset: no component of it is smaller
  EXPECT_EQ(estimate_containment(part16.data(), all16.data(), L, 16), 1.0);
  EXPECT_NEAR(estimate_containment(sa.data(), sp.data(), L, 32), 0.25, 0.07);
  EXPECT_NEAR(estimate_containment(all16.data(), part16.data(), L, 16), 0.25, 0.07);
  EXPECT_NEAR(estimate_containment(sh.data(), sp.data(), L, 32), 0.5, 0.1);
  EXPECT_NEAR(estimate_containment(sh.data(), sa.data(), L, 32), 0.5, 0.2);
  // 0/0: every component of a is greater.
  const std::vector<uint32_t> high(L, 9), low(L, 3);
  EXPECT_EQ(estimate_containment(high.data(), low.data(), L, 32), 0.0);
}

TEST(Minhash, BadArguments) {
  for (const int64_t n : {int64_t{-1}, int64_t{0}, int64_t{15}, int64_t{4097}, int64_t{1} << 40}) {
    EXPECT_THROW(check_num_perm(n), Error) << n;
  }
  EXPECT_NO_THROW(check_num_perm(16));
  EXPECT_NO_THROW(check_num_perm(4096));
  for (const int64_t bits : {-8, 0, 1, 4, 12, 24, 64}) EXPECT_THROW(check_bits(bits), Error) << bits;
  for (const int64_t bits : {8, 16, 32}) EXPECT_NO_THROW(check_bits(bits));
  EXPECT_THROW(DocumentSketch(15, 0), Error);
  EXPECT_THROW(DocumentSketch(4097, 0), Error);
}

}  // namespace
}  // namespace neardup::minhash_test
