// All pairs of digests equal those of comparing everything, for every shape, threshold, memory limit, set and kernel.
#include "core/pairs/digests/ctph_pairs.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <tuple>

#include "core/base/union_find.h"
#include "core/kernels/ctph_kernels.h"
#include "core/signature/ctph_compare.h"

#include "test/reference/cut_short.h"
#include "test/reference/hash_sets.h"
#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"
#include "test/unit/pair_engines.h"
#include "test/unit/support.h"

namespace neardup::ctph_pairs_test {
namespace {

using reference::Pair;
using reference::StdioTempFiles;
using test::Random;
using test::Setting;

constexpr size_t kUnlimited = SIZE_MAX;
constexpr size_t kLimits[] = {64 << 10, 1 << 20, kUnlimited};
constexpr double kThresholds[] = {0.3, 0.6, 0.85, 0.9, 1.0};

using reference::chain;
using reference::concat;
using reference::Digests;
using reference::edited;
using reference::long_digests;
using reference::mixed;
using reference::random_part;
using reference::with_runs;
using Shape = reference::DigestShape;

const std::vector<Shape>& shapes() { return reference::digest_shapes(); }

// ---------------------------------------------------------------- the slow way

uint32_t pair_value(const CtphDigest& a, const CtphDigest& b) {
  std::string_view x, y;
  if (!common_parts(digest_view(a), digest_view(b), &x, &y)) return 0;
  return levenshtein(x, y) << 16 | static_cast<uint32_t>(x.size() + y.size());
}

double similarity(const CtphDigest& a, const CtphDigest& b) {
  return 1 - ctph_edit_rate(digest_view(a), digest_view(b));
}

std::vector<Pair> all_pairs(const Digests& rows, double threshold) {
  std::vector<Pair> out;
  for (uint32_t i = 0; i < rows.size(); ++i)
    for (uint32_t j = i + 1; j < rows.size(); ++j)
      if (similarity(rows[i], rows[j]) >= threshold) out.emplace_back(i, j, pair_value(rows[i], rows[j]));
  return out;
}

std::vector<Pair> pairs_between(const Digests& a, const Digests& b, double threshold) {
  std::vector<Pair> out;
  for (uint32_t i = 0; i < a.size(); ++i)
    for (uint32_t j = 0; j < b.size(); ++j)
      if (similarity(a[i], b[j]) >= threshold) out.emplace_back(i, j, pair_value(a[i], b[j]));
  return out;
}

// The first in order of rank of the rows that are equal to each row.
std::vector<uint32_t> firsts(const Digests& rows, const std::vector<uint32_t>& rank) {
  std::vector<uint32_t> out(rows.size());
  for (uint32_t i = 0; i < rows.size(); ++i) {
    out[i] = i;
    for (uint32_t j = 0; j < rows.size(); ++j)
      if (rows[j] == rows[i] && rank[j] < rank[out[i]]) out[i] = j;
  }
  return out;
}

std::vector<Pair> ranked(std::vector<Pair> pairs, const std::vector<uint32_t>& rank_a,
                         const std::vector<uint32_t>* rank_b = nullptr) {
  for (auto& [i, j, value] : pairs) {
    i = rank_a[i];
    j = (rank_b == nullptr ? rank_a : *rank_b)[j];
    if (rank_b == nullptr && i > j) std::swap(i, j);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// ---------------------------------------------------------------- the engine

using reference::drain;

void add_all(CtphPairs& engine, const Digests& rows) {
  for (const CtphDigest& d : rows) engine.add(digest_view(d));
}

test::Found run(const Digests& a, const Digests* b, double threshold, Setting setting) {
  const Digests rows = b == nullptr ? a : concat({a, *b});
  setting.two_sets = b != nullptr;
  return test::search(
      rows.size(), a.size(), setting, [&](const EngineOptions& options) { return CtphPairs(threshold, options); },
      [&](CtphPairs& engine, uint32_t i) { engine.add(digest_view(rows[i])); });
}

TEST(CtphPairs, EqualAllPairsForEveryShape) {
  for (const Shape& shape : shapes()) {
    for (const double threshold : kThresholds) {
      SCOPED_TRACE(std::string(shape.name) + ", threshold " + std::to_string(threshold));
      const std::vector<Pair> expected = all_pairs(shape.digests, threshold);
      test::for_each_kernels([&] {
        const test::Found r = run(shape.digests, nullptr, threshold, {});
        ASSERT_EQ(r.pairs, expected);
        EXPECT_EQ(r.stats.found, expected.size());
        EXPECT_EQ(r.stats.rows, shape.digests.size());
        EXPECT_LE(r.stats.compared, r.stats.looked);
      });
      for (const size_t limit : kLimits) {
        for (const unsigned threads : {1u, 3u}) {
          if (limit == kUnlimited && threads == 1) continue;
          ASSERT_EQ(run(shape.digests, nullptr, threshold, {.limit = limit, .threads = threads}).pairs, expected)
              << "limit " << limit << ", " << threads << " threads";
        }
      }
    }
  }
}

// Several tasks, pieces and blocks: digests, entries and results all on disk at 64 kB.
TEST(CtphPairs, LargerSetsWithinTheirLimit) {
  for (const double threshold : {0.7, 0.85}) {
    const Digests rows = concat({mixed(11, 800), chain(200), with_runs(60)});
    const std::vector<Pair> expected = all_pairs(rows, threshold);
    EXPECT_GT(expected.size(), 1000u);
    for (const size_t limit : kLimits) {
      for (const unsigned threads : {1u, 3u}) {
        SCOPED_TRACE("limit " + std::to_string(limit));
        const test::Found r = run(rows, nullptr, threshold, {.limit = limit, .threads = threads});
        ASSERT_EQ(r.pairs, expected);
        if (limit != kLimits[1]) {
          EXPECT_EQ(r.stats.spilled_bytes != 0, limit == kLimits[0]);
        }
        EXPECT_LE(r.stats.peak_bytes, limit);
      }
    }
  }
}

// Parts of the same symbols in another order: looking at symbols rules nothing out and is given up after some entries.
TEST(CtphPairs, SymbolsThatRuleNothingOut) {
  Random random(31);
  const std::string symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn";
  Digests rows;
  CtphDigest digest{.exponent = 3, .part1 = symbols, .part2 = {}};
  for (uint32_t i = 0; i < 700; ++i) {
    std::string& part = digest.part1;
    if (i % 7 == 3) {
      std::swap(part[i % 40], part[i % 11]);
    } else {
      for (uint32_t k = 40; k > 1; --k) std::swap(part[k - 1], part[random() % k]);
    }
    rows.push_back(digest);
  }
  for (const double threshold : {0.4, 0.9}) {
    const std::vector<Pair> expected = all_pairs(rows, threshold);
    EXPECT_GE(expected.size(), 90u);
    test::for_each_kernels([&] {
      const test::Found r = run(rows, nullptr, threshold, {});
      ASSERT_EQ(r.pairs, expected);
    });
  }
}

// Behind a family of near copies, whose symbols rule nothing out, come thousands that have nothing in common with it.
TEST(CtphPairs, AFamilyAheadOfOthers) {
  Random random(32);
  Digests rows;
  CtphDigest digest{.exponent = 3, .part1 = std::string(40, 'A'), .part2 = {}};
  for (char& c : digest.part1) c = static_cast<char>('A' + random() % 26);
  for (uint32_t i = 0; i < 600; ++i) {
    std::swap(digest.part1[random() % 40], digest.part1[random() % 40]);
    rows.push_back(digest);
  }
  const std::vector<Pair> expected = all_pairs(rows, 0.9);
  EXPECT_GE(expected.size(), 500u);
  for (uint32_t i = 0; i < 5000; ++i) {
    for (char& c : digest.part1) c = static_cast<char>('0' + random() % 75);
    rows.push_back(digest);
  }
  EXPECT_EQ(run(rows, nullptr, 0.9, {}).pairs, expected);
  EXPECT_EQ(run(rows, nullptr, 0.9, {.limit = kUnlimited, .threads = 3}).pairs, expected);
}

TEST(CtphPairs, BetweenTwoSets) {
  for (const Shape& shape : shapes()) {
    const Digests& all = shape.digests;
    for (const size_t part : {size_t{0}, all.size() / 3, all.size()}) {
      const Digests a(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(part));
      const Digests b(all.begin() + static_cast<std::ptrdiff_t>(part), all.end());
      for (const double threshold : {0.6, 0.85}) {
        const std::vector<Pair> expected = pairs_between(a, b, threshold);
        for (const size_t limit : kLimits)
          ASSERT_EQ(run(a, &b, threshold, {.limit = limit, .threads = limit == kUnlimited ? 3u : 1u}).pairs, expected)
              << shape.name << ", part " << part << ", limit " << limit;
      }
    }
    // A set with itself.
    ASSERT_EQ(run(all, &all, 0.85, {}).pairs, pairs_between(all, all, 0.85)) << shape.name;
  }
}

TEST(CtphPairs, EqualDigestsAllStarOrNone) {
  Random random(12);
  for (const Shape& shape : shapes()) {
    Digests rows = concat({shape.digests, shape.digests});
    const std::vector<uint32_t> rank = test::shuffled_ranks(rows.size(), 3, random);
    const std::vector<uint32_t> first = firsts(rows, rank);
    for (const Identical identical : {Identical::all, Identical::star, Identical::none}) {
      SCOPED_TRACE(std::string(shape.name) + ", identical " + std::to_string(static_cast<int>(identical)));
      std::vector<Pair> expected;
      uint64_t left_out = 0;
      for (uint32_t i = 0; i < rows.size(); ++i)
        left_out +=
            first[i] != i && (identical == Identical::none || (identical == Identical::star && rows[i].part1.empty()));
      for (const auto& [i, j, value] : all_pairs(rows, 0.8)) {
        const bool same = rows[i] == rows[j];
        if (identical != Identical::all && (same ? first[i] != i && first[j] != j : first[i] != i || first[j] != j))
          continue;
        if (identical == Identical::none && same) continue;
        expected.emplace_back(i, j, value);
      }
      expected = ranked(expected, rank);
      for (const size_t limit : {kLimits[0], kUnlimited}) {
        const test::Found r = run(rows, nullptr, 0.8, {.limit = limit, .identical = identical, .rank_a = rank});
        ASSERT_EQ(r.pairs, expected) << "limit " << limit;
        EXPECT_EQ(r.stats.left_out, left_out);
      }
    }
  }
}

TEST(CtphPairs, EqualDigestsOfTwoSets) {
  Random random(13);
  for (const Shape& shape : shapes()) {
    const Digests& rows = shape.digests;
    const std::vector<uint32_t> rank_a = test::shuffled_ranks(rows.size(), 3, random);
    const std::vector<uint32_t> rank_b = test::shuffled_ranks(rows.size(), 1000, random);
    const std::vector<uint32_t> first_a = firsts(rows, rank_a);
    const std::vector<uint32_t> first_b = firsts(rows, rank_b);
    for (const Identical identical : {Identical::all, Identical::star, Identical::none}) {
      SCOPED_TRACE(std::string(shape.name) + ", identical " + std::to_string(static_cast<int>(identical)));
      uint64_t left_out = 0;
      for (uint32_t i = 0; i < rows.size() && identical != Identical::all; ++i)
        left_out += uint64_t{first_a[i] != i} + uint64_t{first_b[i] != i};
      std::vector<Pair> expected;
      for (const auto& [i, j, value] : pairs_between(rows, rows, 0.8)) {
        if (identical != Identical::all && (first_a[i] != i || first_b[j] != j)) continue;
        if (identical == Identical::none && rows[i] == rows[j])
          ++left_out;
        else
          expected.emplace_back(i, j, value);
      }
      expected = ranked(expected, rank_a, &rank_b);
      for (const size_t limit : {kLimits[0], kUnlimited}) {
        const test::Found r =
            run(rows, &rows, 0.8, {.limit = limit, .identical = identical, .rank_a = rank_a, .rank_b = rank_b});
        ASSERT_EQ(r.pairs, expected) << "limit " << limit;
        EXPECT_EQ(r.stats.left_out, left_out);
      }
    }
  }
}

TEST(CtphPairs, ComponentsAreThoseOfAllPairs) {
  for (const Shape& shape : shapes()) {
    const Digests rows = concat({shape.digests, shape.digests});
    for (const double threshold : {0.6, 0.85}) {
      const std::vector<Pair> expected = all_pairs(rows, threshold);
      for (const size_t limit : kLimits) {
        SCOPED_TRACE(std::string(shape.name) + ", limit " + std::to_string(limit));
        StdioTempFiles files;
        CtphPairs engine(threshold, {.memory_limit = limit, .files = &files, .threads = 2});
        add_all(engine, rows);
        test::check_components(engine, static_cast<uint32_t>(rows.size()), expected,
                               [&](uint32_t i, uint32_t j) { return pair_value(rows[i], rows[j]); });
      }
    }
  }
}

TEST(CtphPairs, ValuesWithAnyRow) {
  Random random(14);
  for (const Shape& shape : shapes()) {
    const Digests& rows = shape.digests;
    std::vector<uint32_t> others(rows.size());
    for (uint32_t i = 0; i < rows.size(); ++i) others[i] = random() % 4 == 0 ? i : random() % rows.size();
    for (const size_t limit : kLimits) {
      StdioTempFiles files;
      CtphPairs engine(0.85, {.memory_limit = limit, .files = &files});
      add_all(engine, rows);
      UnionFind sets(static_cast<uint32_t>(rows.size()));
      engine.run_components(sets);
      std::vector<uint32_t> values(rows.size());
      engine.values_with(others.data(), values.data());
      for (uint32_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(values[i], pair_value(rows[i], rows[others[i]])) << shape.name;
        ASSERT_EQ(ctph_similarity(values[i]), similarity(rows[i], rows[others[i]]));
        if (others[i] == i) {
          ASSERT_EQ(values[i], 2 * rows[i].part1.size());
        }
      }
    }
  }
}

void run_all(const Digests& rows, double threshold, const EngineOptions& options) {
  CtphPairs engine(threshold, options);
  add_all(engine, rows);
  engine.run();
  drain(engine);
}

TEST(CtphPairs, CancelAtAnyPoll) {
  const Digests rows = concat({mixed(15, 900), chain(300), with_runs(60)});
  for (const unsigned threads : {1u, 3u}) {
    for (const size_t limit : kLimits) {
      const auto r = reference::cancel_at_any_poll([](int64_t calls) { return calls + 1; },
                                                   [&](EngineOptions options, int64_t) {
                                                     options.memory_limit = limit;
                                                     options.threads = threads;
                                                     run_all(rows, 0.8, options);
                                                   });
      EXPECT_EQ(r.wrong, "") << threads << " threads, limit " << limit;
      EXPECT_GT(r.asked, 0);
    }
  }
}

TEST(CtphPairs, AFailingFileLeavesNothingBehind) {
  const Digests rows = mixed(16, 500);
  const auto r = reference::fail_at_any_call([](int64_t calls) { return 1 + calls / 4; },
                                             [&](EngineOptions options, int64_t calls) {
                                               options.memory_limit = 64 << 10;
                                               options.threads = calls % 2 == 0 ? 1 : 2;
                                               run_all(rows, 0.85, options);
                                             });
  EXPECT_EQ(r.wrong, "");
  EXPECT_GT(r.calls, 100);
}

TEST(CtphPairs, RefusesBadParametersAndOtherKinds) {
  EXPECT_THROW(CtphPairs(0, {}), Error);
  EXPECT_THROW(CtphPairs(1.01, {}), Error);
  EXPECT_THROW(CtphPairs(std::numeric_limits<double>::quiet_NaN(), {}), Error);
  CtphPairs engine(0.5, {});
  engine.add({3, 64, "abc", ""});
  for (int i = 0; i < 2; ++i) {
    try {
      engine.add({3, 256, "abc", ""});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::incomparable);
      EXPECT_EQ(e.detail(), "left: ssdeep's, 64 characters; right: long, 256 characters");
    }
    if (i == 0) engine.start_set_b();
  }
  CtphPairs longs(0.5, {});
  longs.add({3, 256, "abc", ""});
  longs.add({3, 128, "abc", ""});
  EXPECT_THROW(longs.add({3, 64, "abc", ""}), Error);
}

// The bags' bound against its definition, at every place of a vector.
TEST(CtphPairs, BagCandidatesOfEveryKernel) {
  Random random(17);
  for (const uint32_t symbols : {2u, 20u, 64u}) {
    constexpr size_t kMost = 75;
    std::vector<std::string> parts;
    std::vector<uint64_t> levels(kBagLevels * kMost);
    std::vector<uint16_t> rest;
    const auto count = [](const std::string& part) {
      std::map<char, uint32_t> out;
      for (const char c : part) ++out[c];
      return out;
    };
    const auto symbol_bag = [&](const std::string& part) {
      SymbolBag out{};
      out.rest = 0;
      for (const auto& [c, n] : count(part)) {
        for (uint32_t k = 0; k < std::min<uint32_t>(n, kBagLevels); ++k) out.level[k] |= uint64_t{1} << ctph_value(c);
        out.rest += n - std::min<uint32_t>(n, kBagLevels);
      }
      return out;
    };
    for (size_t i = 0; i < kMost; ++i) {
      parts.push_back(random_part(random, random() % 200, symbols));
      const SymbolBag b = symbol_bag(parts[i]);
      for (size_t k = 0; k < kBagLevels; ++k) levels[k * kMost + i] = b.level[k];
      rest.push_back(static_cast<uint16_t>(b.rest));
    }
    const SymbolBags bags{{levels.data(), levels.data() + kMost, levels.data() + 2 * kMost}, rest.data()};
    for (int round = 0; round < 20; ++round) {
      const std::string x = random_part(random, random() % 200, symbols);
      const SymbolBag a = symbol_bag(x);
      const size_t first = random() % 20, last = kMost - random() % 20;
      const uint32_t need = random() % 150;
      std::vector<uint32_t> expected;
      for (size_t i = first; i < last; ++i) {
        uint32_t capped = 0;
        auto cx = count(x), cy = count(parts[i]);
        for (const auto& [c, n] : cx) capped += std::min({n, cy[c], static_cast<uint32_t>(kBagLevels)});
        if (capped + std::min<uint32_t>(a.rest, rest[i]) >= need) expected.push_back(static_cast<uint32_t>(i));
      }
      test::for_each_kernels([&] {
        std::vector<uint32_t> got(last - first);
        got.resize(kernels().ctph->bag_candidates(&a, &bags, first, last, need, got.data()));
        ASSERT_EQ(got, expected);
      });
    }
  }
}

TEST(CtphPairs, CommonBitsOfEveryKernel) {
  Random random(18);
  for (int round = 0; round < 50; ++round) {
    uint64_t a[kBitSetWords], b[kBitSetWords];
    uint32_t expected = 0;
    for (size_t i = 0; i < kBitSetWords; ++i) {
      a[i] = round == 0 ? ~uint64_t{0} : random() | random();
      b[i] = round == 0 ? ~uint64_t{0} : random() & (round % 3 == 0 ? random() : ~uint64_t{0});
      for (int bit = 0; bit < 64; ++bit) expected += (a[i] & b[i]) >> bit & 1;
    }
    test::for_each_kernels([&] { ASSERT_EQ(kernels().ctph->common_bits(a, b), expected); });
  }
}

}  // namespace
}  // namespace neardup::ctph_pairs_test
