// The tables of kinds and measures: each row is what it says, and of sets what follows from one function.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "core/kinds/measure.h"

namespace neardup::kinds_test {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Measure> all_measures() {
  std::vector<Measure> all;
  for (size_t i = 1; i <= kMeasures; ++i) all.push_back(static_cast<Measure>(i));
  return all;
}

std::vector<Measure> measures_of_sets() {
  std::vector<Measure> some = all_measures();
  std::erase_if(some, [](Measure m) { return !is_of_sets(m); });
  return some;
}

TEST(Kinds, TablesAreByNumber) {
  std::set<std::string> names;
  for (const Measure m : all_measures()) {
    const MeasureInfo& row = info(m);
    EXPECT_EQ(row.measure, m);
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    EXPECT_EQ(measure_kind(row.mirrored), row.kind) << row.name;
    EXPECT_EQ(info(row.mirrored).mirrored, m) << row.name;
    EXPECT_EQ(row.rule.value != nullptr, row.kind == Kind::set) << row.name;
  }
  EXPECT_EQ(names.size(), kMeasures);
  EXPECT_EQ(info(Kind::minhash).name, std::string("minhash"));
  EXPECT_EQ(info(Kind::set).name, std::string("set"));
}

TEST(Kinds, NearerBoundsAreCloser) {
  for (const Measure m : all_measures()) {
    const MeasureInfo& row = info(m);
    double last = row.is_similarity ? 0 : kInfinity;
    for (int i = 0; i <= 100; ++i) {
      const double most = std::min(row.range.most, 1e6);
      const double bound = (row.is_similarity ? i : 100 - i) / 100.0 * most;
      const double now = closeness(m, bound);
      EXPECT_GE(now, 0) << row.name;
      EXPECT_LE(now, 1) << row.name << " " << bound;
      if (i > 0) {
        EXPECT_GE(now, last) << row.name << " " << bound;
      }
      last = now;
    }
    EXPECT_EQ(beyond_reach(m, NAN), row.is_similarity) << row.name;
    EXPECT_TRUE(beyond_reach(m, row.is_similarity ? kInfinity : -1)) << row.name;
  }
}

TEST(Kinds, BordersOfBounds) {
  for (const Measure m : all_measures()) {
    const BoundRange& range = info(m).range;
    EXPECT_EQ(is_valid_bound(m, range.least), !range.is_above) << range.name;
    EXPECT_TRUE(is_valid_bound(m, std::nextafter(range.least, 2))) << range.name;
    EXPECT_FALSE(is_valid_bound(m, std::nextafter(range.least, -1))) << range.name;
    EXPECT_TRUE(is_valid_bound(m, range.most)) << range.name;
    EXPECT_FALSE(is_valid_bound(m, std::nextafter(range.most, kInfinity))) << range.name;
    EXPECT_FALSE(is_valid_bound(m, NAN)) << range.name;
  }
}

// As the documents define them, of x and y elements with `common` ones in both.
double by_definition(Measure m, double x, double y, double common) {
  switch (m) {
    case Measure::set_jaccard:
      return common / (x + y - common);
    case Measure::set_in_query:
      return common / x;
    case Measure::query_in_set:
      return common / y;
    case Measure::set_overlap:
      return common;
    case Measure::set_dice:
      return 2 * common / (x + y);
    case Measure::set_cosine:
      return common / std::sqrt(x * y);
    case Measure::overlap_coefficient:
      return common / std::min(x, y);
    default:
      ADD_FAILURE() << info(m).name << " has no definition here";
      return 0;
  }
}

TEST(Kinds, MeasuresOfSetsAreTheirDefinitions) {
  for (const Measure m : measures_of_sets())
    for (uint32_t x = 0; x <= 20; ++x)
      for (uint32_t y = 0; y <= 20; ++y)
        for (uint32_t common = 0; common <= std::min(x, y); ++common)
          EXPECT_EQ(measure_sets(m, x, y, common), common == 0 ? 0 : by_definition(m, x, y, common)) << info(m).name;
}

// Prefixes of sets and look-ups build on this.
TEST(Kinds, MeasuresOfSetsGrowWithWhatIsCommon) {
  for (const Measure m : measures_of_sets()) {
    const SetRule& rule = info(m).rule;
    for (uint32_t x = 1; x <= 40; ++x) {
      for (uint32_t y = 1; y <= 40; ++y) {
        for (uint32_t common = 1; common <= std::min(x, y); ++common) {
          const double value = rule.value(x, y, common);
          EXPECT_GT(value, 0);
          if (common > 1) {
            EXPECT_GT(value, rule.value(x, y, common - 1)) << info(m).name;
          }
          EXPECT_LE(rule.value(x + 1, y, common), value) << info(m).name;
          EXPECT_LE(rule.value(x, y + 1, common), value) << info(m).name;
        }
      }
    }
  }
}

std::vector<double> measure_bounds(Measure m) {
  if (info(m).range.most > 1) return {0.5, 1, 2, 7.5, 30, 1e12};
  std::vector<double> bounds = {1e-9, 0.1, 1.0 / 3, 0.5, 0.6, 2.0 / 3, 0.75, 0.8, 0.9, 0.99, 1};
  for (const double exact : {0.5, 0.8, 1.0 / 3})
    for (const double to : {0.0, 2.0}) bounds.push_back(std::nextafter(exact, to));
  return bounds;
}

TEST(Kinds, LeastNumbersAreThoseOfTheMeasure) {
  for (const Measure m : measures_of_sets()) {
    const SetRule& rule = info(m).rule;
    for (const double bound : measure_bounds(m)) {
      for (uint32_t x = 1; x <= 60; ++x) {
        uint32_t least_of_any = x + 1;  // whatever the other set
        for (uint32_t y = 1; y <= 60; ++y) {
          uint32_t least = 1;
          while (least <= std::min(x, y) && rule.value(x, y, least) < bound) ++least;
          ASSERT_EQ(rule.least_common(bound, x, y), least) << info(m).name << " " << bound << " " << x << " " << y;
          if (least <= std::min(x, y)) least_of_any = std::min(least_of_any, least);
        }
        ASSERT_EQ(least_part_of_first(rule, bound, x), least_of_any) << info(m).name << " " << bound << " " << x;
        ASSERT_EQ(least_part_of_second(info(info(m).mirrored).rule, bound, x), least_of_any) << info(m).name;
      }
    }
  }
}

}  // namespace
}  // namespace neardup::kinds_test
