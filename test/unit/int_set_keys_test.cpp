// Sets in an index: what is looked up must find every set that qualifies; buckets of minutiae; cells of points.
#include "core/lsh/int_set_keys.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "core/exact/int_set.h"

namespace neardup::int_set_keys_test {
namespace {

std::vector<int64_t> random_set(std::mt19937_64& rng, size_t n, int64_t values) {
  std::vector<int64_t> s(n);
  for (int64_t& v : s) v = static_cast<int64_t>(rng() % static_cast<uint64_t>(values)) - values / 2;
  s.resize(make_set(s.data(), s.size()));
  return s;
}

TEST(IntSet, RepeatedElementsInOrder) {
  std::vector<int64_t> elements{-1, 2, 2, 3, 3, 3};
  ASSERT_EQ(make_set(elements.data(), elements.size()), 3u);
  EXPECT_EQ(elements[0], -1);
  EXPECT_EQ(elements[1], 2);
  EXPECT_EQ(elements[2], 3);
}

TEST(IntSet, EqualsStdSet) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> raw(rng() % 40);
    for (int64_t& v : raw) v = static_cast<int64_t>(rng() % 30) - 15;
    if (round % 7 == 0 && !raw.empty()) raw[0] = INT64_MIN, raw.back() = INT64_MAX;
    const std::set<int64_t> want(raw.begin(), raw.end());
    raw.resize(make_set(raw.data(), raw.size()));
    EXPECT_TRUE(std::equal(raw.begin(), raw.end(), want.begin(), want.end()));
    const std::vector<int64_t> other = random_set(rng, rng() % 40, 30);
    size_t common = 0;
    for (const int64_t v : other) common += want.count(v);
    EXPECT_EQ(common_elements(raw.data(), raw.size(), other.data(), other.size()), common);
    const size_t either = raw.size() + other.size() - common;
    const double j = raw.empty() || other.empty() ? 0.0 : static_cast<double>(common) / static_cast<double>(either);
    const AnyValue x = set_view(raw.data(), raw.size());
    const AnyValue y = set_view(other.data(), other.size());
    EXPECT_EQ(info(Measure::set_jaccard).value(x, y), j);
    const double share = raw.empty() ? 0.0 : static_cast<double>(common) / static_cast<double>(raw.size());
    EXPECT_EQ(info(Measure::set_in_query).value(x, y), share);
    EXPECT_EQ(info(Measure::query_in_set).value(y, x), share);
    EXPECT_EQ(info(Measure::set_overlap).value(x, y), static_cast<double>(common));
  }
}

// `least` is the least number of common elements of a set that qualifies, for it may be a part of the query.
TEST(SetPlan, LeastIsTheDefinitions) {
  std::vector<double> bounds = {1e-9, 0.1, 0.2, 1.0 / 3, 0.5, 0.6, 2.0 / 3, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99, 1};
  for (int i = 1; i < 60; ++i)
    for (const int j : {59, 61}) bounds.push_back(std::min(1.0, static_cast<double>(i) / j));
  for (const double exact : {0.5, 0.8, 1.0 / 3, 0.6})
    for (const double to : {0.0, 2.0}) bounds.push_back(std::nextafter(exact, to));
  for (size_t n = 1; n <= 200; ++n) {
    for (const double bound : bounds) {
      const SetPlan plan = plan_set(Measure::set_jaccard, n, bound, kMaxIndexedSet1);
      ASSERT_TRUE(plan.served && !plan.nothing);
      uint32_t least = 1;
      while (static_cast<double>(least) / static_cast<double>(n) < bound) ++least;
      EXPECT_EQ(plan.least, least) << n << " " << bound;
      EXPECT_LE(plan.least, n);
      EXPECT_EQ(plan.large, static_cast<double>(n) / 1601.0 >= bound);
    }
  }
}

TEST(SizeClass, HoldsItsSizes) {
  for (size_t n = 1; n <= kMaxIndexedSet2; ++n) {
    const uint32_t c = size_class(n);
    ASSERT_LT(c, kSizeClasses);
    ASSERT_LE((4 + c % 4) << (c / 4), 4 * n);
    ASSERT_GT((5 + c % 4) << (c / 4), 4 * n);
    ASSERT_LE(least_size(c), n);
    ASSERT_EQ(least_size(c), ((4 + c % 4) * (size_t{1} << (c / 4)) + 3) / 4);
  }
}

// A class needs what the smallest of its sets needs; sets of classes beyond have too many elements.
TEST(SizeClass, LeastIsThatOfItsSmallestSet) {
  for (const size_t n : {1, 2, 3, 25, 84, 1000, 65000}) {
    for (const double bound : {1e-9, 0.28, 1.0 / 3, 0.5, 0.8, 1.0}) {
      const SetPlan plan = plan_set(Measure::set_in_query, n, bound, kMaxIndexedSet2);
      for (uint32_t c = 0; c < kSizeClasses; ++c) {
        const auto size = static_cast<double>(least_size(c));
        const auto share = [&](uint32_t common) { return static_cast<double>(common) / size; };
        if (c >= plan.classes) {
          EXPECT_LT(share(static_cast<uint32_t>(n)), bound) << n << " " << bound << " " << c;
          continue;
        }
        EXPECT_GE(share(plan.class_least[c]), bound);
        EXPECT_TRUE(plan.class_least[c] == 1 || share(plan.class_least[c] - 1) < bound)
            << n << " " << bound << " " << c;
        EXPECT_LE(plan.class_least[c], n);
      }
    }
  }
  EXPECT_EQ(plan_set(Measure::query_in_set, 100, 0.5, kMaxIndexedSet2).classes, 0u);
}

// A set that qualifies has at least so many of the query's elements, and there is one that has no more.
TEST(SetPlan, OfContainmentAndOverlap) {
  for (size_t n = 1; n <= 200; ++n) {
    for (const double bound : {1e-9, 0.28, 1.0 / 3, 0.5, 0.8, 1.0}) {
      const SetPlan contains = plan_set(Measure::query_in_set, n, bound, kMaxIndexedSet1);
      uint32_t least = 1;
      while (static_cast<double>(least) / static_cast<double>(n) < bound) ++least;
      EXPECT_EQ(contains.least, least) << n << " " << bound;
      EXPECT_TRUE(contains.large);
      const SetPlan contained = plan_set(Measure::set_in_query, n, bound, kMaxIndexedSet1);
      EXPECT_EQ(contained.least, 1u);
      EXPECT_EQ(contained.large, static_cast<double>(n) / 1601.0 >= bound);
    }
    for (const double bound : {0.5, 1.0, 1.5, 20.0, 200.0}) {
      const SetPlan overlap = plan_set(Measure::set_overlap, n, bound, kMaxIndexedSet1);
      EXPECT_EQ(overlap.nothing, bound > static_cast<double>(n));
      if (!overlap.nothing) {
        EXPECT_EQ(overlap.least, std::ceil(bound));
      }
    }
  }
  for (const Measure measure : {Measure::set_in_query, Measure::query_in_set, Measure::set_overlap}) {
    EXPECT_FALSE(plan_set(measure, 5, 0, kMaxIndexedSet1).served);
    EXPECT_FALSE(plan_set(measure, 5, -INFINITY, kMaxIndexedSet1).served);
    EXPECT_TRUE(plan_set(measure, 0, 0.5, kMaxIndexedSet1).nothing);
    EXPECT_TRUE(plan_set(measure, 5, NAN, kMaxIndexedSet1).nothing);
    EXPECT_TRUE(plan_set(measure, 5, INFINITY, kMaxIndexedSet1).nothing);
    EXPECT_FALSE(plan_set(measure, kMaxQuerySet + 1, 0.5, kMaxIndexedSet1).served);
  }
}

// Whatever the measure: a set that qualifies is found by its hits, or as one that is too large.
TEST(SetPlan, FindsWhatQualifies) {
  constexpr size_t kMost = 20;
  for (size_t i = 1; i <= kNewestStoredMeasure; ++i) {
    const auto measure = static_cast<Measure>(i);
    if (!is_of_sets(measure)) continue;
    for (uint32_t n = 1; n <= 40; ++n) {
      for (const double of_one : {1e-9, 0.28, 1.0 / 3, 0.5, 2.0 / 3, 0.8, 1.0}) {
        const double bound = info(measure).range.most > 1 ? std::ceil(of_one * 40) : of_one;
        const SetPlan plan = plan_set(measure, n, bound, kMost);
        for (uint32_t size = 1; size <= 60; ++size) {
          for (uint32_t common = 1; common <= std::min(size, n); ++common) {
            if (measure_sets(measure, size, n, common) < bound) continue;
            ASSERT_TRUE(plan.served && !plan.nothing) << info(measure).name;
            if (size > kMost) {
              ASSERT_TRUE(plan.large) << info(measure).name << " " << n << " " << bound << " " << size;
              continue;
            }
            ASSERT_GE(common, plan.least) << info(measure).name << " " << n << " " << bound << " " << size;
            if (plan.classes == 0) continue;
            ASSERT_LT(size_class(size), plan.classes);
            ASSERT_GE(common, plan.class_least[size_class(size)]);
          }
        }
      }
    }
  }
}

TEST(SetPlan, Edges) {
  EXPECT_FALSE(plan_set(Measure::set_jaccard, 5, 0, kMaxIndexedSet1).served);
  EXPECT_FALSE(plan_set(Measure::set_jaccard, 0, -1, kMaxIndexedSet1).served);
  EXPECT_TRUE(plan_set(Measure::set_jaccard, 0, 0.1, kMaxIndexedSet1).nothing);
  EXPECT_TRUE(plan_set(Measure::set_jaccard, 5, 1.1, kMaxIndexedSet1).nothing);
  EXPECT_TRUE(plan_set(Measure::set_jaccard, 5, NAN, kMaxIndexedSet1).nothing);
  EXPECT_TRUE(plan_set(Measure::set_jaccard, 5, NAN, kMaxIndexedSet1).served);
  EXPECT_TRUE(plan_set(Measure::set_jaccard, 1601, 1, kMaxIndexedSet1).large);
  EXPECT_FALSE(plan_set(Measure::set_jaccard, 1600, 1, kMaxIndexedSet1).large);
  EXPECT_TRUE(plan_set(Measure::set_jaccard, kMaxQuerySet, 0.5, kMaxIndexedSet1).served);
  EXPECT_FALSE(plan_set(Measure::set_jaccard, kMaxQuerySet + 1, 0.5, kMaxIndexedSet1).served);
  EXPECT_FALSE(plan_set(Measure::set_jaccard, 5, -INFINITY, kMaxIndexedSet1).served);
}

TEST(Minutiae, CellsOfFunctionsAreFrozen) {
  uint32_t cells[kMaxFunctionCells];
  function_cells(kDefaultMinutiae, 0, cells);
  const std::vector<uint32_t> first(cells, cells + 3);
  function_cells(kDefaultMinutiae, 1023, cells);
  const std::vector<uint32_t> last(cells, cells + 3);
  EXPECT_EQ(first, (std::vector<uint32_t>{62, 911, 2248}));
  EXPECT_EQ(last, (std::vector<uint32_t>{84, 1835, 3532}));
  for (const MinutiaeRules rules :
       {MinutiaeRules{1600, 8, 4}, MinutiaeRules{64, 1, 1024}, MinutiaeRules{1024, 3, 64}}) {
    std::vector<uint32_t> used(rules.grid * rules.grid);
    for (uint32_t f = 0; f < rules.functions; ++f) {
      function_cells(rules, f, cells);
      for (uint32_t i = 0; i < rules.cells; ++i) {
        ASSERT_LT(cells[i], rules.grid * rules.grid);
        if (i != 0) {
          EXPECT_LT(cells[i - 1], cells[i]);
        }
        ++used[cells[i]];
      }
    }
    if (rules.grid != 4) continue;
    for (const uint32_t n : used) EXPECT_NEAR(n, 800, 120);
  }
}

TEST(Minutiae, BucketsEqualDefinition) {
  std::mt19937_64 rng(2);
  for (const MinutiaeRules rules : {MinutiaeRules{300, 3, 9}, MinutiaeRules{1600, 2, 64}, MinutiaeRules{16, 8, 4}}) {
    for (int round = 0; round < 20; ++round) {
      const int64_t cells = int64_t{rules.grid} * rules.grid;
      std::vector<int64_t> s = random_set(rng, static_cast<size_t>(cells) * (round % 4) / 2, 4 * cells);
      std::vector<uint32_t> want;
      for (uint32_t f = 0; f < rules.functions; ++f) {
        uint32_t of_f[kMaxFunctionCells];
        function_cells(rules, f, of_f);
        if (std::all_of(of_f, of_f + rules.cells,
                        [&](uint32_t c) { return std::binary_search(s.begin(), s.end(), int64_t{c}); }))
          want.push_back(f);
      }
      EXPECT_EQ(minutiae_buckets(rules, s.data(), s.size()), want);
    }
  }
}

// Mining of Massive Datasets, 3.8.4: 1024 functions of 3 cells, density 0.2, repeat 0.8.
TEST(Minutiae, ProbabilityOfTheWorkedExample) {
  EXPECT_NEAR(bucket_probability(kDefaultMinutiae, 0.2, 0.8), 0.985, 0.0005);
  EXPECT_NEAR(bucket_probability(kDefaultMinutiae, 0.2, 0.2), 0.063, 0.0005);
}

TEST(Minutiae, PointsNearABorderCountOnBothSides) {
  const auto cells = [](double x, double y, uint32_t grid, double margin) {
    const GridPoint p{x, y};
    return point_cells(&p, 1, grid, margin);
  };
  using V = std::vector<int64_t>;
  EXPECT_EQ(cells(0.5 + 0.125, 0.125, 4, 0.1), V({2}));
  EXPECT_EQ(cells(0.51, 0.125, 4, 0.1), V({1, 2}));
  EXPECT_EQ(cells(0.49, 0.26, 4, 0.1), V({1, 2, 5, 6}));
  EXPECT_EQ(cells(0.51, 0.125, 4, 0), V({2}));
  EXPECT_EQ(cells(0, 0, 4, 0.5), V({0}));
  EXPECT_EQ(cells(1, 1, 4, 0.1), V({15}));
  EXPECT_EQ(cells(1, 0.5, 4, 0.1), V({7, 11}));
  const GridPoint two[] = {{0.1, 0.1}, {0.12, 0.1}};
  EXPECT_EQ(point_cells(two, 2, 4, 0), V({0}));
  EXPECT_TRUE(point_cells(nullptr, 0, 4, 0).empty());
}

}  // namespace
}  // namespace neardup::int_set_keys_test
