// All pairs of bit codes equal those of comparing everything, for every length, distance, memory limit and thread.
#include "core/pairs/bits/bit_pairs.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>

#include "core/base/error.h"
#include "core/base/union_find.h"
#include "core/pairs/bits/bit_plan.h"

#include "test/reference/pairs_by_definition.h"
#include "test/reference/stdio_temp_file.h"
#include "test/unit/support.h"

namespace neardup::bit_pairs_test {
namespace {

using reference::Pair;
using reference::StdioTempFiles;
using test::Random;

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

struct Setting {
  size_t limit = SIZE_MAX;
  unsigned threads = 1;
  Identical identical = Identical::all;
};

std::vector<Pair> search(const Codes& all, size_t count_a, uint32_t bits, uint32_t most, const Setting& setting) {
  StdioTempFiles files;
  std::vector<Pair> out;
  {
    BitPairs engine(
        bits, most,
        {.memory_limit = setting.limit, .files = &files, .threads = setting.threads, .identical = setting.identical});
    for (size_t i = 0; i < all.size(); ++i) {
      if (i == count_a) engine.start_set_b();
      engine.add({all[i].data(), bits});
    }
    engine.run();
    RowPair some[100];
    while (const size_t n = engine.next(some, 100)) {
      for (size_t i = 0; i < n; ++i) out.emplace_back(some[i].a, some[i].b, some[i].value);
    }
    EXPECT_LE(engine.stats().peak_bytes, setting.limit);
  }
  EXPECT_EQ(files.open, 0);
  return out;
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
              ASSERT_EQ(search(codes, count_a, bits, most, {.threads = threads, .identical = identical}), expected)
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
        ASSERT_EQ(search(codes, codes.size(), bits, most, {.threads = 2}), expected);
        const size_t limit = bits == 1024 ? SIZE_MAX : size_t{512} * 1024;
        ASSERT_EQ(search(codes, codes.size(), bits, most, {.limit = limit}), expected);
        const std::vector<Pair> of_two = by_definition(codes, 700, most, Identical::all);
        ASSERT_EQ(search(codes, 700, bits, most, {.threads = 2}), of_two);
        ASSERT_EQ(search(codes, 700, bits, most, {.limit = limit}), of_two);
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
      BitPairs engine(bits, most, {.threads = 2});
      for (const Code& code : codes) engine.add({code.data(), bits});
      engine.run();
      std::vector<Pair> found;
      RowPair some[100];
      while (const size_t n = engine.next(some, 100))
        for (size_t i = 0; i < n; ++i) found.emplace_back(some[i].a, some[i].b, some[i].value);
      EXPECT_FALSE(engine.stats().brute_force) << bits << " bits, distance " << most;
      ASSERT_EQ(found, expected) << bits << " bits, distance " << most;
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
  const auto n = static_cast<uint32_t>(codes.size());
  UnionFind expected(n);
  for (const Pair& p : by_definition(codes, n, 31, Identical::all)) expected.unite(std::get<0>(p), std::get<1>(p));
  BitPairs engine(kBits, 31, {});
  for (const Code& code : codes) engine.add({code.data(), kBits});
  UnionFind sets(n);
  engine.run_components(sets);
  std::vector<uint32_t> others(n);
  for (uint32_t i = 0; i < n; ++i) {
    EXPECT_EQ(sets.find(i), expected.find(i));
    others[i] = static_cast<uint32_t>(random() % n);
  }
  std::vector<uint32_t> values(n);
  engine.values_with(others.data(), values.data());
  for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(values[i], code_distance(codes[i], codes[others[i]]));
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
