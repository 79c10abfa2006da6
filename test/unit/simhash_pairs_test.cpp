// All pairs of simhashes equal those of comparing everything, for every distance, shape, memory limit and thread.
#include "core/pairs/simhash/simhash_pairs.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "core/base/union_find.h"
#include "core/signature/simhash.h"

#include "test/reference/cut_short.h"
#include "test/reference/hash_sets.h"
#include "test/reference/pairs_by_definition.h"
#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"
#include "test/unit/support.h"

namespace neardup::simhash_pairs_test {
namespace {

using reference::Pair;
using reference::StdioTempFiles;
using test::Random;

using reference::kHashShapes;
using reference::make_values;
using reference::Values;
using reference::with_flips;

std::vector<Pair> by_definition(const Values& all, size_t count_a, uint32_t most, Identical identical,
                                const std::vector<uint32_t>& rank_a = {}, const std::vector<uint32_t>& rank_b = {}) {
  return reference::pairs_by_definition(
      static_cast<uint32_t>(all.size()), static_cast<uint32_t>(count_a),
      [&](uint32_t i, uint32_t j) -> std::optional<uint32_t> {
        const auto d = static_cast<uint32_t>(hamming_distance(all[i], all[j]));
        return d <= most ? std::optional(d) : std::nullopt;
      },
      [&](uint32_t i, uint32_t j) { return all[i] == all[j]; }, identical, rank_a, rank_b);
}

struct Setting {
  size_t limit = SIZE_MAX;
  unsigned threads = 1;
  Identical identical = Identical::all;
};

std::vector<Pair> search(const Values& all, size_t count_a, uint32_t most, const Setting& setting,
                         const std::vector<uint32_t>& rank_a = {}, const std::vector<uint32_t>& rank_b = {},
                         SearchStats* stats = nullptr) {
  StdioTempFiles files;
  std::vector<Pair> out;
  {
    SimhashPairs engine(
        most,
        {.memory_limit = setting.limit, .files = &files, .threads = setting.threads, .identical = setting.identical});
    for (size_t i = 0; i < all.size(); ++i) {
      if (i == count_a) engine.start_set_b();
      engine.add(all[i]);
    }
    engine.run(rank_a.empty() ? nullptr : rank_a.data(), rank_b.empty() ? nullptr : rank_b.data());
    RowPair some[100];
    while (const size_t n = engine.next(some, 100)) {
      for (size_t i = 0; i < n; ++i) out.emplace_back(some[i].a, some[i].b, some[i].value);
    }
    if (stats != nullptr) *stats = engine.stats();
  }
  EXPECT_EQ(files.open, 0);
  return out;
}

TEST(SimhashPairs, EqualDefinitionForEveryShape) {
  for (const char* shape : kHashShapes) {
    for (const uint32_t n : {0u, 1u, 2u, 7u, 600u}) {
      const Values all = make_values(shape, n, n);
      for (const uint32_t most : {0u, 1u, 3u, 6u, 7u, 12u, 31u, 32u, 63u, 64u}) {
        const std::vector<Pair> expected = by_definition(all, n, most, Identical::all);
        for (const unsigned threads : {1u, 3u})
          ASSERT_EQ(search(all, n, most, {.threads = threads}), expected) << shape << " " << n << " distance " << most;
      }
    }
  }
}

TEST(SimhashPairs, EveryKernel) {
  const Values all = make_values("families", 700, 3);
  const std::vector<Pair> expected = by_definition(all, 700, 9, Identical::all);
  const std::vector<Pair> between = by_definition(all, 300, 9, Identical::all);
  test::for_each_kernels([&] {
    EXPECT_EQ(search(all, 700, 9, {}), expected);
    EXPECT_EQ(search(all, 300, 9, {}), between);
  });
}

// Large enough for several levels of search; checked against the plain comparison of all.
TEST(SimhashPairs, LargerSets) {
  for (const char* shape : {"families", "one block", "few bits"}) {
    const Values all = make_values(shape, 2'000, 8);
    for (const uint32_t most : {2u, 3u, 5u}) {
      const std::vector<Pair> expected = by_definition(all, all.size(), most, Identical::all);
      SearchStats stats;
      for (const size_t limit : {SIZE_MAX, size_t{1} << 20, size_t{64} << 10}) {
        ASSERT_EQ(search(all, all.size(), most, {.limit = limit, .threads = 2}, {}, {}, &stats), expected)
            << shape << " distance " << most << " limit " << limit;
        if (limit != SIZE_MAX) {
          EXPECT_LE(stats.peak_bytes, limit);
        } else if (std::string(shape) == "families") {
          EXPECT_LT(stats.looked, 200'000u);
        }
      }
    }
  }
}

TEST(SimhashPairs, SetsRanksAndEqualRows) {
  Random random(5);
  for (const char* shape : {"families", "equal", "giant", "few bits"}) {
    const Values all = make_values(shape, 250, 21);
    for (const size_t count_a : {size_t{0}, size_t{1}, size_t{120}, all.size()}) {
      std::vector<uint32_t> rank_a(count_a), rank_b(all.size() - count_a);
      std::iota(rank_a.begin(), rank_a.end(), 7u);
      std::iota(rank_b.begin(), rank_b.end(), 7u);
      std::shuffle(rank_a.begin(), rank_a.end(), random);
      std::shuffle(rank_b.begin(), rank_b.end(), random);
      for (const Identical identical : {Identical::all, Identical::star, Identical::none}) {
        for (const size_t limit : {SIZE_MAX, size_t{1}}) {
          const Setting setting{.limit = limit, .identical = identical};
          for (const uint32_t most : {0u, 3u, 20u}) {
            ASSERT_EQ(search(all, count_a, most, setting), by_definition(all, count_a, most, identical))
                << shape << " " << count_a << " identical " << int(identical);
            ASSERT_EQ(search(all, count_a, most, setting, rank_a, rank_b),
                      by_definition(all, count_a, most, identical, rank_a, rank_b))
                << shape << " " << count_a << " identical " << int(identical);
          }
        }
      }
    }
  }
}

TEST(SimhashPairs, ManyEqualRowsNeedNotBePaired) {
  Values all(100'000, 99);
  all.push_back(98);
  SearchStats stats;
  EXPECT_EQ(search(all, all.size(), 3, {.identical = Identical::star}, {}, {}, &stats).size(), 100'000u);
  EXPECT_EQ(stats.left_out, 0u);
  EXPECT_EQ(search(all, all.size(), 3, {.limit = 1 << 20, .identical = Identical::none}, {}, {}, &stats),
            (std::vector<Pair>{{0, 100'000, 1}}));
  EXPECT_EQ(stats.left_out, 99'999u);
}

// Equal values are found by parts in memory, and by an external sort beyond it.
TEST(SimhashPairs, EqualRowsInManyParts) {
  Random random(17);
  Values all;
  for (size_t i = 0; i < 40'000; ++i) all.push_back(i % 3 == 0 ? random() : all[random() % all.size()]);
  for (const size_t count_a : {all.size(), size_t{15'000}}) {
    for (const Identical identical : {Identical::all, Identical::star, Identical::none}) {
      SearchStats stats;
      const std::vector<Pair> in_memory = search(all, count_a, 1, {.identical = identical}, {}, {}, &stats);
      const uint64_t distinct = stats.distinct;
      EXPECT_EQ(search(all, count_a, 1, {.limit = 1 << 18, .identical = identical}, {}, {}, &stats), in_memory);
      // Where all are paired, and little memory is left, some take part in the search as if they were others.
      if (identical != Identical::all) {
        EXPECT_EQ(stats.distinct, distinct);
      }
      EXPECT_LT(distinct, 30'000u);
      if (identical == Identical::all) {
        EXPECT_GT(in_memory.size(), 20'000u);
      }
    }
  }
}

TEST(SimhashPairs, ComponentsAndValues) {
  for (const char* shape : kHashShapes) {
    const Values all = make_values(shape, 800, 4);
    for (const size_t limit : {SIZE_MAX, size_t{1}}) {
      UnionFind expected(800), sets(800);
      for (const auto& [a, b, d] : by_definition(all, 800, 3, Identical::all)) expected.unite(a, b);
      StdioTempFiles files;
      SimhashPairs engine(3, {.memory_limit = limit, .files = &files, .threads = 2});
      for (const uint64_t v : all) engine.add(v);
      engine.run_components(sets);
      std::vector<uint32_t> roots(800), values(800);
      for (uint32_t i = 0; i < 800; ++i) {
        roots[i] = sets.find(i);
        ASSERT_EQ(roots[i], expected.find(i));
      }
      engine.values_with(roots.data(), values.data());
      for (uint32_t i = 0; i < 800; ++i) {
        ASSERT_EQ(values[i], static_cast<uint32_t>(hamming_distance(all[i], all[roots[i]])));
      }
    }
  }
}

void run_all(const Values& all, const EngineOptions& options) {
  SimhashPairs engine(4, options);
  for (const uint64_t v : all) engine.add(v);
  engine.run();
  RowPair some[64];
  while (engine.next(some, 64) != 0) {
  }
}

TEST(SimhashPairs, CancelAtAnyPoll) {
  const Values all = make_values("families", 20'000, 6);
  for (const unsigned threads : {1u, 3u}) {
    for (const size_t limit : {SIZE_MAX, size_t{1} << 18}) {
      const auto r = reference::cancel_at_any_poll([](int64_t calls) { return 1 + calls / 2; },
                                                   [&](EngineOptions options, int64_t) {
                                                     options.memory_limit = limit;
                                                     options.threads = threads;
                                                     run_all(all, options);
                                                   });
      ASSERT_EQ(r.wrong, "") << threads << " threads, limit " << limit;
    }
  }
}

TEST(SimhashPairs, Thresholds) {
  EXPECT_EQ(most_simhash_distance(1), 0u);
  EXPECT_EQ(most_simhash_distance(0.953125), 3u);
  EXPECT_EQ(most_simhash_distance(0.9531251), 2u);
  EXPECT_EQ(most_simhash_distance(0.5), 32u);
  EXPECT_EQ(most_simhash_distance(1e-300), 63u);
  EXPECT_THROW(SimhashPairs(65, {}), Error);
}

}  // namespace
}  // namespace neardup::simhash_pairs_test
