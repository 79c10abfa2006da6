// Bands of an index: layouts, the pigeonhole, keys, and hit probabilities against enumeration and chance.
#include "core/lsh/minhash_keys.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "core/base/hash.h"
#include "core/signature/minhash.h"

namespace neardup::minhash_keys_test {
namespace {

std::vector<uint32_t> band_sizes(const BandLayout& layout) {
  std::vector<uint32_t> out;
  for (uint32_t j = 0; j < layout.bands; ++j) out.push_back(layout.begin(j + 1) - layout.begin(j));
  return out;
}

// A signature in memory of its own, so that the sanitizer sees a read outside.
std::unique_ptr<unsigned char[]> random_signature(std::mt19937_64& random, uint32_t num_perm, uint32_t bits) {
  std::unique_ptr<unsigned char[]> out(new unsigned char[num_perm * bits / 8]);
  for (uint32_t i = 0; i < num_perm * bits / 8; ++i) out[i] = static_cast<unsigned char>(random());
  return out;
}

std::vector<uint64_t> signature_keys(const BandLayout& layout, const unsigned char* signature) {
  std::vector<uint64_t> keys(layout.bands);
  band_keys(layout, signature, keys.data());
  return keys;
}

// docs/format.md, word by word.
std::vector<uint64_t> reference_keys(const BandLayout& layout, const unsigned char* signature) {
  std::vector<uint64_t> keys;
  const uint32_t width = layout.bits / 8;
  for (uint32_t j = 0; j < layout.bands; ++j) {
    uint64_t h = 0x2d358dccaa6c78a5 + (j + 1) * 0x9e3779b97f4a7c15;
    const uint32_t end = layout.begin(j + 1) * width;
    for (uint32_t at = layout.begin(j) * width; at < end; at += 8) {
      uint64_t word = 0;
      for (uint32_t i = 0; i < 8 && at + i < end; ++i) word |= static_cast<uint64_t>(signature[at + i]) << 8 * i;
      h = mum(h ^ word, 0x8bb84b93962eacc9);
    }
    keys.push_back(h);
  }
  return keys;
}

uint32_t equal_keys(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  uint32_t n = 0;
  for (size_t j = 0; j < a.size(); ++j) n += a[j] == b[j];
  return n;
}

TEST(LshBands, TheDefaultHas33Bands) {
  const BandLayout layout = choose_bands(128, 32, 0.75, 1);
  EXPECT_TRUE(layout.exact());
  EXPECT_EQ(layout.need, 96u);
  const std::vector<uint32_t> sizes = band_sizes(layout);
  EXPECT_EQ(sizes.size(), 33u);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 4u), 29);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 3u), 4);
}

// For every threshold the bands share out all components, and any D mismatches leave at least p - D of any p bands,
// found by their keys: one mismatch in each of D bands is the worst, and chance placements are no worse.
TEST(LshBands, MismatchesBreakOneBandEach) {
  std::mt19937_64 random(1);
  for (uint32_t num_perm = 16; num_perm <= 256; ++num_perm) {
    const uint32_t bits = (const uint32_t[]){8, 16, 32}[num_perm % 3];
    const auto row = random_signature(random, num_perm, bits);
    const auto other = std::unique_ptr<unsigned char[]>(new unsigned char[num_perm * bits / 8]);
    for (int percent = 1; percent <= 100; ++percent) {
      const double threshold = percent / 100.0;
      const BandLayout layout = choose_bands(num_perm, bits, threshold, 1);
      const uint32_t need = min_matches(threshold, false, num_perm, bits);
      const uint32_t mismatches = num_perm - need;
      ASSERT_TRUE(valid_layout(layout));
      ASSERT_TRUE(layout.exact());
      ASSERT_EQ(layout.need, need);
      ASSERT_EQ(layout.bands, mismatches + 1);
      const std::vector<uint32_t> sizes = band_sizes(layout);
      ASSERT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0u), num_perm);
      const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
      ASSERT_GE(*least, 1u);
      ASSERT_LE(*most - *least, 1u);

      const std::vector<uint64_t> keys = signature_keys(layout, row.get());
      const auto survivors = [&](const std::vector<uint32_t>& changed) {
        std::copy_n(row.get(), num_perm * bits / 8, other.get());
        for (const uint32_t i : changed) other[i * bits / 8] ^= static_cast<unsigned char>(1 + random() % 255);
        return equal_keys(keys, signature_keys(layout, other.get()));
      };
      std::vector<uint32_t> spread;
      for (uint32_t j = 0; j < mismatches; ++j) spread.push_back(layout.begin(j + 1) - 1);
      ASSERT_EQ(survivors(spread), 1u) << num_perm << " " << threshold;
      std::vector<uint32_t> all(num_perm);
      std::iota(all.begin(), all.end(), 0u);
      std::shuffle(all.begin(), all.end(), random);
      all.resize(mismatches);
      ASSERT_GE(survivors(all), 1u) << num_perm << " " << threshold;
    }
  }
}

// A query at a higher threshold relies on this: of any p bands p - D agree.
TEST(LshBands, AnyPBandsKeepPMinusD) {
  std::mt19937_64 random(2);
  const auto row = random_signature(random, 128, 32);
  for (const double recall : {1.0, 0.9}) {
    const BandLayout layout = choose_bands(128, 32, 0.5, recall);
    for (uint32_t mismatches = 0; mismatches < layout.bands; ++mismatches) {
      for (int trial = 0; trial < 20; ++trial) {
        std::vector<unsigned char> other(row.get(), row.get() + 512);
        std::set<uint32_t> changed;
        while (changed.size() < mismatches) changed.insert(static_cast<uint32_t>(random() % 128));
        for (const uint32_t i : changed) other[4 * i + random() % 4] ^= 0x10;
        const std::vector<uint64_t> a = signature_keys(layout, row.get());
        const std::vector<uint64_t> b = signature_keys(layout, other.data());
        std::vector<uint32_t> order(layout.bands);
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), random);
        uint32_t hits = 0;
        for (uint32_t p = 1; p <= layout.bands; ++p) {
          hits += a[order[p - 1]] == b[order[p - 1]];
          ASSERT_GE(hits + mismatches, p);
        }
      }
    }
  }
}

// Each component is in the key of its own band and of no other.
TEST(LshBands, KeysDependOnTheirBandAlone) {
  std::mt19937_64 random(3);
  for (const uint32_t bits : {8u, 16u, 32u}) {
    for (const uint32_t num_perm : {16u, 25u, 100u, 128u}) {
      for (const double threshold : {0.3, 0.75, 0.95, 1.0}) {
        for (const double recall : {1.0, 0.8}) {
          const BandLayout layout = choose_bands(num_perm, bits, threshold, recall);
          const auto row = random_signature(random, num_perm, bits);
          const std::vector<uint64_t> keys = signature_keys(layout, row.get());
          EXPECT_EQ(keys, reference_keys(layout, row.get()));
          for (uint32_t i = 0; i < num_perm * bits / 8; ++i) {
            row[i] ^= 0x40;
            const std::vector<uint64_t> changed = signature_keys(layout, row.get());
            row[i] ^= 0x40;
            for (uint32_t j = 0; j < layout.bands; ++j) {
              const bool inside = i * 8 / bits >= layout.begin(j) && i * 8 / bits < layout.begin(j + 1);
              ASSERT_EQ(keys[j] != changed[j], inside);
            }
          }
        }
      }
    }
  }
}

TEST(LshBands, KeysAreTheReferencesAtEverySize) {
  std::mt19937_64 random(4);
  for (const uint32_t bits : {8u, 16u, 32u}) {
    for (uint32_t num_perm = 16; num_perm <= 4096; num_perm += 1 + num_perm / 8) {
      const auto row = random_signature(random, num_perm, bits);
      for (const uint32_t bands : {1u, 2u, 3u, 7u, 33u, num_perm / 3, num_perm - 1, num_perm}) {
        for (const bool exact : {true, false}) {
          if (bands > std::min(num_perm, kMaxIndexBands)) continue;
          const BandLayout layout{num_perm, bits, bands, exact ? 0 : num_perm / bands, num_perm - bands + 1};
          ASSERT_TRUE(valid_layout(layout));
          ASSERT_EQ(signature_keys(layout, row.get()), reference_keys(layout, row.get()));
        }
      }
    }
  }
}

// Equal components in another band give another key: bands are numbered.
TEST(LshBands, BandsAreNumbered) {
  const std::vector<uint32_t> row(128, 7);
  const BandLayout layout{128, 32, 32, 4, 96};
  std::vector<uint64_t> keys(32);
  band_keys(layout, row.data(), keys.data());
  EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), 32u);
}

// Frozen: indexes hold these. Computed by a few lines of Python from docs/format.md.
TEST(LshBands, GoldenKeys) {
  std::vector<uint32_t> row(128);
  for (uint32_t i = 0; i < 128; ++i) row[i] = i * 0x9E3779B1u;
  std::vector<uint64_t> keys(1600);
  band_keys(choose_bands(128, 32, 0.75, 1), row.data(), keys.data());
  EXPECT_EQ(keys[0], 0xce66a8f3a1227399);
  EXPECT_EQ(keys[32], 0x6131842a710e728c);
  band_keys(choose_bands(128, 16, 0.95, 1), row.data(), keys.data());
  EXPECT_EQ(keys[6], 0xa6f6126329708f53);
  band_keys(choose_bands(128, 8, 0.9, 1), row.data(), keys.data());
  EXPECT_EQ(keys[0], 0xa49ef4805952b44a);
}

// All ways to place m equal components among 16.
TEST(HitProbability, IsThatOfEnumeration) {
  std::vector<BandLayout> layouts;
  for (uint32_t need = 1; need <= 16; ++need) layouts.push_back({16, 32, 17 - need, 0, need});
  for (uint32_t rows = 1; rows <= 16; ++rows)
    for (uint32_t bands = 1; bands * rows <= 16; ++bands) layouts.push_back({16, 32, bands, rows, 8});
  for (const BandLayout& layout : layouts) {
    ASSERT_TRUE(valid_layout(layout));
    double hit[17] = {};
    double all[17] = {};
    for (uint32_t mask = 0; mask < 1u << 16; ++mask) {
      bool any = false;
      for (uint32_t j = 0; j < layout.bands && !any; ++j) {
        const uint32_t band = (1u << layout.begin(j + 1)) - (1u << layout.begin(j));
        any = (mask & band) == band;
      }
      const int m = __builtin_popcount(mask);
      all[m] += 1;
      hit[m] += any;
    }
    for (uint32_t m = 0; m <= 16; ++m) {
      const double p = hit_probability(layout, m);
      EXPECT_NEAR(p, hit[m] / all[m], 1e-12) << layout.bands << "x" << layout.rows << " " << m;
      if (layout.exact() && m >= layout.need) {
        EXPECT_EQ(p, 1);
      }
    }
  }
}

TEST(HitProbability, IsThatOfChancePlacements) {
  std::mt19937_64 random(5);
  constexpr int kTrials = 40000;
  for (const double threshold : {0.5, 0.75, 0.9}) {
    for (const double recall : {1.0, 0.95, 0.7}) {
      const BandLayout layout = choose_bands(128, 32, threshold, recall);
      for (const uint32_t matches : {layout.need - 20, layout.need - 5, layout.need, layout.need + 5}) {
        std::vector<char> equal(128);
        std::fill(equal.begin(), equal.begin() + matches, 1);
        int hits = 0;
        for (int t = 0; t < kTrials; ++t) {
          std::shuffle(equal.begin(), equal.end(), random);
          for (uint32_t j = 0; j < layout.bands; ++j) {
            if (!std::all_of(equal.begin() + layout.begin(j), equal.begin() + layout.begin(j + 1),
                             [](char e) { return e != 0; }))
              continue;
            ++hits;
            break;
          }
        }
        const double p = hit_probability(layout, matches);
        EXPECT_NEAR(p, static_cast<double>(hits) / kTrials, 5 * std::sqrt(p * (1 - p) / kTrials) + 1e-4)
            << layout.bands << "x" << layout.rows << " " << matches;
      }
    }
  }
}

TEST(HitProbability, GrowsWithMatchesAndIsFinite) {
  for (const uint32_t num_perm : {16u, 100u, 128u, 1000u, 4096u}) {
    for (const BandLayout& layout :
         {choose_bands(num_perm, 32, 0.7, 0.9), choose_bands(num_perm, 32, 0.9, 1), choose_bands(num_perm, 32, 1, 1)}) {
      double before = 0;
      for (uint32_t m = 0; m <= num_perm; m += 1 + num_perm / 50) {
        const double p = hit_probability(layout, m);
        EXPECT_GE(p, before - 1e-12);
        EXPECT_LE(p, 1);
        before = p;
      }
      EXPECT_EQ(hit_probability(layout, num_perm), 1);
      EXPECT_EQ(hit_probability(layout, 0), 0);
    }
  }
}

// The promise is kept, never with more bands than the exact layout, and no layout of fewer bands and as many rows keeps
// it: what is chosen is a best trade between the two.
TEST(ChooseBands, RecallIsKeptAtLeastCost) {
  for (const uint32_t num_perm : {16u, 64u, 128u, 256u}) {
    for (const uint32_t bits : {8u, 32u}) {
      for (const double threshold : {0.1, 0.4, 0.5, 0.6, 0.75, 0.8, 0.9, 0.95, 0.99, 1.0}) {
        const BandLayout exact = choose_bands(num_perm, bits, threshold, 1);
        for (const double recall : {0.1, 0.5, 0.9, 0.95, 0.99, 0.9999, 1 - 1e-9}) {
          const BandLayout layout = choose_bands(num_perm, bits, threshold, recall);
          ASSERT_TRUE(valid_layout(layout));
          EXPECT_EQ(layout.need, exact.need);
          EXPECT_LE(layout.bands, exact.bands);
          EXPECT_GE(hit_probability(layout, layout.need), recall);
          for (uint32_t m = layout.need; m <= num_perm; ++m) ASSERT_GE(hit_probability(layout, m), recall);
          if (layout.exact()) continue;
          if (layout.bands > 1) {
            BandLayout fewer = layout;
            --fewer.bands;
            EXPECT_LT(hit_probability(fewer, fewer.need), recall) << num_perm << " " << threshold << " " << recall;
          }
          BandLayout longer = layout;
          if (++longer.rows * longer.bands <= num_perm) {
            EXPECT_LT(hit_probability(longer, longer.need), recall) << num_perm << " " << threshold << " " << recall;
          }
        }
      }
    }
  }
}

TEST(ChooseBands, RecallBuysFewerBands) {
  for (const double threshold : {0.5, 0.6, 0.7, 0.75, 0.8, 0.9}) {
    const uint32_t exact = choose_bands(128, 32, threshold, 1).bands;
    uint32_t before = exact;
    for (const double recall : {0.99, 0.95, 0.9}) {
      const BandLayout layout = choose_bands(128, 32, threshold, recall);
      EXPECT_FALSE(layout.exact());
      EXPECT_LT(layout.bands, exact);
      // Unrelated rows that agree by chance: no more than in the exact layout, or hardly any.
      EXPECT_LE(lsh_probability(0.1, layout.bands, layout.rows),
                std::max(lsh_probability(0.1, exact, (128 + exact - 1) / exact), 1e-5));
      EXPECT_LE(layout.bands, before);
      before = layout.bands;
    }
  }
  const BandLayout layout = choose_bands(128, 32, 0.75, 0.95);
  EXPECT_EQ(layout.bands, 14u);
  EXPECT_EQ(layout.rows, 6u);
}

TEST(ChooseBands, LimitsAndErrors) {
  const auto error_code = [](uint32_t num_perm, uint32_t bits, double threshold, double recall) {
    try {
      choose_bands(num_perm, bits, threshold, recall);
    } catch (const Error& e) {
      EXPECT_FALSE(std::string(e.what()).empty());
      return static_cast<int>(e.code());
    }
    return -1;
  };
  const int invalid = static_cast<int>(Errc::invalid_argument);
  const int large = static_cast<int>(Errc::too_large);
  for (const double bad : {0.0, -1.0, 1.0000001, 80.0, HUGE_VAL, std::nan("")}) {
    EXPECT_EQ(error_code(128, 32, bad, 1), invalid);
    EXPECT_EQ(error_code(128, 32, 0.75, bad), invalid);
  }
  EXPECT_EQ(error_code(4096, 32, 0.5, 1), large);
  EXPECT_EQ(error_code(4096, 32, 0.5, 0.99), -1);
  EXPECT_EQ(error_code(4096, 32, 0.001, 0.999999), large);  // five equal components of 4096
  EXPECT_EQ(error_code(1600, 32, 1e-9, 1), -1);
  EXPECT_EQ(error_code(1601, 32, 1e-9, 1), large);
  EXPECT_EQ(choose_bands(1600, 32, 1e-9, 1).bands, 1600u);
  EXPECT_EQ(choose_bands(4096, 8, 1, 0.5).bands, 1u);
}

TEST(ValidLayout, RefusesWhatWouldReadOutside) {
  const BandLayout good{128, 32, 33, 0, 96};
  EXPECT_TRUE(valid_layout(good));
  for (const BandLayout& bad :
       {BandLayout{15, 32, 5, 0, 11}, BandLayout{4097, 32, 33, 0, 4065}, BandLayout{128, 24, 33, 0, 96},
        BandLayout{128, 32, 0, 0, 129}, BandLayout{128, 32, 34, 0, 96}, BandLayout{128, 32, 33, 4, 96},
        BandLayout{128, 32, 129, 1, 96}, BandLayout{128, 32, 1, 129, 96}, BandLayout{128, 32, 33, 0, 0},
        BandLayout{128, 32, 65535, 65535, 96}, BandLayout{4096, 32, 1601, 2, 96}, BandLayout{4096, 32, 1601, 0, 2496}})
    EXPECT_FALSE(valid_layout(bad)) << bad.bands << "x" << bad.rows;
  EXPECT_TRUE(valid_layout({128, 32, 32, 4, 96}));
  EXPECT_TRUE(valid_layout({128, 32, 1, 128, 96}));
}

TEST(LshProbability, IsTheTextbooks) {
  for (const double s : {0.0, 0.1, 0.5, 0.8, 1.0}) {
    for (const uint32_t bands : {1u, 20u, 100u}) {
      for (const uint32_t rows : {1u, 5u, 20u}) {
        EXPECT_NEAR(lsh_probability(s, bands, rows), 1 - std::pow(1 - std::pow(s, rows), bands), 1e-12);
      }
    }
  }
  EXPECT_NEAR(lsh_probability(1e-3, 3, 10) / 3e-30, 1, 1e-12);  // where 1 - (1 - x) is 0
  EXPECT_EQ(lsh_probability(0, 5, 5), 0);
  EXPECT_EQ(lsh_probability(1, 5, 5), 1);
}

}  // namespace
}  // namespace neardup::minhash_keys_test
