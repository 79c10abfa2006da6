// All pairs of bit codes equal those of comparing everything, for every length, distance, memory limit and thread.
#include "core/pairs/bits/bit_pairs.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>

#include "core/base/error.h"
#include "core/pairs/bits/bit_plan.h"

#include "test/unit/pair_engines.h"
#include "test/unit/support.h"

namespace neardup::bit_pairs_test {
namespace {

using reference::Pair;
using test::Random;
using test::Setting;

using Code = std::vector<uint8_t>;
using Codes = std::vector<Code>;

// Groups of near codes, copies, and of some bits all have one value: `skew` of 8 are always 0.
Codes make_codes(Random& random, size_t n, uint32_t bits, uint32_t most, unsigned skew) {
  Codes out;
  for (size_t i = 0; i < n; ++i) {
    Code code(code_bytes(bits));
    if (i > 0 && random() % 3 != 0) {
      code = out[random() % out.size()];
      const size_t flips = random() % 4 == 0 ? 0 : random() % (most + 2);
      for (size_t f = 0; f < flips; ++f) {
        const auto bit = static_cast<uint32_t>(random() % bits);
        code[bit / 8] ^= static_cast<uint8_t>(0x80 >> bit % 8);
      }
    } else {
      for (uint32_t bit = 0; bit < bits; ++bit)
        if (bit % 8 >= skew && random() % 2 == 0) code[bit / 8] |= static_cast<uint8_t>(0x80 >> bit % 8);
    }
    out.push_back(code);
  }
  return out;
}

uint32_t code_distance(const Code& a, const Code& b) {
  uint32_t n = 0;
  for (size_t i = 0; i < a.size(); ++i) n += static_cast<uint32_t>(std::popcount(static_cast<uint8_t>(a[i] ^ b[i])));
  return n;
}

std::vector<Pair> by_definition(const Codes& all, size_t count_a, uint32_t most, Identical identical) {
  return reference::pairs_by_definition(
      static_cast<uint32_t>(all.size()), static_cast<uint32_t>(count_a),
      [&](uint32_t i, uint32_t j) -> std::optional<uint32_t> {
        const uint32_t d = code_distance(all[i], all[j]);
        return d <= most ? std::optional(d) : std::nullopt;
      },
      [&](uint32_t i, uint32_t j) { return all[i] == all[j]; }, identical, {}, {});
}

test::Found search(const Codes& all, size_t count_a, uint32_t bits, uint32_t most, const Setting& setting) {
  return test::search(
      all.size(), count_a, setting, [&](const EngineOptions& options) { return BitPairs(bits, most, options); },
      [&](BitPairs& engine, uint32_t i) {
        engine.add({all[i].data(), bits});
      });
}

TEST(BitPairs, EqualsComparingEverything) {
  Random random(1);
  for (const uint32_t bits : {64u, 65u, 128u, 256u, 1024u}) {
    for (const uint32_t most : {0u, 1u, 5u, bits / 8, bits / 4, bits}) {
      for (const unsigned skew : {0u, 7u}) {
        const Codes codes = make_codes(random, 240, bits, most, skew);
        for (const size_t count_a : {codes.size(), codes.size() / 3, size_t{0}}) {
          for (const Identical identical : {Identical::all, Identical::star, Identical::none}) {
            const std::vector<Pair> expected = by_definition(codes, count_a, most, identical);
            for (const unsigned threads : {1u, 3u})
              ASSERT_EQ(search(codes, count_a, bits, most, {.threads = threads, .identical = identical}).pairs,
                        expected)
                  << bits << " bits, distance " << most << ", skew " << skew << ", " << count_a << " of A, " << threads;
          }
        }
      }
    }
  }
}

// Enough rows for blocks, radii and several tiles.
TEST(BitPairs, ManyRows) {
  Random random(2);
  for (const uint32_t bits : {64u, 256u, 1024u}) {
    for (const uint32_t most : {3u, bits / 8}) {
      for (const unsigned skew : {0u, 5u}) {
        const Codes codes = make_codes(random, 2000, bits, most, skew);
        const std::vector<Pair> expected = by_definition(codes, codes.size(), most, Identical::all);
        const size_t limit = bits == 1024 ? SIZE_MAX : size_t{512} * 1024;
        const std::vector<Pair> of_two = by_definition(codes, 700, most, Identical::all);
        for (const Setting& s : {Setting{.threads = 2}, Setting{.limit = limit}}) {
          const test::Found found = search(codes, codes.size(), bits, most, s),
                            between = search(codes, 700, bits, most, s);
          ASSERT_EQ(found.pairs, expected);
          ASSERT_EQ(between.pairs, of_two);
          EXPECT_LE(std::max(found.stats.peak_bytes, between.stats.peak_bytes), s.limit);
        }
      }
    }
  }
}

// So many rows that keys of blocks are searched, and not all with all; near codes agree in several blocks.
TEST(BitPairs, ByBlocks) {
  Random random(5);
  for (const uint32_t bits : {64u, 256u}) {
    for (const uint32_t most : {3u, bits / 12}) {
      const Codes codes = make_codes(random, 5000, bits, most, 0);
      const std::vector<Pair> expected = by_definition(codes, codes.size(), most, Identical::all);
      const test::Found found = search(codes, codes.size(), bits, most, {.threads = 2});
      EXPECT_FALSE(found.stats.brute_force) << bits << " bits, distance " << most;
      ASSERT_EQ(found.pairs, expected) << bits << " bits, distance " << most;
    }
  }
}

// A plan finds every pair if the radii add up, and no bit is in two blocks. pair_cost is such that the search is worth
// blocks, and a sample.
TEST(BitPairs, PlansAreComplete) {
  Random random(4);
  for (const uint32_t bits : {64u, 256u, 4096u}) {
    for (const unsigned skew : {0u, 7u}) {
      const Codes codes = make_codes(random, 3000, bits, bits / 8, skew);
      const size_t words = code_words(bits);
      std::vector<uint64_t> all(codes.size() * words);
      for (size_t i = 0; i < codes.size(); ++i) std::memcpy(&all[i * words], codes[i].data(), codes[i].size());
      const BitEntries e{all.data(), nullptr, words, static_cast<uint32_t>(words * 64), codes.size(), codes.size()};
      for (const uint32_t most : {0u, 4u, bits / 16, bits / 8}) {
        for (const double pair_cost : {0.5, 50.0, 5000.0}) {
          Poller poller(nullptr);
          const BitPlan plan = choose_bit_plan(e, false, most, pair_cost, poller);
          if (plan.key_bits == 0) continue;
          uint32_t sum = 0;
          for (unsigned block = 0; block < plan.blocks; ++block)
            sum += static_cast<uint32_t>(plan.radius_in(block) + 1);
          EXPECT_EQ(sum, most + 1);
          ASSERT_EQ(plan.placed.size(), size_t{plan.blocks} * plan.key_bits);
          std::vector<uint16_t> bits_used = plan.placed;
          std::sort(bits_used.begin(), bits_used.end());
          EXPECT_EQ(std::unique(bits_used.begin(), bits_used.end()), bits_used.end());
          EXPECT_LT(bits_used.back(), words * 64);
        }
      }
    }
  }
}

TEST(BitPairs, ComponentsAndValues) {
  Random random(3);
  constexpr uint32_t kBits = 256;
  const Codes codes = make_codes(random, 500, kBits, 31, 0);
  BitPairs engine(kBits, 31, {});
  for (const Code& code : codes) engine.add({code.data(), kBits});
  test::check_components(engine, 500, by_definition(codes, 500, 31, Identical::all),
                         [&](uint32_t i, uint32_t j) { return code_distance(codes[i], codes[j]); });
  std::vector<uint32_t> others(500), values(500);
  for (uint32_t& other : others) other = static_cast<uint32_t>(random() % 500);
  engine.values_with(others.data(), values.data());
  for (uint32_t i = 0; i < 500; ++i) EXPECT_EQ(values[i], code_distance(codes[i], codes[others[i]]));
}

TEST(BitPairs, RefusesWhatIsNoCode) {
  EXPECT_THROW(BitPairs(63, 1, {}), Error);
  EXPECT_THROW(BitPairs(4097, 1, {}), Error);
  EXPECT_THROW(BitPairs(64, 65, {}), Error);
}

TEST(BitPairs, DistanceOfAThreshold) {
  EXPECT_EQ(most_bit_distance(256, 1 - 31 / 256.0), 31u);
  EXPECT_EQ(most_bit_distance(256, 1), 0u);
  EXPECT_EQ(most_bit_distance(64, 0.9), 6u);
  EXPECT_EQ(most_bit_distance(4096, 1e-9), 4095u);
  for (uint32_t d = 0; d <= 300; ++d) EXPECT_EQ(most_bit_distance(300, 1 - d / 300.0), std::min(d, 300u)) << d;
}

}  // namespace
}  // namespace neardup::bit_pairs_test
