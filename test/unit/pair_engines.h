// The engines of pairs under test: a search by any of them, and checks that all of them have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "core/base/union_find.h"
#include "core/pairs/pair_search.h"

#include "test/reference/pairs_by_definition.h"
#include "test/reference/stdio_temp_file.h"

namespace neardup::test {

struct Setting {
  size_t limit = SIZE_MAX;
  unsigned threads = 1;
  Identical identical = Identical::all;
  std::vector<uint32_t> rank_a = {}, rank_b = {};
  bool two_sets = false;  // also where set B has no row
};

struct Found {
  std::vector<reference::Pair> pairs;
  SearchStats stats;
};

// The pairs of n rows, those from count_a on being of set B, by the engine that make(options) returns; add(engine, i)
// adds row i.
template <class Make, class Add>
Found search(size_t n, size_t count_a, const Setting& s, Make make, Add add) {
  reference::StdioTempFiles files;
  Found out;
  {
    auto engine =
        make(EngineOptions{.memory_limit = s.limit, .files = &files, .threads = s.threads, .identical = s.identical});
    for (uint32_t i = 0; i < n; ++i) {
      if (i == count_a) engine.start_set_b();
      add(engine, i);
    }
    if (s.two_sets && count_a == n) engine.start_set_b();
    engine.run(reference::data_or_null(s.rank_a), reference::data_or_null(s.rank_b));
    out.pairs = reference::drain(engine);
    out.stats = engine.stats();
    EXPECT_LE(files.most_open, 20);
  }
  EXPECT_EQ(files.open, 0);
  return out;
}

template <class Random>
std::vector<uint32_t> shuffled_ranks(size_t n, uint32_t first, Random& random) {
  std::vector<uint32_t> out(n);
  std::iota(out.begin(), out.end(), first);
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

// found(count_a, setting) gives expected(count_a, setting) for every treatment of equal rows, with ranks and without.
template <class Random, class Expect, class Find>
void check_sets_and_ranks(size_t n, std::initializer_list<size_t> counts, std::initializer_list<size_t> limits,
                          Random& random, Expect expected, Find found) {
  for (const size_t count_a : counts) {
    const auto rank_a = shuffled_ranks(count_a, 7, random), rank_b = shuffled_ranks(n - count_a, 7, random);
    for (const Identical identical : {Identical::all, Identical::star, Identical::none}) {
      for (const bool ranks : {false, true}) {
        Setting s{.identical = identical};
        if (ranks) s.rank_a = rank_a, s.rank_b = rank_b;
        const std::vector<reference::Pair> want = expected(count_a, s);
        for (const size_t limit : limits) {
          s.limit = limit;
          ASSERT_EQ(found(count_a, s), want)
              << count_a << " of A, identical " << int(identical) << ", ranks " << ranks << ", limit " << limit;
        }
      }
    }
  }
}

// The components of the engine's n rows are those of the pairs; value(i, j) is that of each row with its first one.
template <class Engine, class Value>
void check_components(Engine& engine, uint32_t n, const std::vector<reference::Pair>& pairs, Value value) {
  UnionFind expected(n), sets(n);
  for (const auto& [a, b, v] : pairs) expected.unite(a, b);
  engine.run_components(sets);
  std::vector<uint32_t> roots(n), values(n);
  for (uint32_t i = 0; i < n; ++i) {
    roots[i] = sets.find(i);
    ASSERT_EQ(roots[i], expected.find(i)) << i;
  }
  engine.values_with(roots.data(), values.data());
  for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(values[i], value(i, roots[i])) << i;
}

}  // namespace neardup::test
