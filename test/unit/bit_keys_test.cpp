// Blocks of bit codes: layouts, keys, radii, and that nothing within the distance is missed.
#include "core/lsh/bit_keys.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

#include "core/base/bits.h"

namespace neardup::bit_keys_test {
namespace {

using Random = std::mt19937_64;

std::vector<uint8_t> random_code(Random& random, uint32_t bits) {
  std::vector<uint8_t> out(code_bytes(bits));
  for (uint32_t i = 0; i < bits; ++i)
    if (random() % 2 == 0) out[i / 8] |= static_cast<uint8_t>(0x80 >> i % 8);
  return out;
}

void flip(std::vector<uint8_t>* code, uint32_t bit) { (*code)[bit / 8] ^= static_cast<uint8_t>(0x80 >> bit % 8); }

uint32_t bit_at(const std::vector<uint8_t>& code, uint32_t i) { return code[i / 8] >> (7 - i % 8) & 1; }

TEST(BitKeys, EveryLengthHasALayout) {
  for (const uint32_t bits : {64u, 65u, 100u, 128u, 200u, 256u, 333u, 512u, 1024u, 2048u, 4096u}) {
    for (const uint32_t most : {0u, 3u, bits / kUsualDistancePart, bits / kMostDistancePart}) {
      for (const double rows : {0.0, 1e6, 1e8}) {
        const BitLayout layout = choose_bit_layout(bits, most, rows);
        ASSERT_TRUE(valid_layout(layout)) << bits << " bits, " << most;
        for (const uint32_t distance : {0u, most / 2, most}) {
          CodePlan plan;
          ASSERT_TRUE(plan_codes(layout, distance, &plan)) << bits << " bits, " << most << ", " << distance;
          EXPECT_LT(plan.slack, plan.groups);
          EXPECT_LE(plan.groups, layout.blocks);
          EXPECT_LE(plan.probes, kMostCodeProbes);
        }
      }
    }
  }
}

TEST(BitKeys, DamagedLayoutsAreRefused) {
  EXPECT_TRUE(valid_layout({256, 18, 31, 20}));
  EXPECT_FALSE(valid_layout({63, 18, 8, 20}));
  EXPECT_FALSE(valid_layout({4097, 18, 8, 20}));
  EXPECT_FALSE(valid_layout({256, 0, 31, 20}));
  EXPECT_FALSE(valid_layout({256, 257, 31, 20}));
  EXPECT_FALSE(valid_layout({4096, 513, 31, 20}));
  EXPECT_FALSE(valid_layout({256, 18, 65, 20}));
  EXPECT_FALSE(valid_layout({256, 18, 31, 41}));
}

// Bit i belongs to block i mod blocks; the first ones are a bit wider where the blocks do not share out the bits.
TEST(BitKeys, KeysByDefinition) {
  Random random(1);
  for (const BitLayout layout : {BitLayout{256, 18, 31, 20}, {64, 4, 8, 20}, {65, 7, 16, 20}, {4096, 300, 512, 20}}) {
    const CodeKeys keys(layout);
    const std::vector<uint8_t> code = random_code(random, layout.bits);
    std::set<uint64_t> distinct;
    for (uint32_t block = 0; block < layout.blocks; ++block) {
      const uint64_t key = keys.key(block, {code.data(), layout.bits});
      EXPECT_TRUE(distinct.insert(key).second);
      ASSERT_NE(key, kRosterKey);
      ASSERT_LE(key, kMaxKey);
      const uint32_t width = code_block_width(layout, block);
      const uint32_t low = kKeyBits - keys.prefix_bits(block);
      uint64_t value = 0;
      for (uint32_t j = 0; j < width; ++j) value |= uint64_t{bit_at(code, block + j * layout.blocks)} << j;
      EXPECT_EQ(key >> low & low_bits(width), value);
    }
  }
  EXPECT_FALSE(CodeKeys({256, 18, 31, 20}).has_further_bits());
  EXPECT_TRUE(CodeKeys({64, 4, 8, 20}).has_further_bits());
}

struct Looked {
  uint32_t hits = 0;
  bool passes = true;  // the further bits of its keys
};

Looked look_up(const BitLayout& layout, const CodePlan& plan, uint32_t distance, const BitCode& query,
               const BitCode& row) {
  const CodeKeys keys(layout);
  Looked out;
  uint32_t probes = 0;
  for (uint32_t block = 0; block < plan.groups; ++block) {
    const uint64_t stored = keys.key(block, row);
    const uint32_t low = kKeyBits - keys.prefix_bits(block);
    uint32_t of_block = 0;
    keys.for_each_near(block, query, plan.radius_in(block), [&](uint64_t probe) {
      ++probes;
      of_block += (stored ^ probe) >> low == 0;
    });
    EXPECT_LE(of_block, 1u);
    out.hits += of_block;
    if (of_block != 0) out.passes &= count_bits(stored ^ keys.key(block, query)) <= distance;
  }
  EXPECT_EQ(probes, plan.probes);
  return out;
}

TEST(BitKeys, EveryCodeWithinTheDistanceIsFound) {
  Random random(2);
  for (const uint32_t bits : {64u, 77u, 128u, 256u, 1000u, 1024u}) {
    for (const uint32_t most : {0u, 1u, 7u, bits / kUsualDistancePart, bits / kMostDistancePart}) {
      const BitLayout layout = choose_bit_layout(bits, most, 1e6);
      for (const uint32_t distance : {0u, most / 3, most - most / 8, most}) {
        CodePlan plan;
        ASSERT_TRUE(plan_codes(layout, distance, &plan));
        for (int round = 0; round < 12; ++round) {
          const std::vector<uint8_t> query = random_code(random, bits);
          std::vector<uint8_t> row = query;
          // As many bits as allowed, of neighbours in the first rounds: what spoils most blocks, and fewest.
          const uint32_t flips = round < 6 ? distance : static_cast<uint32_t>(random() % (distance + 3));
          for (uint32_t i = 0; i < flips; ++i)
            flip(&row, round == 0 ? i : round == 1 ? i * layout.blocks % bits : static_cast<uint32_t>(random() % bits));
          const BitCode a{query.data(), bits};
          const BitCode b{row.data(), bits};
          const uint32_t apart = bit_distance(a, b);
          const Looked looked = look_up(layout, plan, distance, a, b);
          if (apart <= distance) {
            EXPECT_GE(looked.hits, plan.groups - plan.slack)
                << bits << " bits, " << layout.blocks << " blocks, distance " << distance;
            EXPECT_TRUE(looked.passes);
          }
          EXPECT_LE(least_code_distance(plan, looked.hits), apart);
        }
        EXPECT_EQ(least_code_distance(plan, plan.groups), 0u);
        EXPECT_GT(least_code_distance(plan, plan.groups - plan.slack - 1), distance);
      }
    }
  }
}

// A row that differs where it costs most: the slack is met, not only kept to.
TEST(BitKeys, TheSlackIsNeeded) {
  const BitLayout layout = choose_bit_layout(256, 31, 1e6);
  CodePlan plan;
  ASSERT_TRUE(plan_codes(layout, 31, &plan));
  Random random(3);
  const std::vector<uint8_t> query = random_code(random, 256);
  std::vector<uint8_t> row = query;
  uint32_t left = 31;
  for (uint32_t block = plan.groups; block-- > 0;) {
    const auto spoils = static_cast<uint32_t>(plan.radius_in(block) + 1);
    if (spoils > left) break;
    for (uint32_t j = 0; j < spoils; ++j) flip(&row, block + j * layout.blocks);
    left -= spoils;
  }
  EXPECT_EQ(look_up(layout, plan, 31, {query.data(), 256}, {row.data(), 256}).hits, plan.groups - plan.slack);
}

}  // namespace
}  // namespace neardup::bit_keys_test
