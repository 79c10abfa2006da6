// Winnowing against its definition window by window; its guarantee; its density; units and their places.
#include "core/document/winnow.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "core/unicode/utf8.h"

#include "test/reference/passages_reference.h"
#include "test/unit/support.h"

namespace neardup::winnow_test {
namespace {

using test::Exact;
using test::Random;

std::vector<reference::Chosen> winnowed(Unit unit, int k, int window, std::string_view text) {
  const Exact exact(text);
  WinnowStream stream(unit, k, window, exact.data(), exact.size());
  std::vector<reference::Chosen> out;
  WinnowFingerprint f;
  while (stream.next(&f)) out.push_back({f.hash, f.position});
  EXPECT_FALSE(stream.next(&f));
  return out;
}

std::vector<reference::PlacedUnit> placed(Unit unit, std::string_view text) {
  return reference::placed_units(unit, text);
}

std::string few_words(Random& random, size_t words, uint64_t kinds) {
  std::string out;
  for (size_t i = 0; i < words; ++i) {
    out += "w" + std::to_string(random() % kinds);
    out += random() % 5 == 0 ? " - " : " ";
  }
  return out;
}

TEST(Winnow, IsTheDefinition) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const std::string text =
        i % 2 ? test::mixed_text(random, random() % 600) : few_words(random, random() % 120, 1 + random() % 9);
    const int k = 1 + static_cast<int>(random() % (i % 8 ? 6 : 64));
    const int window = 1 + static_cast<int>(random() % (i % 5 ? 12 : 200));
    for (const Unit unit : {Unit::word, Unit::character, Unit::byte}) {
      const std::string read = unit == Unit::byte ? text : test::well_formed(text);
      ASSERT_EQ(winnowed(unit, k, window, text),
                reference::winnow(test::shingle_hashes(unit, k, text), placed(unit, read), static_cast<size_t>(window)))
          << i << " " << unit_name(unit);
    }
  }
}

TEST(Winnow, HashesWithoutThoseToIgnore) {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const std::string text = few_words(random, random() % 120, 1 + random() % 20);
    const Exact exact(text);
    std::set<int64_t> wanted;
    for (const auto& f : winnowed(Unit::word, 2, 4, text)) wanted.insert(static_cast<int64_t>(f.hash));
    const auto hashes = [&](const std::vector<int64_t>& ignore) {
      return winnow_hashes(Unit::word, 2, 4, exact.data(), exact.size(),
                           IgnoredHashes(ignore.data(), ignore.size(), nullptr));
    };
    ASSERT_EQ(hashes({}), std::vector<int64_t>(wanted.begin(), wanted.end()));
    std::vector<int64_t> ignore{INT64_MIN, 0};
    for (const int64_t hash : std::vector<int64_t>(wanted.rbegin(), wanted.rend())) {
      if (random() % 2) continue;
      ignore.push_back(hash);
      ignore.push_back(hash);
      wanted.erase(hash);
    }
    ASSERT_EQ(hashes(ignore), std::vector<int64_t>(wanted.begin(), wanted.end()));
    std::sort(ignore.begin(), ignore.end());
    ASSERT_EQ(hashes(ignore), std::vector<int64_t>(wanted.begin(), wanted.end()));
  }
}

TEST(Winnow, UnitsStandWhereTheyStand) {
  Random random(2);
  for (int i = 0; i < 30; ++i) {
    const std::string text = test::well_formed(test::mixed_text(random, random() % 3000));
    const Exact exact(text);
    for (const Unit unit : {Unit::word, Unit::character, Unit::byte}) {
      const auto expected = placed(unit, text);
      UnitScanner units(unit, exact.data(), exact.size()), bare(unit, exact.data(), exact.size());
      TextUnit u, same;
      std::string_view key;
      size_t n = 0;
      for (; units.next(&u, &key); ++n) {
        ASSERT_TRUE(bare.next(&same));
        ASSERT_EQ(same.begin, u.begin);
        ASSERT_EQ(same.end, u.end);
        ASSERT_LT(n, expected.size());
        ASSERT_EQ(key, expected[n].key);
        ASSERT_EQ(u.position, expected[n].position);
        if (unit == Unit::byte) continue;
        ASSERT_EQ(count_code_points(exact.data(), u.begin), u.position);
        ASSERT_EQ(count_code_points(exact.data(), u.end), u.position + expected[n].length);
      }
      ASSERT_EQ(n, expected.size());
      ASSERT_FALSE(bare.next(&same));
    }
  }
}

// A shared run of k + window - 1 units, in documents that share nothing else.
TEST(Winnow, EverySharedRunIsFound) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const int k = 1 + static_cast<int>(random() % 8), window = 1 + static_cast<int>(random() % 20);
    std::string run, a, b;
    // Few words: many equal hashes.
    for (int n = 0; n < k + window - 1; ++n) run += "s" + std::to_string(random() % 4) + " ";
    for (uint64_t n = random() % 60; n > 0; --n) a += "a" + std::to_string(random() % 9) + " ";
    for (uint64_t n = random() % 60; n > 0; --n) b += "b" + std::to_string(random() % 9) + " ";
    std::set<uint64_t> of_a;
    for (const auto& f : winnowed(Unit::word, k, window, a + run + a)) of_a.insert(f.hash);
    bool shared = false;
    for (const auto& f : winnowed(Unit::word, k, window, b + run + b)) shared = shared || of_a.count(f.hash) != 0;
    ASSERT_TRUE(shared) << k << " " << window;
  }
}

TEST(Winnow, Density) {
  Random random(4);
  std::string text;
  for (int i = 0; i < 60000; ++i) text += "x" + std::to_string(random()) + " ";
  for (const int window : {1, 4, 20, 100}) {
    const double chosen = static_cast<double>(winnowed(Unit::word, 5, window, text).size());
    const double expected = 59996.0 * 2 / (window + 1);
    EXPECT_NEAR(chosen / expected, 1.0, 0.05) << window;
  }
  // Equal shingles: one in `window` at most is chosen, not each.
  std::string same;
  for (int i = 0; i < 10000; ++i) same += "one ";
  EXPECT_EQ(winnowed(Unit::word, 5, 100, same).size(), 99u);
}

TEST(Winnow, ShortDocumentsAndBadArguments) {
  EXPECT_TRUE(winnowed(Unit::word, 5, 4, "").empty());
  EXPECT_TRUE(winnowed(Unit::word, 5, 4, " .,- ").empty());
  ASSERT_EQ(winnowed(Unit::word, 5, 4, "  two words").size(), 1u);
  EXPECT_EQ(winnowed(Unit::word, 5, 4, "  two words")[0].position, 2u);
  EXPECT_EQ(winnowed(Unit::word, 2, 10000, "a b c d e f").size(), 1u);
  for (const int k : {0, 65, -1}) EXPECT_THROW(winnowed(Unit::word, k, 4, "a"), Error);
  for (const int window : {0, 10001, -1}) EXPECT_THROW(winnowed(Unit::word, 5, window, "a"), Error);
}

}  // namespace
}  // namespace neardup::winnow_test
