// All pairs of sets equal those of comparing everything, for every measure, shape, memory limit and thread.
#include "core/pairs/sets/set_pairs.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "core/exact/int_set.h"
#include "core/pairs/sets/set_bound.h"

#include "test/reference/cut_short.h"
#include "test/reference/int_sets.h"
#include "test/reference/stdio_temp_file.h"
#include "test/unit/pair_engines.h"

namespace neardup::set_pairs_test {
namespace {

using reference::kSetShapes;
using reference::make_sets;
using reference::Pair;
using reference::set_pairs_by_definition;
using reference::Sets;
using reference::StdioTempFiles;
using test::Setting;
using Random = std::mt19937_64;

constexpr Measure kMeasures[] = {Measure::set_jaccard,  Measure::set_overlap,         Measure::set_in_query,
                                 Measure::query_in_set, Measure::overlap_coefficient, Measure::set_dice,
                                 Measure::set_cosine};

std::vector<double> measure_bounds(Measure measure) {
  if (measure == Measure::set_overlap) return {0.5, 1, 2, 7.5, 30, 1e12};
  return {1e-300, 0.1, 0.28, 1 / 3.0, 0.5, 0.7, 0.9, 1};
}

void add(SetPairs& engine, const std::vector<int64_t>& set) { engine.add(set_view(set.data(), set.size())); }

test::Found search(const Sets& all, size_t count_a, Measure measure, double bound, const Setting& setting) {
  return test::search(
      all.size(), count_a, setting, [&](const EngineOptions& options) { return SetPairs(measure, bound, options); },
      [&](SetPairs& engine, uint32_t i) { add(engine, all[i]); });
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
              ASSERT_EQ(search(all, count_a, measure, bound, {.limit = limit, .threads = limit == 1 ? 3u : 1u}).pairs,
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
      test::Found found = search(all, all.size(), measure, bound, {});
      const std::vector<Pair> expected = set_pairs_by_definition(all, all.size(), measure, bound, Identical::all);
      EXPECT_EQ(found.pairs, expected);
      EXPECT_GT(expected.size(), 100u);
      EXPECT_EQ(found.stats.spilled_bytes, 0u);
      for (const size_t limit : {size_t{1} << 20, size_t{200} << 10}) {
        found = search(all, all.size(), measure, bound, {.limit = limit, .threads = 2});
        ASSERT_EQ(found.pairs, expected) << shape << " measure " << int(measure) << " limit " << limit;
        EXPECT_LE(found.stats.peak_bytes, limit + 32 * all.back().size()) << shape;
      }
      EXPECT_GT(found.stats.spilled_bytes, 0u);
    }
  }
}

// Rare elements lead: sets that share only frequent ones are not compared.
TEST(SetPairs, ComparesFew) {
  const Sets all = make_sets("common elements", 3'000, 8);
  for (const Measure measure : {Measure::set_jaccard, Measure::set_in_query}) {
    const SearchStats stats = search(all, all.size(), measure, 0.8, {}).stats;
    EXPECT_LT(stats.compared, 60'000u);
    EXPECT_GT(stats.found, 100u);
  }
}

TEST(SetPairs, SetsRanksAndEqualRows) {
  Random random(5);
  for (const char* shape : {"families", "equal", "small"}) {
    const Sets all = make_sets(shape, 60, 21);
    for (const Measure measure : kMeasures) {
      SCOPED_TRACE(std::string(shape) + ", measure " + std::to_string(int(measure)));
      const double bound = measure == Measure::set_overlap ? 3 : 0.6;
      test::check_sets_and_ranks(
          all.size(), {0, 1, 25, all.size()}, {SIZE_MAX, 1}, random,
          [&](size_t count_a, const Setting& s) {
            return set_pairs_by_definition(all, count_a, measure, bound, s.identical, s.rank_a, s.rank_b);
          },
          [&](size_t count_a, const Setting& s) { return search(all, count_a, measure, bound, s).pairs; });
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
        ASSERT_EQ(search(all, all.size(), measure, bound, {.limit = limit}).pairs,
                  set_pairs_by_definition(all, all.size(), measure, bound, Identical::all))
            << int(measure) << " " << bound;
    }
  }
}

TEST(SetPairs, ManyEqualRowsNeedNotBePaired) {
  Sets all(50'000, {1, 2, 3});
  all.push_back({1, 2, 3, 4});
  EXPECT_EQ(search(all, all.size(), Measure::set_jaccard, 0.7, {.identical = Identical::star}).pairs.size(), 50'000u);
  const test::Found found =
      search(all, all.size(), Measure::set_in_query, 1, {.limit = 1 << 20, .identical = Identical::none});
  EXPECT_EQ(found.pairs, (std::vector<Pair>{{0, 50'000, 3}}));
  EXPECT_EQ(found.stats.left_out, 49'999u);
}

TEST(SetPairs, ComponentsAndValues) {
  for (const char* shape : kSetShapes) {
    const Sets all = make_sets(shape, 150, 4);
    for (const Measure measure : kMeasures) {
      const double bound = measure == Measure::set_overlap ? 4 : 0.6;
      for (const size_t limit : {SIZE_MAX, size_t{1}}) {
        StdioTempFiles files;
        SetPairs engine(measure, bound, {.memory_limit = limit, .files = &files, .threads = 2});
        for (const auto& set : all) add(engine, set);
        SCOPED_TRACE(std::string(shape) + ", measure " + std::to_string(int(measure)));
        test::check_components(engine, 150, set_pairs_by_definition(all, 150, measure, bound, Identical::all),
                               [&](uint32_t i, uint32_t j) {
                                 return common_elements(all[i].data(), all[i].size(), all[j].data(), all[j].size());
                               });
      }
    }
  }
}

void run_all(const Sets& all, Measure measure, const EngineOptions& options) {
  SetPairs engine(measure, 0.8, options);
  for (const auto& set : all) add(engine, set);
  engine.run();
  reference::drain(engine, 64);
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
