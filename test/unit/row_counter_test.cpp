// Rows that come often in lists: the same as counting in a map, in order, whatever the lists look like.
#include "core/lsh/row_counter.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "test/unit/support.h"

namespace neardup::row_counter_test {
namespace {

using Rows = std::vector<std::pair<uint64_t, unsigned>>;
using Lists = std::vector<std::vector<uint64_t>>;

uint64_t tid(uint64_t block, uint64_t offset) { return block << 16 | offset; }

Rows defined(const Lists& lists, unsigned least) {
  std::map<uint64_t, unsigned> hits;
  for (const auto& list : lists)
    for (const uint64_t t : list) ++hits[t];
  Rows out;
  for (const auto& [t, n] : hits)
    if (n >= least) out.emplace_back(t, std::min(n, RowCounter::kMaxHits));
  return out;
}

// Garbage before, as in memory that is not cleared.
std::unique_ptr<RowCounter> new_counter() {
  std::unique_ptr<RowCounter> counter(new RowCounter);
  std::fill_n(reinterpret_cast<unsigned char*>(counter.get()), sizeof(RowCounter), static_cast<unsigned char>(0xa5));
  counter->clear();
  return counter;
}

Rows counted(RowCounter& counter, const Lists& lists, unsigned least) {
  counter.clear();
  std::vector<uint64_t> all;
  for (const auto& list : lists) {
    // In two parts, and from a place that moves.
    std::vector<uint64_t> moved(all);
    moved.insert(moved.end(), list.begin(), list.begin() + static_cast<ptrdiff_t>(list.size() / 2));
    counter.add(moved.data(), static_cast<uint32_t>(moved.size()));
    if (list.size() % 3 == 0) counter.is_worth(moved.data());  // as often as one likes
    moved.insert(moved.end(), list.begin() + static_cast<ptrdiff_t>(list.size() / 2), list.end());
    counter.add(moved.data(), static_cast<uint32_t>(moved.size()));
    all.swap(moved);
  }
  Rows out;
  const bool worth = counter.is_worth(all.data());
  EXPECT_TRUE(worth);
  if (worth) counter.at_least(all.data(), least, [&](uint64_t t, unsigned hits) { out.emplace_back(t, hits); });
  return out;
}

// 16 rows a block, so 2048 blocks in a window: lists that end and go on at its last row and at the next one's first.
TEST(RowCounter, EndsOfWindows) {
  const auto counter = new_counter();
  Lists lists(3);
  for (const uint64_t window : {1u, 2u, 3u}) {
    lists[0].push_back(tid(2048 * window - 1, 15));
    lists[0].push_back(tid(2048 * window, 0));
    lists[1].push_back(tid(2048 * window - 1, 14));
    lists[1].push_back(tid(2048 * window - 1, 15));
    lists[2].push_back(tid(2048 * window, 0));
    lists[2].push_back(tid(2048 * window, 1));
  }
  for (auto& list : lists) {
    list.insert(list.begin(), tid(0, 0));
    for (uint64_t block = 2048 * 3 + 1; block < 2048 * 4; block += 5) list.push_back(tid(block, 15));
  }
  for (unsigned least = 1; least <= 3; ++least)
    EXPECT_EQ(counted(*counter, lists, least), defined(lists, least)) << least;
}

TEST(RowCounter, EqualsDefinition) {
  const auto counter = new_counter();
  std::mt19937_64 random(11);
  test::for_each_kernels([&] {
    for (const uint64_t first : {uint64_t{0}, uint64_t{7}, (uint64_t{1} << 32) - 90'000}) {
      for (const uint64_t blocks : {1u, 50u, 2'100u, 80'000u}) {
        for (const uint64_t offsets : {1u, 14u, 15u, 16u, 291u, 4'095u}) {
          if (blocks * offsets > 1'500'000) continue;
          const size_t nlists = 1 + random() % 10;
          Lists lists(nlists);
          for (auto& list : lists) {
            const size_t n = 1 + random() % 500 + blocks * offsets / 128;
            for (size_t i = 0; i < n; ++i) list.push_back(tid(first + random() % blocks, 1 + random() % offsets));
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
          }
          for (const unsigned least : {1u, 3u})
            ASSERT_EQ(counted(*counter, lists, least), defined(lists, least))
                << blocks << " blocks, " << offsets << " offsets";
        }
      }
    }
  });
}

// So few entries a list that windows are wider: their ends, and the pieces that they are read in.
TEST(RowCounter, ThinLists) {
  const auto counter = new_counter();
  std::mt19937_64 random(13);
  for (const size_t nlists : {40u, 100u}) {
    Lists lists(nlists);
    for (auto& list : lists) {
      std::set<uint64_t> rows;
      while (rows.size() < 8000 / nlists) rows.insert(tid(random() % 75'000, random() % 16));
      for (const uint64_t block : {2'048u, 4'096u, 6'144u, 8'192u, 16'384u, 24'576u}) {
        if (random() % 4 != 0) rows.insert(tid(block - 1, 15));
        if (random() % 4 != 0) rows.insert(tid(block, 0));
      }
      list.assign(rows.begin(), rows.end());
    }
    for (const unsigned least : {1u, 2u, 20u})
      ASSERT_EQ(counted(*counter, lists, least), defined(lists, least)) << nlists << " lists";
  }
}

// Lists are found where several are added at once, and a row that stands in one twice counts twice.
TEST(RowCounter, ManyListsAtOnce) {
  const auto counter = new_counter();
  std::mt19937_64 random(12);
  for (int round = 0; round < 300; ++round) {
    Lists parts(1 + random() % 5);
    for (auto& part : parts)
      for (size_t list = random() % 60; list > 0; --list) {
        uint64_t block = random() % 40;
        for (size_t i = random() % 6; i > 0; --i, block += random() % 3) part.push_back(tid(block, 1));
      }
    parts[0].push_back(tid(3, 1));
    counter->clear();
    std::vector<uint64_t> all;
    for (const auto& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
      counter->add(all.data(), static_cast<uint32_t>(all.size()));
    }
    const bool worth = counter->is_worth(all.data());
    ASSERT_TRUE(worth || counter->has_too_many_lists());
    if (!worth) continue;
    const unsigned least = 1 + static_cast<unsigned>(random() % 6);
    Rows out;
    counter->at_least(all.data(), least, [&](uint64_t t, unsigned hits) { out.emplace_back(t, hits); });
    ASSERT_EQ(out, defined(parts, least));
  }
}

// The ends of windows and of words.
TEST(RowCounter, EveryPlace) {
  const auto counter = new_counter();
  Lists lists(3);
  for (uint64_t block = 0; block < 5'000; ++block)
    for (uint64_t offset = 0; offset < 16; ++offset) {
      lists[0].push_back(tid(block, offset));
      if ((block * 16 + offset) % 3 != 0) lists[1].push_back(tid(block, offset));
      if ((block * 16 + offset) % 7 == 0) lists[2].push_back(tid(block, offset));
    }
  for (unsigned least = 1; least <= 4; ++least) ASSERT_EQ(counted(*counter, lists, least), defined(lists, least));
}

// Near copies in two places of a large table.
TEST(RowCounter, NothingForWholeWindows) {
  const auto counter = new_counter();
  Lists lists(2);
  for (auto& list : lists)
    for (const uint64_t from : {uint64_t{0}, uint64_t{99'600}})
      for (uint64_t block = from; block < from + 400; ++block) list.push_back(tid(block, 1));
  for (const unsigned least : {1u, 2u, 3u}) ASSERT_EQ(counted(*counter, lists, least), defined(lists, least));
}

TEST(RowCounter, ManyHitsCountAsTheMost) {
  const auto counter = new_counter();
  Lists lists;
  for (unsigned i = 0; i < 300; ++i)
    lists.push_back(i < 127 ? std::vector{tid(3, 1), tid(3, 2), tid(9, 9)} : std::vector{tid(3, 2)});
  const Rows all{{tid(3, 1), 127}, {tid(3, 2), 127}, {tid(9, 9), 127}};
  EXPECT_EQ(counted(*counter, lists, 127), all);
  EXPECT_EQ(defined(lists, 127), all);
  lists.pop_back();
  lists[0] = {tid(3, 2)};
  EXPECT_EQ(counted(*counter, lists, 127), (Rows{{tid(3, 2), 127}}));
}

TEST(RowCounter, OneRow) {
  const auto counter = new_counter();
  EXPECT_EQ(counted(*counter, {{tid(0, 1)}}, 1), (Rows{{tid(0, 1), 1}}));
  EXPECT_EQ(counted(*counter, {{tid(0, 1)}}, 2), Rows{});
  const uint64_t last = tid((uint64_t{1} << 32) - 2, 1);
  EXPECT_EQ(counted(*counter, {{last}, {last}}, 2), (Rows{{last, 2}}));
}

bool is_worth(RowCounter& counter, const std::vector<uint64_t>& tids) {
  counter.clear();
  counter.add(tids.data(), static_cast<uint32_t>(tids.size()));
  return counter.is_worth(tids.data());
}

TEST(RowCounter, KnowsWhereItIsNoUse) {
  const auto counter = new_counter();
  EXPECT_FALSE(is_worth(*counter, {}));
  // Thin lists: 16 places a block.
  const uint64_t most = 2 * RowCounter::kMaxRowsPerEntry / 16;
  EXPECT_TRUE(is_worth(*counter, {tid(0, 15), tid(most - 1, 1)}));
  EXPECT_FALSE(is_worth(*counter, {tid(0, 15), tid(most, 1)}));
  EXPECT_FALSE(is_worth(*counter, {tid(0, 1), tid((uint64_t{1} << 32) - 2, 1)}));
  // Offsets that no heap has.
  EXPECT_TRUE(is_worth(*counter, std::vector<uint64_t>(100, tid(1, 4'095))));
  EXPECT_FALSE(is_worth(*counter, std::vector<uint64_t>(100, tid(1, 4'096))));
  // One list too many, and as many as may be.
  std::vector<uint64_t> falling;
  for (uint64_t i = RowCounter::kMaxLists; i > 0; --i) falling.push_back(tid(i, 1));
  ASSERT_TRUE(is_worth(*counter, falling));
  size_t rows = 0;
  counter->at_least(falling.data(), 1, [&](uint64_t, unsigned) { ++rows; });
  EXPECT_EQ(rows, falling.size());
  falling.push_back(tid(0, 1));
  EXPECT_FALSE(is_worth(*counter, falling));
  falling.insert(falling.end(), 5'000, tid(9, 1));
  EXPECT_FALSE(is_worth(*counter, falling));
  EXPECT_TRUE(is_worth(*counter, {tid(4, 4)}));  // cleared
}

// Rows of the first so many TIDs that have enough hits, and others of these, in order and once.
void expect_all_that_may_have(RowCounter& counter, const std::vector<uint64_t>& tids, size_t nfirst, unsigned least,
                              size_t most_others) {
  std::map<uint64_t, unsigned> hits;
  for (const uint64_t t : tids) ++hits[t];
  Rows expected;
  for (const uint64_t t : std::set<uint64_t>(tids.begin(), tids.begin() + static_cast<ptrdiff_t>(nfirst)))
    if (hits[t] >= least) expected.emplace_back(t, std::min(hits[t], RowCounter::kMaxHits));
  counter.clear();
  counter.add(tids.data(), static_cast<uint32_t>(tids.size()));
  std::vector<uint64_t> copy(tids);
  size_t at = 0;
  size_t others = 0;
  uint64_t last = 0;
  bool any = false;
  counter.maybe_at_least(copy.data(), static_cast<uint32_t>(nfirst), least, [&](uint64_t t, unsigned n) {
    EXPECT_TRUE(!any || t > last) << "out of order, or again";
    any = true;
    last = t;
    EXPECT_TRUE(n >= least && n <= RowCounter::kMaxHits && n >= std::min(hits[t], RowCounter::kMaxHits)) << n;
    if (at < expected.size() && expected[at].first == t)
      ++at;
    else
      ++others;
    EXPECT_TRUE(std::find(tids.begin(), tids.begin() + static_cast<ptrdiff_t>(nfirst), t) !=
                tids.begin() + static_cast<ptrdiff_t>(nfirst));
  });
  EXPECT_EQ(at, expected.size()) << tids.size() << " TIDs, " << least;
  EXPECT_LE(others, most_others) << tids.size() << " TIDs, " << least;
}

TEST(RowCounter, MayHaveAtLeast) {
  const auto counter = new_counter();
  std::mt19937_64 random(13);
  for (const uint64_t blocks : {uint64_t{3}, uint64_t{8'000}, uint64_t{1'000'000}, (uint64_t{1} << 32) - 1}) {
    for (const size_t n : {size_t{1}, size_t{40}, size_t{1'000}, size_t{4'000}, size_t{16'000}}) {
      std::vector<uint64_t> tids(n);
      std::vector<uint64_t> near(1 + n / 40);
      for (uint64_t& t : near) t = tid(random() % blocks, 1 + random() % 14);
      // Some rows often, most once; in no order.
      for (uint64_t& t : tids)
        t = random() % 3 == 0 ? near[random() % near.size()] : tid(random() % blocks, 1 + random() % 14);
      for (const unsigned least : {1u, 2u, 8u, 12u, 127u})
        for (const size_t nfirst : {n, n / 3, size_t{0}})
          expect_all_that_may_have(*counter, tids, nfirst, least, blocks < 1'000 || least < 8 ? n : n / 40);
    }
  }
}

// A counter that is full stays so.
TEST(RowCounter, MayHaveVeryMany) {
  const auto counter = new_counter();
  for (const size_t n : {126u, 127u, 128u, 255u, 256u, 300u, 16'384u})
    for (const unsigned least : {100u, 127u})
      expect_all_that_may_have(*counter, std::vector<uint64_t>(n, tid(7, 3)), n, least, 0);
}

TEST(RowCounter, KnowsWhatIsThin) {
  const auto counter = new_counter();
  const auto is_thin = [&](uint64_t n, uint64_t blocks, unsigned least = 4) {  // 16 places a block
    const std::vector<uint64_t> tids{tid(0, 15), tid(blocks - 1, 1)};
    counter->clear();
    counter->add(tids.data(), 2);
    return counter->is_thin(n, least);
  };
  EXPECT_FALSE(is_thin(100, 100));
  EXPECT_TRUE(is_thin(100, 101));
  EXPECT_FALSE(is_thin(100, 101, 3));
  EXPECT_TRUE(is_thin(8'192, 8'193));
  EXPECT_FALSE(is_thin(8'193, 16 * 8'193));
  EXPECT_TRUE(is_thin(8'193, 16 * 8'193 + 1));
  EXPECT_FALSE(is_thin(16'385, 100'000'000));
  counter->clear();
  EXPECT_FALSE(counter->is_thin(1, 4));
}

}  // namespace
}  // namespace neardup::row_counter_test
