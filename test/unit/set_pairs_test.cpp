// All pairs of sets equal those of comparing everything, for every measure, shape, memory limit and thread.
#include "core/pairs/sets/set_pairs.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "core/base/union_find.h"
#include "core/exact/int_set.h"
#include "core/pairs/sets/set_bound.h"

#include "test/reference/cut_short.h"
#include "test/reference/int_sets.h"
#include "test/reference/stdio_temp_file.h"

namespace neardup::set_pairs_test {
namespace {

using reference::kSetShapes;
using reference::make_sets;
using reference::Pair;
using reference::set_pairs_by_definition;
using reference::Sets;
using reference::StdioTempFiles;
using Random = std::mt19937_64;

constexpr Measure kMeasures[] = {Measure::set_jaccard,  Measure::set_overlap,         Measure::set_in_query,
                                 Measure::query_in_set, Measure::overlap_coefficient, Measure::set_dice,
                                 Measure::set_cosine};

std::vector<double> measure_bounds(Measure measure) {
  if (measure == Measure::set_overlap) return {0.5, 1, 2, 7.5, 30, 1e12};
  return {1e-300, 0.1, 0.28, 1 / 3.0, 0.5, 0.7, 0.9, 1};
}

struct Setting {
  size_t limit = SIZE_MAX;
  unsigned threads = 1;
  Identical identical = Identical::all;
};

void add_all(SetPairs& engine, const Sets& all, size_t count_a) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == count_a) engine.start_set_b();
    engine.add(set_view(all[i].data(), all[i].size()));
  }
}

std::vector<Pair> search(const Sets& all, size_t count_a, Measure measure, double bound, const Setting& setting,
                         const std::vector<uint32_t>& rank_a = {}, const std::vector<uint32_t>& rank_b = {},
                         SearchStats* stats = nullptr) {
  StdioTempFiles files;
  std::vector<Pair> out;
  {
    SetPairs engine(
        measure, bound,
        {.memory_limit = setting.limit, .files = &files, .threads = setting.threads, .identical = setting.identical});
    add_all(engine, all, count_a);
    engine.run(rank_a.empty() ? nullptr : rank_a.data(), rank_b.empty() ? nullptr : rank_b.data());
    RowPair some[100];
    while (const size_t n = engine.next(some, 100))
      for (size_t i = 0; i < n; ++i) out.emplace_back(some[i].a, some[i].b, some[i].value);
    if (stats != nullptr) *stats = engine.stats();
  }
  EXPECT_EQ(files.open, 0);
  return out;
}

TEST(SetPairs, EqualDefinitionForEveryShape) {
  for (const char* shape : kSetShapes) {
    for (const uint32_t n : {0u, 1u, 2u, 90u}) {
      const Sets all = make_sets(shape, n, n + 1);
      for (const Measure measure : kMeasures) {
        for (const double bound : measure_bounds(measure)) {
          for (const size_t count_a : {size_t{n}, size_t{n} / 3}) {
            const std::vector<Pair> expected = set_pairs_by_definition(all, count_a, measure, bound, Identical::all);
            for (const size_t limit : {SIZE_MAX, size_t{1}})
              ASSERT_EQ(search(all, count_a, measure, bound, {.limit = limit, .threads = limit == 1 ? 3u : 1u}),
                        expected)
                  << shape << " " << n << " measure " << int(measure) << " bound " << bound << " limit " << limit;
          }
        }
      }
    }
  }
}

// Several blocks and batches, on disk and in memory.
TEST(SetPairs, LargerSets) {
  for (const char* shape : {"families", "pages"}) {
    const Sets all = make_sets(shape, 600, 8);
    for (const Measure measure : kMeasures) {
      const double bound = measure == Measure::set_overlap ? 12 : 0.8;
      SearchStats stats;
      const std::vector<Pair> expected = search(all, all.size(), measure, bound, {}, {}, {}, &stats);
      EXPECT_EQ(expected, set_pairs_by_definition(all, all.size(), measure, bound, Identical::all));
      EXPECT_GT(expected.size(), 100u);
      EXPECT_EQ(stats.spilled_bytes, 0u);
      for (const size_t limit : {size_t{1} << 20, size_t{200} << 10}) {
        ASSERT_EQ(search(all, all.size(), measure, bound, {.limit = limit, .threads = 2}, {}, {}, &stats), expected)
            << shape << " measure " << int(measure) << " limit " << limit;
        EXPECT_LE(stats.peak_bytes, limit + 32 * all.back().size()) << shape;
      }
      EXPECT_GT(stats.spilled_bytes, 0u);
    }
  }
}

// Rare elements lead: sets that share only frequent ones are not compared.
TEST(SetPairs, ComparesFew) {
  const Sets all = make_sets("common elements", 3'000, 8);
  for (const Measure measure : {Measure::set_jaccard, Measure::set_in_query}) {
    SearchStats stats;
    search(all, all.size(), measure, 0.8, {}, {}, {}, &stats);
    EXPECT_LT(stats.compared, 60'000u);
    EXPECT_GT(stats.found, 100u);
  }
}

TEST(SetPairs, SetsRanksAndEqualRows) {
  Random random(5);
  for (const char* shape : {"families", "equal", "small"}) {
    const Sets all = make_sets(shape, 60, 21);
    for (const size_t count_a : {size_t{0}, size_t{1}, size_t{25}, all.size()}) {
      std::vector<uint32_t> rank_a(count_a), rank_b(all.size() - count_a);
      std::iota(rank_a.begin(), rank_a.end(), 7u);
      std::iota(rank_b.begin(), rank_b.end(), 7u);
      std::shuffle(rank_a.begin(), rank_a.end(), random);
      std::shuffle(rank_b.begin(), rank_b.end(), random);
      for (const Identical identical : {Identical::all, Identical::star, Identical::none}) {
        for (const Measure measure : kMeasures) {
          const double bound = measure == Measure::set_overlap ? 3 : 0.6;
          for (const size_t limit : {SIZE_MAX, size_t{1}}) {
            const Setting setting{.limit = limit, .identical = identical};
            ASSERT_EQ(search(all, count_a, measure, bound, setting),
                      set_pairs_by_definition(all, count_a, measure, bound, identical))
                << shape << " " << count_a << " identical " << int(identical) << " measure " << int(measure);
            ASSERT_EQ(search(all, count_a, measure, bound, setting, rank_a, rank_b),
                      set_pairs_by_definition(all, count_a, measure, bound, identical, rank_a, rank_b))
                << shape << " " << count_a << " identical " << int(identical) << " measure " << int(measure);
          }
        }
      }
    }
  }
}

// Sets of one element up to 100,000, with negative ones and the extremes.
TEST(SetPairs, AllSizes) {
  Sets all;
  for (const size_t size : {1u, 2u, 1600u, 1601u, 50'000u}) {
    for (const int64_t first : {int64_t{0}, int64_t{-3}, INT64_MIN, INT64_MAX - int64_t(size) + 1}) {
      all.emplace_back();
      for (size_t i = 0; i < size; i++) all.back().push_back(first + int64_t(i));
    }
  }
  for (const Measure measure : kMeasures) {
    for (const double bound : {0.02, 0.9, 1.0}) {
      for (const size_t limit : {SIZE_MAX, size_t{1} << 18})
        ASSERT_EQ(search(all, all.size(), measure, bound, {.limit = limit}),
                  set_pairs_by_definition(all, all.size(), measure, bound, Identical::all))
            << int(measure) << " " << bound;
    }
  }
}

TEST(SetPairs, ManyEqualRowsNeedNotBePaired) {
  Sets all(50'000, {1, 2, 3});
  all.push_back({1, 2, 3, 4});
  SearchStats stats;
  EXPECT_EQ(search(all, all.size(), Measure::set_jaccard, 0.7, {.identical = Identical::star}, {}, {}, &stats).size(),
            50'000u);
  EXPECT_EQ(search(all, all.size(), Measure::set_in_query, 1, {.limit = 1 << 20, .identical = Identical::none}, {}, {},
                   &stats),
            (std::vector<Pair>{{0, 50'000, 3}}));
  EXPECT_EQ(stats.left_out, 49'999u);
}

TEST(SetPairs, ComponentsAndValues) {
  for (const char* shape : kSetShapes) {
    const Sets all = make_sets(shape, 150, 4);
    for (const Measure measure : kMeasures) {
      const double bound = measure == Measure::set_overlap ? 4 : 0.6;
      for (const size_t limit : {SIZE_MAX, size_t{1}}) {
        UnionFind expected(150), sets(150);
        for (const auto& [a, b, v] : set_pairs_by_definition(all, 150, measure, bound, Identical::all))
          expected.unite(a, b);
        StdioTempFiles files;
        SetPairs engine(measure, bound, {.memory_limit = limit, .files = &files, .threads = 2});
        add_all(engine, all, 150);
        engine.run_components(sets);
        std::vector<uint32_t> roots(150), values(150);
        for (uint32_t i = 0; i < 150; ++i) {
          roots[i] = sets.find(i);
          ASSERT_EQ(roots[i], expected.find(i)) << shape << " measure " << int(measure);
        }
        engine.values_with(roots.data(), values.data());
        for (uint32_t i = 0; i < 150; ++i)
          ASSERT_EQ(values[i],
                    common_elements(all[i].data(), all[i].size(), all[roots[i]].data(), all[roots[i]].size()));
      }
    }
  }
}

void run_all(const Sets& all, Measure measure, const EngineOptions& options) {
  SetPairs engine(measure, 0.8, options);
  add_all(engine, all, all.size());
  engine.run();
  RowPair some[64];
  while (engine.next(some, 64) != 0) {
  }
}

TEST(SetPairs, CancelAtAnyPollAndFailAtAnyCall) {
  const Sets all = make_sets("pages", 600, 6);
  for (const Measure measure : {Measure::set_jaccard, Measure::set_in_query}) {
    for (const unsigned threads : {1u, 3u}) {
      for (const size_t limit : {SIZE_MAX, size_t{1} << 17}) {
        const auto work = [&](EngineOptions options, int64_t) {
          options.memory_limit = limit;
          options.threads = threads;
          run_all(all, measure, options);
        };
        const auto r = reference::cancel_at_any_poll([](int64_t calls) { return 1 + calls / 2; }, work);
        ASSERT_EQ(r.wrong, "") << threads << " threads, limit " << limit;
        const auto f = reference::fail_at_any_call([](int64_t calls) { return 1 + calls / 2; }, work);
        ASSERT_EQ(f.wrong, "") << threads << " threads, limit " << limit;
      }
    }
  }
}

// One set that is large enough to take long is cancelled in the middle, too.
TEST(SetPairs, LargeSetsAreCancelled) {
  Sets all(2, std::vector<int64_t>(1'000'000));
  std::iota(all[0].begin(), all[0].end(), 0);
  std::iota(all[1].begin(), all[1].end(), 100);
  const auto r = reference::cancel_at_any_poll(
      [](int64_t calls) { return 20 + calls; },
      [&](const EngineOptions& options, int64_t) { run_all(all, Measure::set_jaccard, options); });
  EXPECT_EQ(r.wrong, "");
  EXPECT_GT(r.asked, 100);
}

// The measures are numbers: the bounds that SQL compares with.
TEST(SetPairs, BoundsAreThoseOfTheDivision) {
  for (const Measure measure : kMeasures) {
    for (const double bound : measure_bounds(measure)) {
      const SetBound set_bound(measure, bound, false);
      for (uint32_t x = 1; x < 60; ++x) {
        for (uint32_t y = 1; y < 60; ++y) {
          const bool x_is_contained = measure != Measure::query_in_set;
          uint32_t least = 1;
          while (least <= std::min(x, y) &&
                 measure_sets(measure, x_is_contained ? x : y, x_is_contained ? y : x, least) < bound)
            ++least;
          ASSERT_EQ(set_bound.may_match(x, y), least <= std::min(x, y)) << bound << " " << x << " " << y;
          if (least > std::min(x, y)) continue;
          ASSERT_EQ(set_bound.common(x, y), least) << bound << " " << x << " " << y;
          ASSERT_GE(set_bound.indexed_prefix(x), x - least + 1);
          ASSERT_GE(set_bound.probe_prefix(y), y - least + 1);
        }
      }
    }
  }
}

TEST(SetPairs, BadInput) {
  EXPECT_THROW(SetPairs(Measure::set_jaccard, 0, {}), Error);
  EXPECT_THROW(SetPairs(Measure::set_jaccard, 1.01, {}), Error);
  EXPECT_THROW(SetPairs(Measure::set_in_query, NAN, {}), Error);
  EXPECT_THROW(SetPairs(Measure::set_overlap, -1, {}), Error);
  SetPairs engine(Measure::set_overlap, 5, {});
  EXPECT_THROW(engine.add(SetView{}), Error);
}

}  // namespace
}  // namespace neardup::set_pairs_test
