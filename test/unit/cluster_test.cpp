// Clusters equal their definitions, for every width, threshold and memory limit.
#include "core/pairs/clusters/cluster.h"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <optional>
#include <random>

#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/sets/set_pairs.h"
#include "core/pairs/simhash/simhash_pairs.h"

#include "test/reference/cut_short.h"
#include "test/reference/int_sets.h"
#include "test/reference/links_by_definition.h"
#include "test/reference/pairs_reference.h"
#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"
#include "test/reference/version_families.h"

namespace neardup::cluster_test {
namespace {

using reference::Clusters;
using reference::Rows;
using reference::StdioTempFiles;

constexpr size_t kUnlimited = SIZE_MAX;
constexpr size_t kLimits[] = {1, 256 << 10, kUnlimited};

Clusterer minhash_clusterer(Linkage linkage, uint32_t num_perm, uint32_t bits, uint32_t need, EngineOptions options) {
  options.identical = Identical::marked;
  return {linkage, std::make_unique<MinhashPairs>(num_perm, bits, need, options)};
}

void add(Clusterer& clusterer, const void* components) { clusterer.add_value(MinhashView{nullptr, components, 0}); }

Clusters run(Linkage linkage, const Rows& rows, uint32_t need, size_t limit, unsigned threads = 1,
             StopCheck* stop = nullptr) {
  StdioTempFiles files;
  Clusters out;
  {
    Clusterer clusters = minhash_clusterer(linkage, rows.num_perm, rows.bits, need,
                                           {.memory_limit = limit, .files = &files, .stop = stop, .threads = threads});
    for (uint32_t i = 0; i < rows.size(); ++i) add(clusters, rows.row(i));
    clusters.run();
    out = {clusters.representative(), clusters.values()};
    for (uint32_t i = 0; i < rows.size(); ++i)
      if (out.representative[i] == i) out.matches[i] = rows.num_perm;
  }
  EXPECT_EQ(files.open, 0);
  return out;
}

class ClustersOfSet : public testing::TestWithParam<std::string> {};

TEST_P(ClustersOfSet, EqualReferenceForEveryShape) {
  for (const auto& [num_perm, bits, n] : {std::tuple{16u, 32u, 120u},
                                          {25u, 8u, 120u},
                                          {100u, 16u, 150u},
                                          {128u, 8u, 150u},
                                          {128u, 32u, 220u},
                                          {1024u, 32u, 60u}}) {
    const Rows rows = reference::make_set(GetParam(), num_perm, bits, n);
    for (const uint32_t need : reference::needs_for(num_perm)) {
      const Clusters anchor = reference::anchor(rows, need);
      const Clusters connected = reference::connected(rows, need);
      for (const size_t limit : kLimits) {
        SCOPED_TRACE(std::to_string(num_perm) + " x " + std::to_string(bits) + ", need " + std::to_string(need) +
                     ", limit " + std::to_string(limit));
        const Clusters a = run(Linkage::anchor, rows, need, limit);
        ASSERT_EQ(a.representative, anchor.representative);
        ASSERT_EQ(a.matches, anchor.matches);
        const Clusters c = run(Linkage::connected, rows, need, limit);
        ASSERT_EQ(c.representative, connected.representative);
        ASSERT_EQ(c.matches, connected.matches);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, ClustersOfSet, testing::ValuesIn(reference::set_names()),
                         [](const auto& info) { return info.param; });

// Several passes of representatives, rows on disk.
TEST(Clusterer, LargerSetsEqualReference) {
  for (const char* name : {"mixed", "random", "boilerplate", "chain"}) {
    const Rows rows = reference::make_set(name, 128, 32, 2000, 7);
    const Clusters anchor = reference::anchor(rows, 103);
    const Clusters connected = reference::connected(rows, 103);
    for (const size_t limit : kLimits) {
      SCOPED_TRACE(std::string(name) + ", limit " + std::to_string(limit));
      const Clusters a = run(Linkage::anchor, rows, 103, limit);
      ASSERT_EQ(a.representative, anchor.representative);
      ASSERT_EQ(a.matches, anchor.matches);
      const Clusters c = run(Linkage::connected, rows, 103, limit);
      ASSERT_EQ(c.representative, connected.representative);
      ASSERT_EQ(c.matches, connected.matches);
    }
  }
}

// Rows of several blocks: those of one block meet the representatives of earlier ones, and each other.
TEST(Clusterer, BlocksAndThreadsChangeNothing) {
  for (const auto& [name, n, need] :
       {std::tuple{"mixed", 4300u, 103u}, {"boilerplate", 4300u, 103u}, {"mixed", 1400u, 20u}}) {
    const Rows rows = reference::make_set(name, 128, 32, n, 7);
    const Clusters anchor = reference::anchor(rows, need);
    const Clusters connected = reference::connected(rows, need);
    for (const auto& [limit, threads] : {std::pair{size_t{1} << 20, 4u}, {size_t{6} << 20, 1u}, {kUnlimited, 4u}}) {
      SCOPED_TRACE(std::string(name) + ", need " + std::to_string(need) + ", limit " + std::to_string(limit) +
                   ", threads " + std::to_string(threads));
      const Clusters a = run(Linkage::anchor, rows, need, limit, threads);
      ASSERT_EQ(a.representative, anchor.representative);
      ASSERT_EQ(a.matches, anchor.matches);
      const Clusters c = run(Linkage::connected, rows, need, limit, threads);
      ASSERT_EQ(c.representative, connected.representative);
      ASSERT_EQ(c.matches, connected.matches);
    }
  }
}

// One table of representatives, and several; with others that no table holds between them.
TEST(Clusterer, FamiliesEqualReference) {
  for (const auto& [families, family_rows, others, most_changes] :
       {std::tuple{1u, 64u, 40u, 20u}, {3u, 400u, 500u, 45u}, {30u, 66u, 200u, 90u}}) {
    const Rows rows = reference::make_families(families, family_rows, others, most_changes);
    const Clusters anchor = reference::anchor(rows, 103);
    const Clusters connected = reference::connected(rows, 103);
    for (const size_t limit : {size_t{1}, size_t{1} << 20, kUnlimited}) {
      for (const unsigned threads : {1u, 4u}) {
        SCOPED_TRACE(std::to_string(families) + " families, limit " + std::to_string(limit) + ", threads " +
                     std::to_string(threads));
        const Clusters a = run(Linkage::anchor, rows, 103, limit, threads);
        ASSERT_EQ(a.representative, anchor.representative);
        ASSERT_EQ(a.matches, anchor.matches);
        const Clusters c = run(Linkage::connected, rows, 103, limit, threads);
        ASSERT_EQ(c.representative, connected.representative);
        ASSERT_EQ(c.matches, connected.matches);
      }
    }
  }
}

// When the table is full, a row that matches nothing in it is undecided: another one may not join it yet. Here row a
// shares only large buckets with row r before it, and small ones with row b behind it, which is not near r.
TEST(Clusterer, ARowJoinsNoneThatIsUndecided) {
  std::mt19937 random(6);
  const reference::Row16 r = reference::strange_row(random);
  const auto change_every = [&](reference::Row16 row, uint32_t step, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; i += step) row[i] = static_cast<uint16_t>(row[i] + 1);
    return row;
  };
  std::vector<reference::Row16> rows;
  for (uint32_t i = 0; i < 200; ++i) {  // they share half of the bands with r
    rows.push_back(reference::strange_row(random));
    for (uint32_t band = 0; band < 32; ++band)
      if (random() % 2 == 0) std::copy_n(r.data() + 4 * band, 4, rows.back().data() + 4 * band);
  }
  const reference::Row16 a = change_every(r, 4, 0, 80);
  const reference::Row16 b = change_every(a, 4, 81, 121);
  rows.insert(rows.begin() + 100, {r, a, b});
  const Clusters c = run(Linkage::anchor, reference::pack(rows), 103, 1);
  EXPECT_EQ(c.representative[100], 100u);
  EXPECT_EQ(c.representative[101], 100u);
  EXPECT_EQ(c.representative[102], 102u);
}

// A row is looked up if it is in a large bucket, in more than one pass if the table of representatives is full before.
TEST(Clusterer, CountsRowsThatAreLookedUp) {
  const Rows rows = reference::make_families(1, 400, 300, 60);
  for (const auto& [linkage, limit] :
       {std::pair{Linkage::anchor, kUnlimited}, {Linkage::anchor, size_t{1}}, {Linkage::connected, kUnlimited}}) {
    StdioTempFiles files;
    Clusterer clusters = minhash_clusterer(linkage, 128, 16, 103, {.memory_limit = limit, .files = &files});
    for (uint32_t i = 0; i < rows.size(); ++i) add(clusters, rows.row(i));
    clusters.run();
    const bool is_anchor = linkage == Linkage::anchor;
    EXPECT_EQ(clusters.stats().rows, rows.size());
    EXPECT_EQ(clusters.stats().looked_up > 200, is_anchor) << clusters.stats().looked_up;
    EXPECT_LE(clusters.stats().looked_up, 400 + 100);
    EXPECT_EQ(clusters.stats().passes > 1, is_anchor && limit != kUnlimited);
  }
}

// 5e7 near pairs in one family: a look-up a row, not a pair.
TEST(Clusterer, AFamilyTakesLinearTime) {
  const Rows rows = reference::make_families(1, 10000, 0, 6);
  for (const size_t limit : {size_t{1} << 20, kUnlimited}) {
    reference::StopAfter stop(INT64_MAX);
    const Clusters c = run(Linkage::anchor, rows, 103, limit, 1, &stop);
    EXPECT_LT(stop.asked, 1000);
    EXPECT_GT(std::count(c.representative.begin(), c.representative.end(), 0u), 9900);
  }
}

TEST(Clusterer, RowsAloneKeepTheirNumbers) {
  const Rows rows = reference::make_set("equal", 128, 32, 4);
  for (const Linkage linkage : {Linkage::anchor, Linkage::connected}) {
    Clusterer clusters = minhash_clusterer(linkage, 128, 32, 103, {});
    clusters.add_alone();
    add(clusters, rows.row(0));
    add(clusters, rows.row(1));
    clusters.add_alone();
    clusters.add_alone();
    add(clusters, rows.row(2));
    clusters.run();
    EXPECT_EQ(clusters.representative(), (std::vector<uint32_t>{0, 1, 1, 3, 4, 1}));
    EXPECT_EQ(clusters.values()[2], 128u);
    EXPECT_EQ(clusters.values()[5], 128u);
  }
  for (const Linkage linkage : {Linkage::anchor, Linkage::connected}) {
    Clusterer clusters = minhash_clusterer(linkage, 128, 32, 103, {});
    add(clusters, rows.row(0));
    clusters.add_alone();
    add(clusters, rows.row(1));
    clusters.run();
    EXPECT_EQ(clusters.representative(), (std::vector<uint32_t>{0, 1, 0}));
    Clusterer alone = minhash_clusterer(linkage, 128, 32, 103, {});
    alone.add_alone();
    alone.run();
    EXPECT_EQ(alone.representative(), (std::vector<uint32_t>{0}));
  }
}

// 2e8 pairs: what is quadratic here asks many thousand times whether to stop, which a search does by the work that it
// has done.
TEST(Clusterer, EqualRowsTakeLinearTime) {
  const Rows rows = reference::make_set("equal", 128, 32, 20000);
  for (const Linkage linkage : {Linkage::anchor, Linkage::connected}) {
    for (const size_t limit : {size_t{1} << 20, kUnlimited}) {
      reference::StopAfter stop(INT64_MAX);
      const Clusters c = run(linkage, rows, 103, limit, 1, &stop);
      EXPECT_GT(stop.asked, 0);
      EXPECT_LT(stop.asked, 2000);
      EXPECT_EQ(c.representative, std::vector<uint32_t>(rows.size(), 0));
    }
  }
}

// The pairs of an engine give greedy and connected clusters by definition, with equal rows and rows alone.
TEST(ClustererOfSimhashes, EqualDefinition) {
  std::mt19937_64 random(4);
  for (const uint32_t n : {0u, 1u, 300u}) {
    std::vector<std::optional<uint64_t>> rows;
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t chain = uint64_t{1} << random() % 12 | uint64_t{1} << random() % 12;
      rows.push_back(random() % 9 == 0 ? std::nullopt : std::optional(random() % 5 << 40 | chain));
    }
    reference::Graph near{n, {}};
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t j = i + 1; j < n; ++j) {
        if (rows[i] && rows[j] && std::popcount(*rows[i] ^ *rows[j]) <= 1) near.pairs[{i, j}] = 0;
      }
    }
    const std::vector<uint32_t> anchor = reference::anchor(near).representative;
    const std::vector<uint32_t> connected = reference::connected(near).representative;
    for (const size_t limit : kLimits) {
      for (const Linkage linkage : {Linkage::anchor, Linkage::connected}) {
        StdioTempFiles files;
        const EngineOptions options{.memory_limit = limit, .files = &files, .identical = Identical::marked};
        Clusterer clusters(linkage, std::make_unique<SimhashPairs>(1, options));
        for (const auto& row : rows) {
          if (row) {
            clusters.add_value(AnyValue(*row));
          } else {
            clusters.add_alone();
          }
        }
        clusters.run();
        ASSERT_EQ(clusters.representative(), linkage == Linkage::anchor ? anchor : connected);
        for (uint32_t i = 0; i < n; ++i) {
          const uint32_t r = clusters.representative()[i];
          if (r != i) {
            ASSERT_EQ(clusters.values()[i], static_cast<uint32_t>(std::popcount(*rows[i] ^ *rows[r])));
          }
        }
      }
    }
  }
}

// A row joins the earliest representative that contains it, be it smaller or larger than the row; or chains link rows
// one of which contains the other.
TEST(ClustererOfSets, ContainmentEqualsDefinition) {
  constexpr double kBound = 0.6;
  for (const char* shape : reference::kSetShapes) {
    const reference::Sets sets = reference::make_sets(shape, 150, 12);
    const auto n = static_cast<uint32_t>(sets.size());
    for (const Linkage linkage : {Linkage::anchor, Linkage::connected}) {
      const bool is_anchor = linkage == Linkage::anchor;
      const Measure measure = is_anchor ? Measure::query_in_set : Measure::overlap_coefficient;
      reference::Graph near{n, {}};
      for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t j = i + 1; j < n; ++j) {
          const uint32_t common = reference::common_by_definition(sets[i], sets[j]);
          const size_t size = is_anchor ? sets[j].size() : std::min(sets[i].size(), sets[j].size());
          if (common > 0 && common / static_cast<double>(size) >= kBound) near.pairs[{i, j}] = common;
        }
      }
      const LinkedRows expected = is_anchor ? reference::anchor(near) : reference::connected(near);
      for (const size_t limit : {size_t{1}, kUnlimited}) {
        StdioTempFiles files;
        auto search = std::make_unique<SetPairs>(
            measure, kBound, EngineOptions{.memory_limit = limit, .files = &files, .identical = Identical::marked});
        Clusterer clusters(linkage, std::move(search));
        for (const std::vector<int64_t>& set : sets) {
          clusters.add_value(set_view(set.data(), set.size()));
        }
        clusters.run();
        ASSERT_EQ(clusters.representative(), expected.representative) << shape << " linkage " << int(linkage);
        for (uint32_t i = 0; i < n; ++i) {
          const uint32_t r = clusters.representative()[i];
          if (r == i) continue;
          ASSERT_EQ(clusters.values()[i], reference::common_by_definition(sets[i], sets[r])) << shape << " " << i;
        }
      }
    }
  }
}

void run_all(Linkage linkage, const Rows& rows, uint32_t need, const EngineOptions& options) {
  Clusterer clusters = minhash_clusterer(linkage, rows.num_perm, rows.bits, need, options);
  for (uint32_t i = 0; i < rows.size(); ++i) add(clusters, rows.row(i));
  clusters.run();
}

TEST(Clusterer, CancelAtAnyPoll) {
  const Rows rows = reference::make_set("mixed", 128, 32, 2000, 3);
  for (const Linkage linkage : {Linkage::anchor, Linkage::connected}) {
    for (const uint32_t need : {20u, 103u}) {
      const auto r = reference::cancel_at_any_poll([](int64_t calls) { return calls + 1; },
                                                   [&](EngineOptions options, int64_t) {
                                                     options.memory_limit = 128 << 10;
                                                     run_all(linkage, rows, need, options);
                                                   });
      EXPECT_EQ(r.wrong, "") << "need " << need;
      EXPECT_GT(r.asked, 0);
    }
  }
}

TEST(Clusterer, AFailingFileLeavesNothingBehind) {
  const Rows rows = reference::make_set("mixed", 128, 32, 600, 3);
  for (const Linkage linkage : {Linkage::anchor, Linkage::connected}) {
    const auto r = reference::fail_at_any_call([](int64_t calls) { return 1 + calls / 20; },
                                               [&](EngineOptions options, int64_t) {
                                                 options.memory_limit = 64 << 10;
                                                 run_all(linkage, rows, 103, options);
                                               });
    EXPECT_EQ(r.wrong, "");
    EXPECT_GT(r.calls, 100);
  }
}

}  // namespace
}  // namespace neardup::cluster_test
