// Bands: parameters, the pigeonhole itself, sorting and grouping by key, external sort, union-find.
#include "core/pairs/banding.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/union_find.h"
#include "core/work/spill.h"

#include "test/reference/stdio_temp_file.h"

namespace neardup::banding_test {
namespace {

TEST(Banding, ShapeForEveryThreshold) {
  for (const uint32_t num_perm : {16u, 25u, 100u, 128u, 1024u, 4096u}) {
    for (uint32_t need = 1; need <= num_perm; need += 1 + num_perm / 64) {
      const Banding b(num_perm, 32, need);
      EXPECT_EQ(b.probes(), num_perm - need + 1);
      EXPECT_EQ(b.usable(), b.probes() <= 64);
      if (!b.usable()) continue;
      EXPECT_LE(b.probes(), b.bands());
      EXPECT_LE(b.bands(), std::min(num_perm, 64u));
      EXPECT_EQ(b.stride() % 16, 0u);
      EXPECT_GE(b.stride(), b.bands());
      EXPECT_EQ(b.least_hits(), b.bands() - (num_perm - need));
    }
  }
}

// A mismatch must break exactly the band it lies in, wherever it lies.
TEST(Banding, OneMismatchBreaksOneBand) {
  for (const uint32_t bits : {8u, 16u, 32u}) {
    for (const uint32_t num_perm : {16u, 25u, 100u, 128u}) {
      const Banding banding(num_perm, bits, num_perm - 5);
      std::vector<unsigned char> row(num_perm * bits / 8);
      for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<unsigned char>(i * 37 + 11);
      std::vector<uint32_t> keys(banding.stride());
      std::vector<uint32_t> changed(banding.stride());
      banding.keys(row.data(), keys.data());
      std::vector<bool> seen(banding.bands());
      for (size_t i = 0; i < row.size(); ++i) {
        row[i] ^= 0x55;
        banding.keys(row.data(), changed.data());
        row[i] ^= 0x55;
        uint32_t broken = 0;
        for (uint32_t j = 0; j < banding.bands(); ++j) {
          if (keys[j] != changed[j]) {
            ++broken;
            seen[j] = true;
          }
        }
        EXPECT_EQ(broken, 1u) << bits << " bits, byte " << i;
      }
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](bool s) { return s; }));
    }
  }
}

TEST(Banding, FilterCountsAndSkipsTakenBands) {
  const Banding banding(128, 32, 103);
  KeyFilter filter(banding);
  std::vector<uint32_t> a(banding.stride());
  std::iota(a.begin(), a.end(), 1u);
  std::vector<uint32_t> b(a);
  EXPECT_TRUE(filter(a.data(), b.data()));
  for (uint32_t j = 0; j < 25; ++j) b[j] = 0;
  EXPECT_TRUE(filter(a.data(), b.data()));
  b[25] = 0;
  EXPECT_FALSE(filter(a.data(), b.data()));
  b[25] = a[25];
  filter.mark_done(3);
  EXPECT_TRUE(filter(a.data(), b.data()));
  filter.mark_done(31);
  EXPECT_FALSE(filter(a.data(), b.data()));
  filter.clear_done();
  EXPECT_TRUE(filter(a.data(), b.data()));
}

TEST(Banding, CountBits) {
  for (const uint64_t m :
       {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{0x8000000000000001}, uint64_t{0x123456789abcdef}}) {
    EXPECT_EQ(count_bits(m), static_cast<unsigned>(__builtin_popcountll(m)));
  }
}

TEST(BandEntries, SortAndGroupAgreeWithAMap) {
  std::mt19937 random(1);
  for (const uint32_t n : {0u, 1u, 2u, 100u, 5000u, 70000u}) {
    for (const uint32_t distinct : {1u, 7u, 3000u, ~0u}) {
      Workspace ws(SIZE_MAX, nullptr, nullptr);
      std::vector<uint32_t> keys(n * 16);
      // High bits only for every other key: equal low bits must not make a group.
      for (uint32_t& k : keys) k = random() % distinct << (random() % 2 * 20);
      std::map<uint32_t, std::vector<uint32_t>> expected;
      for (uint32_t i = 0; i < n; ++i) expected[keys[i * 16 + 3]].push_back(i);
      BandEntries entries(n, ws.ledger);

      const uint64_t* sorted = entries.sort(keys.data(), 16, 3, n, ws.poller);
      size_t at = 0;
      for (const auto& [key, rows] : expected) {
        for (const uint32_t row : rows) ASSERT_EQ(sorted[at++], static_cast<uint64_t>(key) << 32 | row);
      }

      size_t kept = 0;
      const uint64_t* grouped = entries.group(keys.data(), 16, 3, n, &kept, ws.poller);
      std::erase_if(expected, [](const auto& e) { return e.second.size() < 2; });
      for (size_t first = 0; first < kept;) {
        const uint32_t key = static_cast<uint32_t>(grouped[first] >> 32);
        ASSERT_TRUE(expected.contains(key));
        for (const uint32_t row : expected[key]) ASSERT_EQ(grouped[first++], static_cast<uint64_t>(key) << 32 | row);
        expected.erase(key);
      }
      EXPECT_TRUE(expected.empty());
    }
  }
}

TEST(RecordSorter, SortsStablyWhateverTheBudget) {
  std::mt19937_64 random(2);
  for (const uint32_t n : {0u, 1u, 63u, 1000u, 40000u}) {
    for (const uint64_t mask : {uint64_t{0}, uint64_t{0xff}, uint64_t{0xf00000000000000f}, ~uint64_t{0}}) {
      std::vector<SortRecord> records;
      for (uint32_t i = 0; i < n; ++i) {
        const uint64_t key = random() & mask;
        records.push_back({static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key), i});
      }
      std::vector<SortRecord> expected(records);
      std::stable_sort(expected.begin(), expected.end(), [](auto& a, auto& b) { return a.key() < b.key(); });
      for (const size_t budget : {size_t{0}, size_t{16384}, size_t{10} << 20}) {
        reference::StdioTempFiles files;
        Workspace ws(65536, &files, nullptr);
        {
          RecordSorter sorter(budget, ws);
          for (const SortRecord& r : records) sorter.add(r);
          EXPECT_EQ(sorter.size(), n);
          sorter.finish();
          SortRecord r;
          for (uint32_t i = 0; i < n; ++i) {
            ASSERT_TRUE(sorter.next(&r));
            ASSERT_EQ(r.key(), expected[i].key());
            ASSERT_EQ(r.value, expected[i].value);
          }
          EXPECT_FALSE(sorter.next(&r));
          EXPECT_LE(files.most_open, 2);
        }
        EXPECT_EQ(files.open, 0);
        EXPECT_LE(ws.ledger.peak(), std::max<size_t>(budget, 4096) + 2048);
      }
    }
  }
}

TEST(UnionFind, ThreadsMakeTheSameSets) {
  constexpr uint32_t kRows = 20000;
  for (uint32_t round = 0; round < 10; ++round) {
    std::mt19937 random(round);
    // Half of the rounds: chains, whose paths are long.
    std::vector<std::pair<uint32_t, uint32_t>> edges(kRows * 3 / 4);
    for (auto& [i, j] : edges) {
      i = random() % kRows;
      j = round % 2 == 0 ? random() % kRows : (i + 1) % kRows;
    }
    UnionFind expected(kRows);
    for (const auto& [i, j] : edges) expected.unite(i, j);
    UnionFind sets(kRows);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (size_t e = t; e < edges.size(); e += 4) {
          if (!sets.same(edges[e].first, edges[e].second)) sets.unite(edges[e].first, edges[e].second);
        }
      });
    for (std::thread& t : threads) t.join();
    for (uint32_t i = 0; i < kRows; ++i) ASSERT_EQ(sets.find(i), expected.find(i)) << round;
  }
}

TEST(UnionFind, TheSmallestMemberIsTheRoot) {
  UnionFind sets(10);
  sets.unite(7, 9);
  sets.unite(9, 3);
  sets.unite(8, 1);
  EXPECT_EQ(sets.find(7), 3u);
  EXPECT_TRUE(sets.same(9, 3));
  EXPECT_FALSE(sets.same(8, 3));
  sets.unite(8, 7);
  EXPECT_EQ(sets.find(9), 1u);
  EXPECT_EQ(sets.find(0), 0u);
}

TEST(EngineParameters, AreChecked) {
  EXPECT_THROW(check_engine_parameters(15, 32, 1), Error);
  EXPECT_THROW(check_engine_parameters(4097, 32, 1), Error);
  EXPECT_THROW(check_engine_parameters(128, 24, 1), Error);
  EXPECT_THROW(check_engine_parameters(128, 32, 0), Error);
  EXPECT_THROW(check_engine_parameters(128, 32, 129), Error);
  EXPECT_NO_THROW(check_engine_parameters(16, 8, 16));
}

}  // namespace
}  // namespace neardup::banding_test
