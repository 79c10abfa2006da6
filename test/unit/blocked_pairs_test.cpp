// Candidate pairs against the definition: every pair of rows compared, every block counted.
#include "core/pairs/blocked_pairs.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"
#include "test/unit/support.h"

namespace neardup::blocked_pairs_test {
namespace {

using reference::StdioTempFiles;
using reference::StopAfter;
using test::Random;

struct Row {
  std::vector<uint64_t> hashes;
  uint64_t present;
};
using Rows = std::vector<Row>;
using Pairs = std::vector<std::tuple<uint32_t, uint32_t, uint64_t>>;
using Blocks = std::vector<std::tuple<uint64_t, uint32_t, uint64_t, uint64_t, uint64_t>>;  // pairs, key, hash, rows

Rows make(Random& random, size_t n, uint32_t keys, uint64_t values) {
  Rows out(n);
  for (Row& row : out) {
    row.present = random();
    for (uint32_t k = 0; k < keys; ++k) {
      // Some values are much more frequent than others; hashes of few bits must not be mistaken for small numbers.
      const uint64_t v = random() % values * (random() % 3 != 0);
      row.hashes.push_back(v * 0x9e3779b97f4a7c15u);
    }
  }
  return out;
}

// The pairs by the definition. b null: one set.
void by_definition(const Rows& a, const Rows* b, uint32_t keys, uint64_t most, const std::vector<uint32_t>& rank_a,
                   const std::vector<uint32_t>& rank_b, Pairs* pairs, Blocks* oversized) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> found;
  for (uint32_t k = 0; k < keys; ++k) {
    std::map<uint64_t, std::array<std::vector<uint32_t>, 2>> blocks;
    for (uint32_t i = 0; i < a.size(); ++i)
      if (a[i].present >> k & 1) blocks[a[i].hashes[k]][0].push_back(rank_a[i]);
    for (uint32_t i = 0; b != nullptr && i < b->size(); ++i)
      if ((*b)[i].present >> k & 1) blocks[(*b)[i].hashes[k]][1].push_back(rank_b[i]);
    for (auto& [hash, rows] : blocks) {
      const uint64_t na = rows[0].size(), nb = rows[1].size();
      const uint64_t all = b != nullptr ? na * nb : na * (na - 1) / 2;
      if (all == 0) continue;
      if (na > most || nb > most) {
        oversized->emplace_back(all, k, hash, na, nb);
        continue;
      }
      for (const uint32_t x : rows[0]) {
        for (const uint32_t y : b != nullptr ? rows[1] : rows[0]) {
          if (b != nullptr || x < y) found[{x, y}] |= uint64_t{1} << k;
        }
      }
    }
  }
  for (const auto& [pair, keys_of] : found) pairs->emplace_back(pair.first, pair.second, keys_of);
  std::sort(oversized->begin(), oversized->end(), [](const auto& x, const auto& y) {
    return std::get<0>(x) != std::get<0>(y) ? std::get<0>(x) > std::get<0>(y) : x < y;
  });
}

void add_all(BlockedPairs* engine, const Rows& rows) {
  for (const Row& row : rows) engine->add(row.hashes.data(), row.present);
}

Pairs read_all(BlockedPairs* engine, size_t batch) {
  Pairs out;
  std::vector<BlockedPair> some(batch);
  while (const size_t n = engine->next(some.data(), batch))
    for (size_t i = 0; i < n; ++i) out.emplace_back(some[i].a, some[i].b, some[i].keys);
  return out;
}

std::vector<uint32_t> order(Random& random, size_t n, bool shuffled) {
  std::vector<uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0u);
  if (shuffled) std::shuffle(out.begin(), out.end(), random);
  return out;
}

TEST(BlockedPairs, AreThoseOfTheDefinition) {
  Random random(1);
  size_t found = 0, too_large = 0;
  for (int round = 0; round < 120; ++round) {
    const uint32_t keys = round % 10 == 0 ? 64 : 1 + static_cast<uint32_t>(random() % 5);
    const size_t n = random() % 300;
    const bool two = round % 2 == 1, shuffled = round % 3 == 0, limited = round % 4 < 2;
    const Rows a = make(random, n, keys, 1 + random() % 400),
               b = make(random, random() % 300, keys, 1 + random() % 400);
    const uint32_t most = 1 + static_cast<uint32_t>(random() % 60);
    const std::vector<uint32_t> rank_a = order(random, a.size(), shuffled), rank_b = order(random, b.size(), shuffled);
    Pairs want;
    Blocks want_oversized;
    by_definition(a, two ? &b : nullptr, keys, most, rank_a, rank_b, &want, &want_oversized);

    StdioTempFiles files;
    for (const bool emit : {true, false}) {
      const size_t listed = random() % 3 == 0 ? 2 : SIZE_MAX;
      BlockedPairs engine(
          keys, {.memory_limit = 0, .files = limited ? &files : nullptr, .max_block = most, .listed = listed});
      add_all(&engine, a);
      if (two) {
        engine.start_set_b();
        add_all(&engine, b);
      }
      if (emit) {
        engine.run(shuffled ? rank_a.data() : nullptr, shuffled ? rank_b.data() : nullptr);
        ASSERT_EQ(read_all(&engine, 1 + random() % 100), want) << "round " << round;
      } else {
        engine.count();
      }
      ASSERT_EQ(engine.stats().oversized, want_oversized.size());
      ASSERT_EQ(engine.oversized().size(), std::min(listed, want_oversized.size()));
      for (size_t i = 0; i < engine.oversized().size(); ++i) {
        const OversizedBlock& x = engine.oversized()[i];
        const auto& [all, key, hash, na, nb] = want_oversized[i];
        ASSERT_EQ(std::tie(x.key, x.hash, x.rows_a, x.rows_b), std::tie(key, hash, na, nb));
      }
      uint64_t lost = 0;
      for (const auto& x : want_oversized) lost += std::get<0>(x);
      ASSERT_EQ(engine.stats().oversized_pairs, lost);
    }
    found += want.size();
    too_large += want_oversized.size();
  }
  EXPECT_GT(found, 10000u);
  EXPECT_GT(too_large, 100u);
}

TEST(BlockedPairs, StayWithinTheirMemory) {
  Random random(2);
  const Rows rows = make(random, 60000, 3, 20000);
  StdioTempFiles files;
  BlockedPairs small(3, {.memory_limit = 1 << 20, .files = &files, .max_block = 200});
  BlockedPairs large(3, {.max_block = 200});
  for (BlockedPairs* engine : {&small, &large}) {
    add_all(engine, rows);
    engine->run(nullptr, nullptr);
  }
  EXPECT_GT(small.stats().spilled_bytes, 1u << 20);
  EXPECT_LE(small.stats().peak_bytes, (1u << 20) + 65536);
  EXPECT_EQ(large.stats().spilled_bytes, 0u);
  EXPECT_EQ(read_all(&small, 1000), read_all(&large, 77));
  EXPECT_EQ(small.stats().emitted, large.stats().emitted);
}

TEST(BlockedPairs, NothingToPair) {
  BlockedPairs none(1, {});
  none.run(nullptr, nullptr);
  BlockedPair pair;
  EXPECT_EQ(none.next(&pair, 1), 0u);
  BlockedPairs one_sided(1, {});
  const uint64_t hash = 7;
  for (int i = 0; i < 5; ++i) one_sided.add(&hash, 1);
  one_sided.start_set_b();
  one_sided.run(nullptr, nullptr);
  EXPECT_EQ(one_sided.next(&pair, 1), 0u);
  EXPECT_EQ(one_sided.stats().oversized, 0u);
}

TEST(BlockedPairs, Limits) {
  EXPECT_THROW(BlockedPairs(0, {}), Error);
  EXPECT_THROW(BlockedPairs(65, {}), Error);
  EXPECT_THROW(BlockedPairs(1, {.max_block = 0}), Error);
  EXPECT_THROW(BlockedPairs(1, {.max_block = kMaxBlockRows + 1}), Error);
}

TEST(BlockedPairs, AreCancelledAndFailCleanly) {
  Random random(3);
  const Rows rows = make(random, 20000, 3, 5000);
  const auto all = [&](StdioTempFiles* files, StopCheck* stop) {
    BlockedPairs engine(3, {.memory_limit = 0, .files = files, .stop = stop, .max_block = 100});
    add_all(&engine, rows);
    engine.run(nullptr, nullptr);
    return read_all(&engine, 512).size();
  };
  StdioTempFiles files;
  const size_t whole = all(&files, nullptr);
  const int64_t calls = files.calls;
  int failed = 0;
  for (const int64_t part : {0, 1, 3, 10, 30, 60, 99}) {
    StdioTempFiles some;
    some.calls_left = calls * part / 100;
    EXPECT_THROW(all(&some, nullptr), Error) << part;
    EXPECT_EQ(some.open, 0);
  }
  for (int left = 0; left < 20; ++left) {
    StopAfter stop(left);
    StdioTempFiles some;
    try {
      EXPECT_EQ(all(&some, &stop), whole);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::cancelled);
      ++failed;
    }
    EXPECT_EQ(some.open, 0);
  }
  EXPECT_GT(failed, 3);
}

}  // namespace
}  // namespace neardup::blocked_pairs_test
