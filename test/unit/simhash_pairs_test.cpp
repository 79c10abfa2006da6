// All pairs of simhashes equal those of comparing everything, for every distance, shape, memory limit and thread.
#include "core/pairs/simhash/simhash_pairs.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/signature/simhash.h"

#include "test/reference/cut_short.h"
#include "test/reference/hash_sets.h"
#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"
#include "test/unit/pair_engines.h"
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
using test::Setting;

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

test::Found search(const Values& all, size_t count_a, uint32_t most, const Setting& setting) {
  return test::search(
      all.size(), count_a, setting, [&](const EngineOptions& options) { return SimhashPairs(most, options); },
      [&](SimhashPairs& engine, uint32_t i) { engine.add(all[i]); });
}

TEST(SimhashPairs, EqualDefinitionForEveryShape) {
  for (const char* shape : kHashShapes) {
    for (const uint32_t n : {0u, 1u, 2u, 7u, 600u}) {
      const Values all = make_values(shape, n, n);
      for (const uint32_t most : {0u, 1u, 3u, 6u, 7u, 12u, 31u, 32u, 63u, 64u}) {
        const std::vector<Pair> expected = by_definition(all, n, most, Identical::all);
        for (const unsigned threads : {1u, 3u})
          ASSERT_EQ(search(all, n, most, {.threads = threads}).pairs, expected)
              << shape << " " << n << " distance " << most;
      }
    }
  }
}

TEST(SimhashPairs, EveryKernel) {
  const Values all = make_values("families", 700, 3);
  const std::vector<Pair> expected = by_definition(all, 700, 9, Identical::all);
  const std::vector<Pair> between = by_definition(all, 300, 9, Identical::all);
  test::for_each_kernels([&] {
    EXPECT_EQ(search(all, 700, 9, {}).pairs, expected);
    EXPECT_EQ(search(all, 300, 9, {}).pairs, between);
  });
}

// Large enough for several levels of search; checked against the plain comparison of all.
TEST(SimhashPairs, LargerSets) {
  for (const char* shape : {"families", "one block", "few bits"}) {
    const Values all = make_values(shape, 2'000, 8);
    for (const uint32_t most : {2u, 3u, 5u}) {
      const std::vector<Pair> expected = by_definition(all, all.size(), most, Identical::all);
      for (const size_t limit : {SIZE_MAX, size_t{1} << 20, size_t{64} << 10}) {
        const test::Found found = search(all, all.size(), most, {.limit = limit, .threads = 2});
        ASSERT_EQ(found.pairs, expected) << shape << " distance " << most << " limit " << limit;
        EXPECT_LE(found.stats.peak_bytes, limit);
        if (limit == SIZE_MAX && std::string(shape) == "families") {
          EXPECT_LT(found.stats.looked, 200'000u);
        }
      }
    }
  }
}

TEST(SimhashPairs, SetsRanksAndEqualRows) {
  Random random(5);
  for (const char* shape : {"families", "equal", "giant", "few bits"}) {
    const Values all = make_values(shape, 250, 21);
    for (const uint32_t most : {0u, 3u, 20u}) {
      SCOPED_TRACE(std::string(shape) + ", distance " + std::to_string(most));
      test::check_sets_and_ranks(
          all.size(), {0, 1, 120, all.size()}, {SIZE_MAX, 1}, random,
          [&](size_t count_a, const Setting& s) {
            return by_definition(all, count_a, most, s.identical, s.rank_a, s.rank_b);
          },
          [&](size_t count_a, const Setting& s) { return search(all, count_a, most, s).pairs; });
    }
  }
}

TEST(SimhashPairs, ManyEqualRowsNeedNotBePaired) {
  Values all(100'000, 99);
  all.push_back(98);
  const test::Found star = search(all, all.size(), 3, {.identical = Identical::star});
  EXPECT_EQ(star.pairs.size(), 100'000u);
  EXPECT_EQ(star.stats.left_out, 0u);
  const test::Found none = search(all, all.size(), 3, {.limit = 1 << 20, .identical = Identical::none});
  EXPECT_EQ(none.pairs, (std::vector<Pair>{{0, 100'000, 1}}));
  EXPECT_EQ(none.stats.left_out, 99'999u);
}

// Equal values are found by parts in memory, and by an external sort beyond it.
TEST(SimhashPairs, EqualRowsInManyParts) {
  Random random(17);
  Values all;
  for (size_t i = 0; i < 40'000; ++i) all.push_back(i % 3 == 0 ? random() : all[random() % all.size()]);
  for (const size_t count_a : {all.size(), size_t{15'000}}) {
    for (const Identical identical : {Identical::all, Identical::star, Identical::none}) {
      const test::Found in_memory = search(all, count_a, 1, {.identical = identical});
      const test::Found by_parts = search(all, count_a, 1, {.limit = 1 << 18, .identical = identical});
      EXPECT_EQ(by_parts.pairs, in_memory.pairs);
      EXPECT_LT(in_memory.stats.distinct, 30'000u);
      // Where all are paired, and little memory is left, some take part in the search as if they were others.
      if (identical != Identical::all) {
        EXPECT_EQ(by_parts.stats.distinct, in_memory.stats.distinct);
      } else {
        EXPECT_GT(in_memory.pairs.size(), 20'000u);
      }
    }
  }
}

TEST(SimhashPairs, ComponentsAndValues) {
  for (const char* shape : kHashShapes) {
    const Values all = make_values(shape, 800, 4);
    for (const size_t limit : {SIZE_MAX, size_t{1}}) {
      StdioTempFiles files;
      SimhashPairs engine(3, {.memory_limit = limit, .files = &files, .threads = 2});
      for (const uint64_t v : all) engine.add(v);
      test::check_components(engine, 800, by_definition(all, 800, 3, Identical::all), [&](uint32_t i, uint32_t j) {
        return static_cast<uint32_t>(hamming_distance(all[i], all[j]));
      });
    }
  }
}

void run_all(const Values& all, const EngineOptions& options) {
  SimhashPairs engine(4, options);
  for (const uint64_t v : all) engine.add(v);
  engine.run();
  reference::drain(engine, 64);
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
