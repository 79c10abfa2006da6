// All pairs equal those of comparing everything, for every width, threshold, memory limit and set.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "core/base/union_find.h"
#include "core/pairs/minhash/minhash_pairs.h"

#include "test/reference/cut_short.h"
#include "test/reference/pairs_reference.h"
#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"
#include "test/reference/version_families.h"
#include "test/unit/pair_engines.h"

namespace neardup::pairs_test {
namespace {

using reference::drain;
using reference::Pair;
using reference::Rows;
using reference::StdioTempFiles;
using test::Setting;

constexpr size_t kUnlimited = SIZE_MAX;
constexpr size_t kLimits[] = {1, 64 << 10, 1 << 20, kUnlimited};

void add_all(MinhashPairs& engine, const Rows& rows) {
  for (uint32_t i = 0; i < rows.size(); ++i) engine.add(rows.row(i));
}

void run_all(const Rows& rows, const EngineOptions& options) {
  MinhashPairs engine(rows.num_perm, rows.bits, 103, options);
  add_all(engine, rows);
  engine.run();
  drain(engine);
}

test::Found search(const Rows& rows, uint32_t count_a, uint32_t need, const Setting& setting) {
  return test::search(
      rows.size(), count_a, setting,
      [&](const EngineOptions& options) { return MinhashPairs(rows.num_perm, rows.bits, need, options); },
      [&](MinhashPairs& engine, uint32_t i) { engine.add(rows.row(i)); });
}

test::Found run(const Rows& rows, uint32_t need, size_t limit) {
  return search(rows, rows.size(), need, {.limit = limit});
}

// The components by run_components, as the smallest row of each.
std::vector<uint32_t> components(const Rows& rows, uint32_t need, size_t limit) {
  StdioTempFiles files;
  MinhashPairs engine(rows.num_perm, rows.bits, need, {.memory_limit = limit, .files = &files});
  add_all(engine, rows);
  UnionFind sets(rows.size());
  engine.run_components(sets);
  std::vector<uint32_t> out(rows.size());
  for (uint32_t i = 0; i < rows.size(); ++i) out[i] = sets.find(i);
  return out;
}

class PairsOfSet : public testing::TestWithParam<std::string> {};

TEST_P(PairsOfSet, EqualReferenceForEveryShape) {
  for (const auto& [num_perm, bits, n] : {std::tuple{16u, 32u, 120u},
                                          {25u, 8u, 120u},
                                          {25u, 16u, 120u},
                                          {100u, 16u, 150u},
                                          {128u, 8u, 150u},
                                          {128u, 32u, 220u},
                                          {1024u, 32u, 60u}}) {
    const Rows rows = reference::make_set(GetParam(), num_perm, bits, n);
    for (const uint32_t need : reference::needs_for(num_perm)) {
      SCOPED_TRACE(std::to_string(num_perm) + " x " + std::to_string(bits) + ", need " + std::to_string(need));
      const std::vector<Pair> expected = reference::pairs(rows, need);
      const std::vector<uint32_t> expected_components = reference::connected(rows, need).representative;
      for (const size_t limit : kLimits) {
        ASSERT_EQ(run(rows, need, limit).pairs, expected) << "limit " << limit;
        ASSERT_EQ(components(rows, need, limit), expected_components) << "limit " << limit;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, PairsOfSet, testing::ValuesIn(reference::set_names()),
                         [](const auto& info) { return info.param; });

// Large enough for blocks on disk, several runs and several merge passes at 64 kB, and for bands to win.
TEST(Pairs, LargerSetsEqualReferenceWithinTheirLimit) {
  for (const char* name : {"mixed", "giant", "random", "boilerplate"}) {
    const Rows rows = reference::make_set(name, 128, 32, 1500, 7);
    const std::vector<Pair> expected = reference::pairs(rows, 103);
    for (const size_t limit : kLimits) {
      SCOPED_TRACE(std::string(name) + ", limit " + std::to_string(limit));
      const test::Found r = run(rows, 103, limit);
      ASSERT_EQ(r.pairs, expected);
      EXPECT_EQ(r.stats.rows, rows.size());
      EXPECT_EQ(r.stats.found, expected.size());
      EXPECT_EQ(r.stats.spilled_bytes != 0, limit < kUnlimited);
      if (limit < kUnlimited) {
        EXPECT_LE(r.stats.peak_bytes, std::max<size_t>(limit, 64 << 10));
      }
    }
  }
}

// Every way the rows and the key vectors can lie: both in memory, rows on disk, both on disk, narrow rows in memory
// only.
TEST(Pairs, SameResultWhateverTheLimit) {
  for (const auto& [num_perm, bits] : {std::pair{16u, 8u}, {128u, 8u}, {128u, 32u}}) {
    const Rows rows = reference::make_set("mixed", num_perm, bits, 4000, 3);
    const uint32_t need = (num_perm * 4 + 4) / 5;
    const std::vector<Pair> expected = run(rows, need, kUnlimited).pairs;
    EXPECT_FALSE(expected.empty());
    for (size_t limit = 64 << 10; limit <= 8 << 20; limit *= 2) {
      const test::Found r = run(rows, need, limit);
      ASSERT_EQ(r.pairs, expected) << "limit " << limit;
      EXPECT_LE(r.stats.peak_bytes, limit);
    }
  }
}

// Rows, and copies of some that differ from them in as many bands as a pair may: in memory, and with keys on disk.
TEST(Pairs, AgreeInAsFewBandsAsTheyMay) {
  constexpr uint32_t kRows = 400;
  constexpr uint32_t kBands = 32;
  constexpr uint32_t kMismatches = 128 - 103;
  for (const uint32_t copies : {1u, kRows}) {
    Rows rows = reference::make_set("random", 128, 32, kRows, 11);
    const std::vector<unsigned char> copied(rows.row(0), rows.row(copies));
    rows.data.insert(rows.data.end(), copied.begin(), copied.end());
    for (uint32_t i = 0; i < copies; ++i)
      for (uint32_t k = 0; k < kMismatches; ++k)
        rows.data[(kRows + i) * rows.row_bytes() + (i + k) % kBands * rows.row_bytes() / kBands] ^= 1;
    for (const size_t limit : {size_t{64} << 10, kUnlimited}) {
      const test::Found r = run(rows, 103, limit);
      ASSERT_EQ(r.pairs.size(), copies) << "limit " << limit;
      for (const auto& [a, b, matches] : r.pairs) EXPECT_EQ(b, a + kRows) << matches;
    }
  }
}

// A family in large buckets, whose versions also meet in small ones, among so many rows that keys lie on disk.
TEST(Pairs, AFamilyAmongOthers) {
  const Rows rows = reference::make_families(1, 100, 1200, 20);
  const std::vector<Pair> expected = reference::pairs(rows, 103);
  for (const size_t limit : {size_t{256} << 10, kUnlimited}) {
    const test::Found r = run(rows, 103, limit);
    ASSERT_EQ(r.pairs, expected) << "limit " << limit;
    EXPECT_EQ(r.stats.found, expected.size()) << "limit " << limit;
    EXPECT_EQ(r.stats.spilled_bytes != 0, limit < kUnlimited);
  }
}

TEST(Pairs, HotBucketsDoNotComparePairsTwice) {
  const Rows rows = reference::make_set("giant", 128, 32, 1000);
  const test::Found r = run(rows, 103, kUnlimited);
  EXPECT_LE(r.stats.compared, 1000u * 999 / 2);
  EXPECT_EQ(r.pairs.size(), reference::pairs(rows, 103).size());
}

TEST(Pairs, EqualRowsAreCollapsed) {
  const Rows rows = reference::make_set("equal", 128, 32, 2000);
  const test::Found r = run(rows, 103, kUnlimited);
  EXPECT_EQ(r.stats.distinct, 1u);
  EXPECT_EQ(r.stats.compared, 0u);
  EXPECT_EQ(r.pairs.size(), 2000u * 1999 / 2);
  EXPECT_TRUE(std::is_sorted(r.pairs.begin(), r.pairs.end()));
  EXPECT_EQ(std::adjacent_find(r.pairs.begin(), r.pairs.end()), r.pairs.end());
}

TEST(Pairs, ThreadsChangeNothing) {
  const Rows rows = reference::make_set("mixed", 128, 32, 9000, 3);
  struct Case {
    const char* name;
    uint32_t need;
    size_t limit;  // at 6 MB the rows lie on disk, at 1 MB the keys too
    bool two_sets;
    bool brute_force;
  };
  for (const Case& c : {Case{"in memory", 103, kUnlimited, false, false},
                        {"rows on disk", 103, 6 << 20, false, false},
                        {"keys on disk", 103, 1 << 20, false, false},
                        {"two sets", 103, kUnlimited, true, false},
                        {"two sets on disk", 103, 1 << 20, true, false},
                        {"everything", 20, kUnlimited, false, true},
                        {"everything of two sets", 20, kUnlimited, true, true}}) {
    SCOPED_TRACE(c.name);
    std::vector<Pair> expected;
    SearchStats first;
    const uint32_t n = c.brute_force ? 4500 : rows.size();
    // Every third row is of A, so that families lie in both sets.
    const auto fill = [&](MinhashPairs& engine) {
      for (uint32_t i = 0; i < n; ++i)
        if (!c.two_sets || i % 3 == 0) engine.add(rows.row(i));
      if (c.two_sets) engine.start_set_b();
      for (uint32_t i = 0; c.two_sets && i < n; ++i)
        if (i % 3 != 0) engine.add(rows.row(i));
    };
    std::vector<uint32_t> component;
    for (const unsigned threads : {1u, 4u}) {
      StdioTempFiles files;
      MinhashPairs engine(128, 32, c.need, {.memory_limit = c.limit, .files = &files, .threads = threads});
      fill(engine);
      engine.run();
      const std::vector<Pair> found = drain(engine, 4096);
      if (threads == 1) {
        expected = found;
        first = engine.stats();
      }
      ASSERT_EQ(found, expected) << threads;
      EXPECT_EQ(engine.stats().looked, first.looked);
      EXPECT_EQ(engine.stats().compared, first.compared);
      EXPECT_LE(engine.stats().peak_bytes, std::max(c.limit, first.peak_bytes));

      if (c.two_sets) continue;
      MinhashPairs joining(128, 32, c.need, {.memory_limit = c.limit, .files = &files, .threads = threads});
      fill(joining);
      UnionFind sets(n);
      joining.run_components(sets);
      EXPECT_LE(joining.stats().peak_bytes, std::max(c.limit, first.peak_bytes));
      std::vector<uint32_t> roots(n);
      for (uint32_t i = 0; i < n; ++i) roots[i] = sets.find(i);
      if (threads == 1) {
        component = roots;
        UnionFind by_pairs(n);
        for (const auto& [a, b, value] : expected) by_pairs.unite(a, b);
        for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(roots[i], by_pairs.find(i)) << i;
      }
      ASSERT_EQ(roots, component);
    }
    EXPECT_GT(first.compared, 1000u);
    EXPECT_EQ(first.brute_force, c.brute_force);
    EXPECT_EQ(first.spilled_bytes != 0, c.limit != kUnlimited);
  }
}

TEST(Pairs, EqualRowsAsAsked) {
  const Rows all = reference::make_set("mixed", 128, 32, 300, 17);
  std::mt19937 random(3);
  for (const uint32_t need : {20u, 103u, 128u}) {  // 20: all are compared with all
    SCOPED_TRACE(need);
    const auto value = [&](uint32_t i, uint32_t j) -> std::optional<uint32_t> {
      const uint32_t m = reference::count_matches(all, i, all, j);
      return m >= need ? std::optional(m) : std::nullopt;
    };
    const auto equal = [&](uint32_t i, uint32_t j) { return reference::count_matches(all, i, all, j) == 128; };
    test::check_sets_and_ranks(
        all.size(), {all.size(), 140}, {1, 64 << 10, 1 << 20, kUnlimited}, random,
        [&](size_t count_a, const Setting& s) {
          return reference::pairs_by_definition(all.size(), static_cast<uint32_t>(count_a), value, equal, s.identical,
                                                s.rank_a, s.rank_b);
        },
        [&](size_t count_a, const Setting& s) { return search(all, static_cast<uint32_t>(count_a), need, s).pairs; });
  }
}

TEST(Pairs, ComponentsOfEqualAndNearRowsAreNotQuadratic) {
  for (const char* name : {"equal", "giant"}) {
    const Rows rows = reference::make_set(name, 128, 32, 20000);
    for (const unsigned threads : {1u, 4u}) {
      MinhashPairs engine(128, 32, 103, {.threads = threads});
      add_all(engine, rows);
      UnionFind sets(rows.size());
      engine.run_components(sets);
      for (uint32_t i = 0; i < rows.size(); ++i) ASSERT_EQ(sets.find(i), 0u);
      // With one thread no pair is told whose rows are joined already: a tree, equal rows among it.
      const uint64_t edges = engine.stats().found + rows.size() - engine.stats().distinct;
      if (threads == 1) {
        EXPECT_EQ(edges, 19999u);
      } else {
        EXPECT_GE(edges, 19999u);
      }
      EXPECT_LE(engine.stats().found, threads * 20000);
      EXPECT_LT(engine.stats().looked + engine.stats().compared, 10'000'000u);
    }
  }
}

TEST(Pairs, BetweenTwoSets) {
  for (const auto& [num_perm, bits] : {std::pair{25u, 8u}, {128u, 32u}, {1024u, 16u}}) {
    // One set in two halves has near and equal rows within and across.
    const Rows all = reference::make_set("mixed", num_perm, bits, 240, 5);
    for (const uint32_t part : {0u, 1u, 100u, all.size()}) {
      const auto border = all.data.begin() + static_cast<std::ptrdiff_t>(part * all.row_bytes());
      const Rows a{num_perm, bits, {all.data.begin(), border}};
      const Rows b{num_perm, bits, {border, all.data.end()}};
      for (const uint32_t need : reference::needs_for(num_perm)) {
        const std::vector<Pair> expected = reference::pairs_between(a, b, need);
        for (const size_t limit : kLimits) {
          StdioTempFiles files;
          MinhashPairs engine(num_perm, bits, need, {.memory_limit = limit, .files = &files});
          add_all(engine, a);
          engine.start_set_b();
          add_all(engine, b);
          engine.run();
          ASSERT_EQ(drain(engine), expected) << num_perm << " need " << need << " part " << part << " limit " << limit;
        }
      }
    }
  }
}

TEST(Pairs, BetweenLargerSetsUsesBandsAndRanks) {
  const Rows a = reference::make_set("mixed", 128, 32, 1500, 11);
  const Rows b = reference::make_set("mixed", 128, 32, 1500, 11);  // equal, so every row has a partner
  std::vector<uint32_t> rank_a(a.size()), rank_b(b.size());
  std::iota(rank_a.rbegin(), rank_a.rend(), 0u);
  std::iota(rank_b.begin(), rank_b.end(), 10000u);
  std::vector<Pair> expected = reference::pairs_between(a, b, 103);
  for (auto& [x, y, m] : expected) {
    x = rank_a[x];
    y = rank_b[y];
  }
  std::sort(expected.begin(), expected.end());
  for (const size_t limit : kLimits) {
    StdioTempFiles files;
    MinhashPairs engine(128, 32, 103, {.memory_limit = limit, .files = &files});
    add_all(engine, a);
    engine.start_set_b();
    add_all(engine, b);
    engine.run(rank_a.data(), rank_b.data());
    ASSERT_EQ(drain(engine), expected);
    EXPECT_FALSE(engine.stats().brute_force);
  }
}

// A small set A and a large set B: strangers are not kept, wherever among the near rows they stand.
TEST(Pairs, BetweenSetsAsideWhatIsNearNothing) {
  for (const auto& [num_perm, bits] : {std::pair{128u, 32u}, {128u, 8u}, {256u, 16u}}) {
    const Rows known = reference::make_set("mixed", num_perm, bits, 90, 5);
    const Rows strangers = reference::make_set("random", num_perm, bits, 3000, 77);
    Rows a{num_perm, bits, {}};
    Rows b{num_perm, bits, {}};
    const auto push = [](Rows* to, const Rows& from, uint32_t i) {
      to->data.insert(to->data.end(), from.row(i), from.row(i) + from.row_bytes());
    };
    for (uint32_t i = 0; i < known.size(); ++i) push(i % 2 == 0 ? &a : &b, known, i);
    for (const bool first : {false, true}) {
      Rows mixed{num_perm, bits, {}};
      uint32_t next = 0;
      for (uint32_t i = 0; i < strangers.size(); ++i) {
        // Lots of strangers between the rows; the first row of B is near, or a stranger.
        if (i % 64 == (first ? 0 : 1) && next < b.size()) push(&mixed, b, next++);
        push(&mixed, strangers, i);
      }
      ASSERT_EQ(next, b.size());
      std::vector<uint32_t> rank_a(a.size()), rank_b(mixed.size());
      std::iota(rank_a.rbegin(), rank_a.rend(), 0u);
      std::iota(rank_b.rbegin(), rank_b.rend(), 70000u);
      const uint32_t need = num_perm * 13 / 16;
      const std::vector<Pair> expected = reference::pairs_between(a, mixed, need);
      ASSERT_GT(expected.size(), 20u);
      std::vector<Pair> renamed;
      for (const auto& [x, y, m] : expected) renamed.emplace_back(rank_a[x], rank_b[y], m);
      std::sort(renamed.begin(), renamed.end());
      std::vector<uint32_t> near_b;
      for (const auto& [x, y, m] : expected) near_b.push_back(y);
      std::sort(near_b.begin(), near_b.end());
      const auto near = std::unique(near_b.begin(), near_b.end()) - near_b.begin();
      for (const size_t limit : {size_t{1} << 16, size_t{1} << 20, kUnlimited}) {
        const auto what = [&, num_perm = num_perm, bits = bits] {  // clang 14 captures no structured binding
          return ::testing::Message() << num_perm << " x " << bits << ", " << first << ", limit " << limit;
        };
        for (const bool ranks : {false, true}) {
          StdioTempFiles files;
          MinhashPairs engine(num_perm, bits, need, {.memory_limit = limit, .files = &files});
          add_all(engine, a);
          engine.start_set_b();
          add_all(engine, mixed);
          engine.run(ranks ? rank_a.data() : nullptr, ranks ? rank_b.data() : nullptr);
          ASSERT_EQ(drain(engine), ranks ? renamed : expected) << what();
          EXPECT_EQ(engine.stats().rows, a.size() + mixed.size()) << what();
          EXPECT_GT(engine.stats().set_aside, bits == 8 ? 1000u : 2900u) << what();
          EXPECT_LE(engine.stats().set_aside, mixed.size() - static_cast<size_t>(near)) << what();
        }
      }
    }
  }
}

TEST(Pairs, BetweenSwappedSets) {
  const Rows all = reference::make_set("mixed", 128, 32, 500, 9);
  for (const uint32_t need : {20u, 103u}) {
    for (const Identical identical : {Identical::all, Identical::star}) {
      for (const size_t limit : kLimits) {
        std::vector<Pair> told[2];
        for (const bool swapped : {false, true}) {
          StdioTempFiles files;
          MinhashPairs engine(128, 32, need,
                              {.memory_limit = limit, .files = &files, .identical = identical, .swapped = swapped});
          std::vector<uint32_t> rank[2];
          for (uint32_t i = 0; i < all.size(); ++i) {
            if (i == 200) engine.start_set_b();
            engine.add(all.row(i));
            rank[i >= 200].push_back(i * 7919 % 1009);
          }
          engine.run(rank[0].data(), rank[1].data());
          told[swapped] = drain(engine);
        }
        ASSERT_GT(told[0].size(), 20u);
        for (auto& [a, b, m] : told[0]) std::swap(a, b);
        std::sort(told[0].begin(), told[0].end());
        ASSERT_EQ(told[1], told[0]) << need << ", limit " << limit;
      }
    }
  }
}

// Rows that star and none leave out are reported, so nothing is set aside for them.
TEST(Pairs, BetweenKeepsAllRowsWhereThoseLeftOutAreTold) {
  const Rows a = reference::make_set("mixed", 128, 32, 100, 5);
  const Rows b = reference::make_set("equal", 128, 32, 500, 6);
  for (const Identical identical : {Identical::star, Identical::none}) {
    MinhashPairs engine(128, 32, 103, {.identical = identical});
    add_all(engine, a);
    engine.start_set_b();
    add_all(engine, b);
    engine.run();
    EXPECT_EQ(engine.stats().set_aside, 0u);
    EXPECT_GE(engine.stats().left_out, 499u);
  }
}

TEST(Pairs, RanksRenameAndOrder) {
  const Rows rows = reference::make_set("mixed", 128, 32, 400, 9);
  std::mt19937 random(4);
  const std::vector<uint32_t> rank = test::shuffled_ranks(rows.size(), 5, random);
  const std::vector<Pair> expected = reference::ranked(reference::pairs(rows, 100), rank);
  for (const size_t limit : kLimits)
    EXPECT_EQ(search(rows, rows.size(), 100, {.limit = limit, .rank_a = rank}).pairs, expected);
}

TEST(Pairs, CountMatchesReadsBoundedly) {
  const Rows rows = reference::make_set("mixed", 128, 32, 600, 9);
  std::vector<uint32_t> others(rows.size());
  std::mt19937 random(8);
  for (uint32_t i = 0; i < rows.size(); ++i) others[i] = random() % rows.size();
  for (const size_t limit : kLimits) {
    StdioTempFiles files;
    MinhashPairs engine(128, 32, 103, {.memory_limit = limit, .files = &files});
    add_all(engine, rows);
    std::vector<uint32_t> m(rows.size());
    engine.values_with(others.data(), m.data());
    for (uint32_t i = 0; i < rows.size(); ++i) ASSERT_EQ(m[i], reference::count_matches(rows, i, rows, others[i]));
  }
}

TEST(Pairs, ValuesOnDiskReadWhatTheyNeed) {
  const Rows rows = reference::make_set("mixed", 128, 32, 2000, 9);
  StdioTempFiles files;
  MinhashPairs engine(128, 32, 103, {.memory_limit = 64 << 10, .files = &files});
  add_all(engine, rows);
  std::vector<uint32_t> others(rows.size()), m(rows.size());
  for (uint32_t i = 0; i < rows.size(); ++i) others[i] = i;
  constexpr uint32_t kNeeded = 10;
  for (uint32_t k = 1; k <= kNeeded; ++k) others[100 * k + 50] = 100 * k - 50;
  const int64_t before = files.calls;
  engine.values_with(others.data(), m.data());
  EXPECT_LE(files.calls - before, 2 * kNeeded);  // a block and a row for each
  for (uint32_t i = 0; i < rows.size(); ++i) ASSERT_EQ(m[i], reference::count_matches(rows, i, rows, others[i]));
}

TEST(Pairs, CancelAtAnyPoll) {
  const Rows rows = reference::make_set("mixed", 128, 32, 3000, 3);
  for (const size_t limit : {size_t{64} << 10, size_t{1} << 20, kUnlimited}) {
    const auto r = reference::cancel_at_any_poll([](int64_t calls) { return calls + 1; },
                                                 [&](EngineOptions options, int64_t) {
                                                   options.memory_limit = limit;
                                                   run_all(rows, options);
                                                 });
    EXPECT_EQ(r.wrong, "") << "limit " << limit;
    EXPECT_GT(r.asked, 3);
  }
}

TEST(Pairs, AFailingFileLeavesNothingBehind) {
  const Rows rows = reference::make_set("mixed", 128, 32, 700, 3);
  const auto r = reference::fail_at_any_call([](int64_t calls) { return 1 + calls / 20; },
                                             [&](EngineOptions options, int64_t) {
                                               options.memory_limit = 64 << 10;
                                               run_all(rows, options);
                                             });
  EXPECT_EQ(r.wrong, "");
  EXPECT_GT(r.calls, 100);
}

TEST(Pairs, RefusesBadParameters) {
  EXPECT_THROW(MinhashPairs(128, 32, 0, {}), Error);
  EXPECT_THROW(MinhashPairs(128, 12, 1, {}), Error);
  EXPECT_THROW(MinhashPairs(8, 32, 1, {}), Error);
}

}  // namespace
}  // namespace neardup::pairs_test
