// The sort of an index's runs: the same entries in the same order as std::sort, counts, budget, cancelling.
#include "core/lsh/entry_sort.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "test/reference/cut_short.h"

namespace neardup::entry_sort_test {
namespace {

struct Row {
  uint64_t tid;
  std::vector<uint64_t> keys;
};

enum class Kind { random, few_keys, one_key, prefixes, no_keys, mixed };
constexpr Kind kAllKinds[] = {Kind::random, Kind::few_keys, Kind::one_key, Kind::prefixes, Kind::no_keys, Kind::mixed};
enum class Order { ascending, wrapped, hot_chains, shuffled };
constexpr Order kAllOrders[] = {Order::ascending, Order::wrapped, Order::hot_chains, Order::shuffled};

std::vector<Row> make_rows(Kind kind, Order order, size_t n, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Row> rows(n);
  for (size_t i = 0; i < n; ++i) {
    rows[i].tid = (uint64_t{3'000'000'000} + i / 40) << 16 | (1 + i % 40);
    const size_t keys = kind == Kind::no_keys ? 0 : kind == Kind::mixed ? random() % 70 : 5;
    for (size_t k = 0; k < keys; ++k) {
      uint64_t key = random() >> 24;
      if (kind == Kind::few_keys) key = 1 + key % 3;
      if (kind == Kind::one_key) key = kMaxKey;
      if (kind == Kind::prefixes) key = (k + 1) << 36 | (random() % 5) << 20 | random() % 7;
      if (kind == Kind::mixed && key % 2 == 0) key = (key % 64) << 30;
      rows[i].keys.push_back(std::max<uint64_t>(key, 1));
    }
  }
  if (order == Order::wrapped) std::rotate(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(n / 3), rows.end());
  if (order == Order::shuffled) std::shuffle(rows.begin(), rows.end(), random);
  if (order == Order::hot_chains)
    for (size_t i = 1; i < n; ++i)
      if (random() % 8 == 0) std::swap(rows[i - 1], rows[i]);
  return rows;
}

std::vector<Entry> as_entries(const std::vector<Row>& rows) {
  std::vector<Entry> out;
  for (const Row& row : rows) {
    out.push_back({kRosterKey, row.tid});
    for (const uint64_t key : row.keys) out.push_back({key, row.tid});
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Entry> distinct(std::vector<Entry> entries) {
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

void expect_same(const std::vector<Entry>& got, const std::vector<Entry>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_TRUE(got[i] == expected[i]) << i;
}

std::vector<Entry> read_all(EntryChunk& chunk, size_t piece) {
  std::vector<Entry> out;
  std::vector<Entry> block(piece);
  while (const size_t n = chunk.read(block.data(), piece))
    out.insert(out.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(n));
  return out;
}

using Leaf = std::unique_ptr<uint8_t[]>;

// Packs entries; each leaf in memory of its own, so that the sanitizer sees a read outside.
std::vector<Leaf> pack(const std::vector<Entry>& entries, RunPacker& packer, size_t piece = 1000) {
  std::vector<Leaf> leaves;
  const auto write = [&] {
    leaves.emplace_back(new uint8_t[kLeafBytes]());
    EXPECT_LE(packer.write(leaves.back().get()), kLeafBytes);
    EXPECT_TRUE(packer.empty());
  };
  for (size_t at = 0; at < entries.size();) {
    const size_t n = std::min(piece, entries.size() - at);
    const size_t taken = packer.add(entries.data() + at, n);
    at += taken;
    if (taken < n) write();
  }
  if (!packer.empty()) write();
  return leaves;
}

std::vector<Entry> unpack(const std::vector<Leaf>& leaves) {
  std::vector<Entry> out;
  for (const Leaf& leaf : leaves) {
    LeafView view;
    EXPECT_TRUE(view.open(leaf.get(), kLeafBytes));
    for (uint32_t i = 0; i < view.count(); ++i) out.push_back(view.at(i));
  }
  return out;
}

std::vector<Entry> merge(const std::vector<std::vector<Leaf>>& runs, size_t piece) {
  EntryMerge merge(static_cast<uint32_t>(runs.size()));
  std::vector<size_t> at(runs.size());
  std::vector<Entry> out;
  std::vector<Entry> block(piece);
  for (;;) {
    uint32_t hungry;
    const size_t n = merge.read(block.data(), piece, &hungry);
    out.insert(out.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(n));
    if (hungry != EntryMerge::kNotHungry) {
      const bool ended = at[hungry] == runs[hungry].size();
      EXPECT_TRUE(merge.feed(hungry, ended ? nullptr : runs[hungry][at[hungry]++].get()));
    } else if (n == 0) {
      return out;
    }
  }
}

TEST(EntrySort, Words) {
  std::mt19937_64 random(1);
  Poller poller(nullptr);
  for (int kind = 0; kind < 9; ++kind) {
    for (const size_t n : {0u, 1u, 2u, 31u, 32u, 33u, 34u, 100u, 2000u, 65536u, 65537u, 300'000u}) {
      std::vector<uint64_t> a(n), tmp(n);
      for (size_t i = 0; i < n; ++i) {
        const uint64_t r = random();
        const uint64_t forms[] = {
            r, i, n - i, 7, r % 3, r % 3 << 62, r | 1ull << 63, r % 5 << 50 | r % 4, i % 2 ? r : uint64_t{9} << 40 | i};
        a[i] = forms[kind];
      }
      std::vector<uint64_t> expected = a;
      std::sort(expected.begin(), expected.end());
      sort_words(a.data(), tmp.data(), n, poller);
      ASSERT_EQ(a, expected) << "kind " << kind << ", n " << n;
    }
  }
}

TEST(EntrySort, ChunksHoldToOrderAndBudget) {
  Poller poller(nullptr);
  for (const Kind kind : kAllKinds) {
    for (const Order order : kAllOrders) {
      for (const size_t budget : {size_t{0}, size_t{300'000}, size_t{64} << 20}) {
        SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", order " << static_cast<int>(order)
                                        << ", budget " << budget);
        const std::vector<Row> rows = make_rows(kind, order, 6'000, 2);
        EntryChunk chunk(budget);
        size_t chunks = 0;
        std::vector<Row> part;
        const auto check = [&] {
          chunk.sort(poller);
          ASSERT_EQ(chunk.rows(), part.size());
          expect_same(read_all(chunk, chunks % 2 ? 1 : 300), as_entries(part));
          chunk.clear();
          part.clear();
          ++chunks;
        };
        for (const Row& row : rows) {
          const uint32_t n = static_cast<uint32_t>(row.keys.size());
          while (!chunk.add(row.tid, row.keys.data(), n))
            if (!chunk.grow(n, poller)) check();
          part.push_back(row);
        }
        check();
        EXPECT_LE(chunk.peak_bytes(), 5 * std::max<size_t>(budget, 64 * 1024) / 4 + 40'000);
        if (budget == 0) {
          EXPECT_GE(chunks, 4u);
        } else if (budget > 1 << 20) {
          EXPECT_EQ(chunks, 1u);
        }
      }
    }
  }
}

TEST(EntrySort, EmptyChunk) {
  Poller poller(nullptr);
  EntryChunk chunk(0);
  Entry e;
  chunk.sort(poller);
  EXPECT_EQ(chunk.read(&e, 1), 0u);
  // A row larger than the budget is a chunk of its own.
  const std::vector<uint64_t> keys(20'000, 5);
  EXPECT_TRUE(chunk.grow(20'000, poller));
  EXPECT_TRUE(chunk.add(1, keys.data(), 20'000));
  EXPECT_FALSE(chunk.add(2, keys.data(), 20'000));
  EXPECT_FALSE(chunk.grow(20'000, poller));
  chunk.sort(poller);
  EXPECT_EQ(read_all(chunk, 300).size(), 20'001u);
}

TEST(EntrySort, PackerDropsRepeatsAndCounts) {
  for (const Kind kind : kAllKinds) {
    std::vector<Entry> entries = as_entries(make_rows(kind, Order::ascending, 8'000, 3));
    const size_t n = entries.size();
    for (size_t i = 0; i < n; i += 7) entries.push_back(entries[i]);
    std::sort(entries.begin(), entries.end());
    const std::vector<Entry> expected = distinct(entries);
    std::map<uint64_t, uint64_t> lists;
    for (const Entry& e : expected) ++lists[e.key];
    uint64_t sum_sq = 0;
    for (const auto& [key, length] : lists) sum_sq += key == kRosterKey ? 0 : length * length;
    auto packer = std::make_unique<RunPacker>();
    for (const size_t piece : {size_t{1}, size_t{1000}, entries.size()}) {
      packer->begin_run();
      expect_same(unpack(pack(entries, *packer, piece)), expected);
      EXPECT_EQ(packer->counts().entries, expected.size());
      EXPECT_EQ(packer->counts().rows, 8'000u);
      EXPECT_EQ(packer->counts().sum_sq, sum_sq);
    }
  }
}

TEST(EntrySort, Merge) {
  auto packer = std::make_unique<RunPacker>();
  for (const Kind kind : kAllKinds) {
    const std::vector<Row> rows = make_rows(kind, Order::shuffled, 6'000, 4);
    const std::vector<Entry> expected = as_entries(rows);
    for (const uint32_t k : {1u, 2u, 3u, 5u, 8u, 17u, 256u}) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", sources " << k);
      // Sources of very different lengths, some of them empty.
      std::vector<std::vector<Row>> parts(k);
      std::mt19937_64 random(k);
      for (const Row& row : rows) parts[std::min(random() % k, random() % k)].push_back(row);
      if (k > 2) {
        parts[0].insert(parts[0].end(), parts[k / 2].begin(), parts[k / 2].end());
        parts[k / 2].clear();
      }
      std::vector<std::vector<Leaf>> runs;
      for (const auto& part : parts) {
        packer->begin_run();
        runs.push_back(pack(distinct(as_entries(part)), *packer));
      }
      const std::vector<Entry> merged = merge(runs, k % 2 ? 100 : 3000);
      expect_same(distinct(merged), distinct(expected));
    }
  }
}

TEST(EntrySort, MergeOfSlices) {
  std::mt19937_64 random(6);
  for (const Kind kind : kAllKinds) {
    const std::vector<Entry> all = as_entries(make_rows(kind, Order::ascending, 3'000, 7));
    for (const uint32_t k : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 13u, 80u}) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", slices " << k);
      // The parts differ much in length, one of them is empty, each has memory of its own; some entries are in several.
      std::vector<std::vector<Entry>> parts(k);
      for (const Entry& e : all) {
        parts[std::min(random() % k, random() % k)].push_back(e);
        if (random() % 16 == 0) parts[random() % k].push_back(e);
      }
      if (k > 2) parts[k / 2].clear();
      std::vector<Entry> expected;
      std::vector<EntrySlice> slices;
      std::vector<std::unique_ptr<uint64_t[]>> places;
      for (std::vector<Entry>& part : parts) {
        part.erase(std::unique(part.begin(), part.end()), part.end());
        expected.insert(expected.end(), part.begin(), part.end());
        // Some begin at a multiple of 16 bytes, some between two.
        const size_t shift = random() % 2;
        places.emplace_back(new uint64_t[shift + 2 * part.size()]);
        Entry* place = reinterpret_cast<Entry*>(places.back().get() + shift);
        std::uninitialized_copy(part.begin(), part.end(), place);
        slices.push_back({place, part.size()});
      }
      std::sort(expected.begin(), expected.end());
      std::vector<Entry> a(expected.size());
      std::vector<Entry> b(expected.size());
      const Entry* merged = merge_slices(slices.data(), k, a.data(), b.data());
      expect_same(std::vector<Entry>(merged, merged + expected.size()), expected);
    }
  }
}

// Entries of a damaged leaf: whatever comes out, nothing outside is touched and none is made or lost.
TEST(EntrySort, MergeOfSlicesOutOfOrder) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<Entry>> parts(1 + random() % 6);
    std::vector<Entry> expected;
    std::vector<EntrySlice> slices;
    for (std::vector<Entry>& part : parts) {
      for (size_t n = random() % 50; n > 0; --n) part.push_back({random() % 8, random() % 8});
      part.shrink_to_fit();
      expected.insert(expected.end(), part.begin(), part.end());
      slices.push_back({part.data(), part.size()});
    }
    std::vector<Entry> a(expected.size());
    std::vector<Entry> b(expected.size());
    const Entry* merged = merge_slices(slices.data(), static_cast<uint32_t>(parts.size()), a.data(), b.data());
    std::vector<Entry> got(merged, merged + expected.size());
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    expect_same(got, expected);
  }
}

TEST(EntrySort, PackerResumesAList) {
  // A run in two parts: the lists of the second go on where the first one's ended.
  std::vector<Entry> entries;
  for (uint64_t tid = 1; tid <= 50; ++tid) entries.push_back({9, tid});
  for (uint64_t tid = 1; tid <= 7; ++tid) entries.push_back({10, tid});
  auto packer = std::make_unique<RunPacker>();
  packer->add(entries.data(), entries.size());
  EXPECT_EQ(packer->counts().sum_sq, 50u * 50 + 7 * 7);
  for (const size_t cut : {size_t{1}, size_t{30}, size_t{49}}) {
    packer->begin_run();
    packer->add(entries.data(), cut);
    const uint64_t before = packer->counts().sum_sq;
    packer->begin_run();
    packer->resume(9, cut);
    packer->add(entries.data() + cut, entries.size() - cut);
    EXPECT_EQ(before + packer->counts().sum_sq, 50u * 50 + 7 * 7) << cut;
    EXPECT_EQ(packer->counts().entries, entries.size() - cut);
  }
}

TEST(EntrySort, PackerTellsOfDisorder) {
  auto packer = std::make_unique<RunPacker>();
  std::vector<Entry> entries = as_entries(make_rows(Kind::random, Order::ascending, 500, 9));
  packer->add(entries.data(), entries.size());
  EXPECT_FALSE(packer->disordered());
  packer->add(&entries.back(), 1);
  EXPECT_FALSE(packer->disordered()) << "a repeated entry is none";
  for (const size_t at : {size_t{1}, entries.size() / 2, entries.size() - 1}) {
    std::vector<Entry> wrong = entries;
    std::swap(wrong[at - 1], wrong[at]);
    packer->begin_run();
    const std::vector<Entry> got = unpack(pack(wrong, *packer));
    EXPECT_TRUE(packer->disordered());
    EXPECT_EQ(got.size(), entries.size() - 1);
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
  }
  packer->begin_run();
  EXPECT_FALSE(packer->disordered());
}

TEST(EntrySort, MergeRefusesWhatIsNoLeaf) {
  std::vector<uint8_t> bytes(kLeafBytes, 0xff);
  EntryMerge merge(2);
  EXPECT_FALSE(merge.feed(0, bytes.data()));
  std::fill(bytes.begin(), bytes.end(), 0);
  EXPECT_FALSE(merge.feed(1, bytes.data()));
}

TEST(EntrySort, CanBeStopped) {
  const std::vector<Row> rows = make_rows(Kind::random, Order::shuffled, 300'000, 5);
  const auto r = reference::cancel_at_any_poll([](int64_t calls) { return 1 + calls; },
                                               [&](const EngineOptions& options, int64_t) {
                                                 EntryChunk chunk(size_t{1} << 30);
                                                 Poller poller(options.stop);
                                                 for (const Row& row : rows) {
                                                   const uint32_t n = static_cast<uint32_t>(row.keys.size());
                                                   while (!chunk.add(row.tid, row.keys.data(), n))
                                                     chunk.grow(n, poller);
                                                 }
                                                 chunk.sort(poller);
                                               });
  EXPECT_EQ(r.wrong, "");
  EXPECT_GT(r.asked, 10);
}

}  // namespace
}  // namespace neardup::entry_sort_test
