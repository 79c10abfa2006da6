// Blocks of simhashes: keys, radii, and that nothing within the distance is missed.
#include "core/lsh/simhash_keys.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

#include "core/signature/simhash.h"

namespace neardup::simhash_keys_test {
namespace {

TEST(LshBlocks, WidthsShareOutTheValue) {
  for (uint32_t blocks = kFewestBlocks; blocks <= kMaxSimhashBlocks; ++blocks) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < blocks; ++i) {
      EXPECT_EQ(block_begin(blocks, i), sum);
      EXPECT_LE(block_width(blocks, i), block_width(blocks, 0));
      EXPECT_LE(block_width(blocks, i), kBlockValueBits);
      sum += block_width(blocks, i);
    }
    EXPECT_EQ(sum, 64u);
    EXPECT_EQ(block_width(blocks, 0), (64 + blocks - 1) / blocks);
  }
}

TEST(LshBlocks, Keys) {
  constexpr uint64_t v = 0x0123456789abcdefULL;
  EXPECT_EQ(block_key(4, 0, v), (uint64_t{1} << 37 | v >> 27));
  EXPECT_EQ(block_key(4, 1, v), (uint64_t{2} << 37 | 0x456789abcdef0123ULL >> 27));
  EXPECT_EQ(block_key(4, 3, v), (uint64_t{4} << 37 | 0xcdef0123456789abULL >> 27));
  EXPECT_EQ(block_key(7, 6, ~uint64_t{0}), (uint64_t{1} << 40) - 1);
  EXPECT_NE(block_key(2, 0, 0), 0u);
}

// The numbers are sums of binomial coefficients.
TEST(LshBlocks, ProbesByDistance) {
  const struct {
    uint32_t blocks, distance, probes;
  } known[] = {{4, 0, 1},   {4, 2, 3},   {4, 3, 4},    {4, 4, 20}, {4, 5, 36},  {4, 6, 52},
               {4, 7, 68},  {4, 8, 188}, {4, 11, 548}, {3, 3, 24}, {3, 4, 45},  {3, 5, 67},
               {3, 6, 277}, {3, 7, 487}, {3, 8, 718},  {2, 3, 66}, {2, 4, 562}, {2, 5, 1058}};
  for (const auto& k : known) {
    BlockPlan plan;
    ASSERT_TRUE(plan_blocks(k.blocks, k.distance, &plan));
    EXPECT_EQ(plan.probes, k.probes) << k.blocks << " blocks, distance " << k.distance;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < k.blocks; ++i) sum += static_cast<uint32_t>(plan.radius[i] + 1);
    EXPECT_EQ(sum, k.distance + 1);
  }
  EXPECT_EQ(most_distance(4), 15u);
  EXPECT_EQ(most_distance(3), 10u);
  EXPECT_EQ(most_distance(2), 5u);
  BlockPlan plan;
  EXPECT_FALSE(plan_blocks(4, 16, &plan));
  EXPECT_FALSE(plan_blocks(4, 64, &plan));
}

std::vector<uint64_t> probes(uint32_t blocks, const BlockPlan& plan, uint64_t value, std::vector<uint32_t>* block_of) {
  std::vector<uint64_t> out;
  for (uint32_t i = 0; i < blocks; ++i) {
    if (plan.radius[i] < 0) continue;
    for_block_values(blocks, i, value, plan.radius[i], [&](uint64_t key) {
      out.push_back(key);
      block_of->push_back(i);
    });
  }
  return out;
}

TEST(LshBlocks, ReachesFartherStepByStep) {
  for (uint32_t blocks = kFewestBlocks; blocks <= kMaxSimhashBlocks; ++blocks) {
    double beyond = -1;
    uint32_t distance;
    for (uint32_t step = 1; next_reach(blocks, beyond, &distance); ++step) {
      EXPECT_EQ(distance, step * blocks - 1);
      BlockPlan plan;
      ASSERT_TRUE(plan_blocks(blocks, distance, &plan));
      EXPECT_LE(plan.probes, kMaxReachProbes);
      for (uint32_t i = 0; i < blocks; ++i) EXPECT_EQ(plan.radius[i], static_cast<int>(step) - 1);
      beyond = distance;
    }
    EXPECT_GE(beyond, blocks - 1);
  }
  uint32_t distance;
  EXPECT_FALSE(next_reach(4, 63, &distance));
}

TEST(LshBlocks, EveryValueWithinTheDistanceIsFound) {
  std::mt19937_64 random(7);
  for (uint32_t blocks = kFewestBlocks; blocks <= kMaxSimhashBlocks; ++blocks) {
    for (uint32_t distance = 0; distance <= std::min(most_distance(blocks), 12u); ++distance) {
      BlockPlan plan;
      ASSERT_TRUE(plan_blocks(blocks, distance, &plan));
      const uint64_t query = random();
      std::vector<uint32_t> block_of;
      const std::vector<uint64_t> keys = probes(blocks, plan, query, &block_of);
      ASSERT_EQ(keys.size(), plan.probes);
      EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), keys.size());
      for (int round = 0; round < 200; ++round) {
        uint64_t row = query;
        const uint32_t flips = round == 0 ? distance : static_cast<uint32_t>(random() % (distance + 3));
        for (uint32_t i = 0; i < flips; ++i) row ^= uint64_t{1} << random() % 64;
        const int apart = hamming_distance(query, row);
        uint32_t hits = 0;
        bool checked = true;
        for (size_t p = 0; p < keys.size(); ++p) {
          const uint32_t i = block_of[p];
          const uint64_t key = block_key(blocks, i, row);
          if ((key ^ keys[p]) >> (kBlockValueBits - block_width(blocks, i)) != 0) continue;
          ++hits;
          checked = checked && hamming_distance(key, block_key(blocks, i, query)) <= static_cast<int>(distance);
        }
        if (apart <= static_cast<int>(distance)) {
          EXPECT_GT(hits, 0u) << blocks << " blocks, distance " << distance;
          EXPECT_TRUE(checked);
        }
        EXPECT_LE(least_distance(blocks, plan, hits), static_cast<uint32_t>(apart));
      }
      EXPECT_EQ(least_distance(blocks, plan, blocks), 0u);
      EXPECT_EQ(least_distance(blocks, plan, 0), distance + 1);
    }
  }
}

}  // namespace
}  // namespace neardup::simhash_keys_test
