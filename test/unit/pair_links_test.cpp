// Clusters and bridges of a stream of pairs equal their definitions.
#include "core/pairs/pair_links.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

#include "core/pairs/digests/ctph_pairs.h"
#include "core/pairs/pair_collector.h"

#include "test/reference/links_by_definition.h"
#include "test/reference/stdio_temp_file.h"

namespace neardup::pair_links_test {
namespace {

using reference::Graph;
using reference::RowNumbers;

Graph random_graph(uint32_t rows, uint32_t pairs, std::mt19937& rng) {
  Graph g{rows, {}};
  for (uint32_t i = 0; i < pairs; ++i) {
    const uint32_t a = static_cast<uint32_t>(rng() % rows);
    const uint32_t b = static_cast<uint32_t>(rng() % rows);
    if (a != b) g.pairs[{std::min(a, b), std::max(a, b)}] = static_cast<uint32_t>(rng() % 100);
  }
  return g;
}

std::vector<RowNumbers> read_bridges(BridgeFinder& finder) {
  std::vector<RowNumbers> out;
  for (const RowPair& p : finder.finish(nullptr)) out.emplace_back(p.a, p.b);
  return out;
}

TEST(PairLinks, EqualDefinitions) {
  std::mt19937 rng(1);
  size_t bridges = 0;
  for (int round = 0; round < 400; ++round) {
    const uint32_t rows = 1 + static_cast<uint32_t>(rng() % 30);
    const Graph g = random_graph(rows, static_cast<uint32_t>(rng() % (2 * rows)), rng);
    AnchorLinks anchor(rows);
    ComponentLinks components(rows);
    BridgeFinder finder(rows);
    for (const auto& [p, value] : g.pairs) {
      anchor.add({p.first, p.second, value});
      components.add({p.first, p.second, value});
      finder.add({p.first, p.second, value});
    }
    const LinkedRows by_anchor = reference::anchor(g);
    const LinkedRows by_component = reference::connected(g);
    const LinkedRows& connected = components.finish();
    ASSERT_EQ(anchor.rows().representative, by_anchor.representative);
    ASSERT_EQ(anchor.rows().value, by_anchor.value);
    ASSERT_EQ(connected.representative, by_component.representative);
    ASSERT_EQ(connected.value, by_component.value);
    const auto want = reference::bridges(g);
    bridges += want.size();
    ASSERT_EQ(read_bridges(finder), want);
  }
  EXPECT_GT(bridges, 500u);
}

// Rows of equal signatures: as a star of marked pairs, what the whole graph has.
TEST(PairLinks, EqualRowsAsMarkedStars) {
  std::mt19937 rng(2);
  size_t twins = 0;
  for (int round = 0; round < 400; ++round) {
    const uint32_t groups = 1 + static_cast<uint32_t>(rng() % 10);
    const Graph among = random_graph(groups, static_cast<uint32_t>(rng() % (2 * groups)), rng);
    std::vector<std::vector<uint32_t>> members(groups);
    uint32_t rows = 0;
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < groups; ++i)
      for (uint32_t n = 1 + static_cast<uint32_t>(rng() % 3); n > 0; --n) order.push_back(i);
    std::shuffle(order.begin(), order.end(), rng);
    for (const uint32_t i : order) members[i].push_back(rows++);
    Graph whole{rows, {}};
    std::map<RowNumbers, uint32_t> stream;
    for (const auto& m : members) {
      for (size_t i = 0; i < m.size(); ++i) {
        for (size_t j = i + 1; j < m.size(); ++j) whole.pairs[{m[i], m[j]}] = 100;
        if (i > 0) stream[{m[0], m[i]}] = 100 | kEqualRows;
      }
    }
    for (const auto& [p, value] : among.pairs) {
      for (const uint32_t x : members[p.first])
        for (const uint32_t y : members[p.second]) whole.pairs[{std::min(x, y), std::max(x, y)}] = value;
      const uint32_t x = members[p.first][0];
      const uint32_t y = members[p.second][0];
      stream[{std::min(x, y), std::max(x, y)}] = value;
    }
    AnchorLinks marked(rows);
    AnchorLinks plain(rows);
    BridgeFinder finder(rows);
    for (const auto& [p, value] : stream) {
      marked.add({p.first, p.second, value});
      finder.add({p.first, p.second, value});
    }
    for (const auto& [p, value] : whole.pairs) plain.add({p.first, p.second, value});
    ASSERT_EQ(marked.rows().representative, plain.rows().representative);
    const auto want = reference::bridges(whole);
    ASSERT_EQ(read_bridges(finder), want);
    for (const auto& p : want) twins += whole.pairs[p] == 100;
  }
  EXPECT_GT(twins, 20u);
}

// Digests without part 1 are not near their equals, only a digest that all of them are near can join them.
TEST(PairLinks, EqualDigestsThatAreNotNear) {
  CtphPairs engine(0.8, {.identical = Identical::marked});
  engine.add({5, 64, "abcdefgh", ""});
  for (int i = 0; i < 2; ++i) engine.add({4, 64, "", "abcdefgh"});
  for (int i = 0; i < 2; ++i) engine.add({4, 64, "", ""});
  engine.run();
  AnchorLinks links(5);
  BridgeFinder finder(5);
  RowPair p;
  while (engine.next(&p, 1) == 1) {
    links.add(p);
    finder.add(p);
  }
  EXPECT_EQ(links.rows().representative, (std::vector<uint32_t>{0, 0, 0, 3, 4}));
  EXPECT_EQ(read_bridges(finder), (std::vector<RowNumbers>{{0, 1}, {0, 2}}));
}

// A chain has as many bridges as links; closed to a ring it has none.
TEST(PairLinks, LongChains) {
  constexpr uint32_t kRows = 300000;
  for (const bool closed : {false, true}) {
    BridgeFinder finder(kRows);
    for (uint32_t i = 0; i + 1 < kRows; ++i) finder.add({i, i + 1, 7});
    if (closed) finder.add({0, kRows - 1, 7});
    EXPECT_EQ(finder.finish(nullptr).size(), closed ? 0 : kRows - 1);
  }
}

struct Always final : StopCheck {
  bool should_stop() noexcept override { return true; }
};

TEST(PairLinks, CanBeCancelled) {
  BridgeFinder finder(500000);
  for (uint32_t i = 0; i + 1 < 500000; ++i) finder.add({i, i + 1, 7});
  Always stop;
  EXPECT_THROW(finder.finish(&stop), Error);
}

TEST(PairCollector, OrdersPairsWithinMemory) {
  for (const size_t limit : {size_t{1}, SIZE_MAX}) {
    reference::StdioTempFiles files;
    std::vector<std::pair<uint32_t, uint32_t>> want;
    {
      PairCollector collector({.memory_limit = limit, .files = &files});
      std::mt19937 rng(3);
      for (uint32_t i = 0; i < 50000; ++i) {
        const uint32_t a = static_cast<uint32_t>(rng());
        want.emplace_back(a, i);
        collector.add({a, i, i ^ 5});
      }
      std::sort(want.begin(), want.end());
      collector.finish();
      RowPair pairs[100];
      size_t at = 0;
      while (const size_t n = collector.next(pairs, 100)) {
        for (size_t i = 0; i < n; ++i, ++at) {
          ASSERT_EQ(std::make_pair(pairs[i].a, pairs[i].b), want[at]);
          ASSERT_EQ(pairs[i].value, pairs[i].b ^ 5);
        }
      }
      ASSERT_EQ(at, want.size());
    }
    EXPECT_EQ(files.open, 0);
  }
}

}  // namespace
}  // namespace neardup::pair_links_test
