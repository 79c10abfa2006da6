// Shared passages and copied shares against a table of all places where two documents agree; limits; hard texts.
#include "core/passages/shared/shared_passages.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "test/reference/passages_reference.h"
#include "test/unit/support.h"

namespace neardup::shared_passages_test {
namespace {

using reference::FoundPassage;
using test::Exact;
using test::Random;

std::vector<reference::PlacedUnit> placed(Unit unit, std::string_view text) {
  return reference::placed_units(unit, text);
}

std::vector<FoundPassage> passages(Unit unit, std::string_view a, std::string_view b, int64_t least,
                                   const IgnoredTexts& ignore = {}) {
  const Exact x(a), y(b);
  std::vector<FoundPassage> out;
  for (const Passage& p : shared_passages(unit, x.data(), x.size(), y.data(), y.size(), least, ignore)) {
    out.push_back({p.start_a, p.length_a, p.start_b, p.units});
    if (unit == Unit::byte) continue;
    EXPECT_EQ(placed(unit, a.substr(p.begin, p.end - p.begin)).size(), p.units);
  }
  return out;
}

double share(Unit unit, std::string_view a, std::string_view b, int64_t least, const IgnoredTexts& ignore = {}) {
  const Exact x(a), y(b);
  return copied_share(unit, x.data(), x.size(), y.data(), y.size(), least, ignore);
}

void check(Unit unit, const std::string& a, const std::string& b, size_t least,
           const std::vector<std::string>& ignore = {}) {
  auto x = placed(unit, a), y = placed(unit, b);
  SCOPED_TRACE(std::string(unit_name(unit)) + " " + std::to_string(least) + " <" + a + "> <" + b + ">");
  std::vector<std::vector<reference::PlacedUnit>> ignored;
  for (const std::string& text : ignore) ignored.push_back(placed(unit, text));
  reference::leave_out(ignored, least, &x);
  const IgnoredTexts texts(ignore.begin(), ignore.end());
  const auto got = passages(unit, a, b, static_cast<int64_t>(least), texts),
             expected = reference::shared_passages(x, y, least);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].start_a, expected[i].start_a);
    ASSERT_EQ(got[i].length_a, expected[i].length_a);
    ASSERT_EQ(got[i].start_b, expected[i].start_b);
    ASSERT_EQ(got[i].units, expected[i].units);
  }
  ASSERT_EQ(share(unit, a, b, static_cast<int64_t>(least), texts), reference::copied_share(x, y, least));
}

// Some of `pool`, in pieces.
std::string collage(Random& random, const std::vector<std::string>& pool, size_t units, const char* between) {
  std::string out;
  while (units > 0) {
    const size_t from = random() % pool.size();
    const size_t run = std::min({units, 1 + random() % 12, pool.size() - from});
    for (size_t i = 0; i < run; ++i) out += pool[from + i] + between;
    units -= run;
  }
  return out;
}

TEST(Passages, AreTheDefinition) {
  Random random(1);
  for (int i = 0; i < 120; ++i) {
    std::vector<std::string> pool(1 + random() % 40);
    const uint64_t kinds = 1 + random() % (i % 3 ? 4 : 40);
    for (std::string& w : pool) w = std::string(1, static_cast<char>('a' + random() % kinds % 26));
    const std::string a = collage(random, pool, random() % 70, " "),
                      b = collage(random, pool, random() % 70, i % 2 ? ", " : " ");
    const size_t least = 1 + random() % 9;
    ASSERT_NO_FATAL_FAILURE(check(Unit::word, a, b, least));
    ASSERT_NO_FATAL_FAILURE(check(Unit::character, a, b, least));
    ASSERT_NO_FATAL_FAILURE(check(Unit::byte, a, b, least));
  }
}

TEST(Passages, OfAllScripts) {
  Random random(2);
  for (int i = 0; i < 20; ++i) {
    std::string pieces[4], a, b;
    for (std::string& p : pieces) p = test::well_formed(test::mixed_text(random, random() % 60));
    for (int n = 0; n < 4; ++n) a += pieces[random() % 4], b += pieces[random() % 4];
    for (const Unit unit : {Unit::word, Unit::character, Unit::byte, Unit::line, Unit::paragraph, Unit::code})
      ASSERT_NO_FATAL_FAILURE(check(unit, a, b, 1 + random() % 6));
  }
}

// Several texts to ignore: longer and shorter than a passage, overlapping, parts of both documents, none at all.
TEST(Passages, WithoutWhatIsIgnored) {
  Random random(5);
  for (int i = 0; i < 400; ++i) {
    std::vector<std::string> pool(1 + random() % 30), ignore(random() % 5);
    const uint64_t kinds = 1 + random() % (i % 3 ? 5 : 40);
    for (std::string& w : pool) w = std::string(1, static_cast<char>('a' + random() % kinds % 26));
    const std::string a = collage(random, pool, random() % 60, i % 4 ? " " : "\n\n"),
                      b = collage(random, pool, random() % 60, i % 4 ? ", " : "\n\n");
    for (std::string& text : ignore)
      text = random() % 5 == 0 ? std::string(" ") : collage(random, pool, 1 + random() % 12, i % 4 ? " " : "\n\n");
    for (const Unit unit : {Unit::word, Unit::character, Unit::byte, Unit::line, Unit::paragraph, Unit::code})
      ASSERT_NO_FATAL_FAILURE(check(unit, a, b, 1 + random() % 7, ignore));
  }
  EXPECT_EQ(
      passages(Unit::word, "one two three four five six seven", "one two three four five six seven", 2, {"three four"}),
      (std::vector<FoundPassage>{{0, 7, 0, 2}, {19, 14, 19, 3}}));
  EXPECT_EQ(share(Unit::word, "one two three four", "one two", 2, {"three four"}), 1);
  EXPECT_EQ(share(Unit::word, "one two", "one two", 2, {"two one", "one two three"}), 0);
  EXPECT_EQ(share(Unit::word, "one two", "one two", 2, {"two one", "three"}), 1);
}

TEST(Passages, Examples) {
  EXPECT_EQ(passages(Unit::word, "one two THREE four", "zero. two, three, four!", 3),
            (std::vector<FoundPassage>{{4, 14, 6, 3}}));
  // Twice in a, once in b: both are copies.
  EXPECT_EQ(passages(Unit::word, "x y z - x y z", "x y z", 3), (std::vector<FoundPassage>{{0, 5, 0, 3}, {8, 5, 0, 3}}));
  EXPECT_EQ(share(Unit::word, "x y z - x y z q q", "x y z", 3), 0.75);
  EXPECT_TRUE(passages(Unit::word, "x y", "x y", 3).empty());
  EXPECT_EQ(share(Unit::word, "", "x y", 1), 0);
  EXPECT_EQ(share(Unit::word, "x y", "", 1), 0);
  EXPECT_EQ(share(Unit::word, "x y", "y x", 1), 1);
  for (const int64_t least : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    EXPECT_THROW(passages(Unit::word, "a", "a", least), Error);
    EXPECT_THROW(share(Unit::word, "a", "a", least), Error);
  }
  EXPECT_TRUE(passages(Unit::word, "a b c", "a b c", INT64_MAX).empty());
}

// A document against itself is one passage; repetitive ones take no longer than others.
TEST(Passages, RepetitiveTexts) {
  std::string same, fibonacci = "a", before = "b";
  for (int i = 0; i < 10000; ++i) same += "a ";
  while (fibonacci.size() < 10000) {
    const std::string next = fibonacci + before;
    before = fibonacci;
    fibonacci = next;
  }
  ASSERT_EQ(passages(Unit::word, same, same, 8).size(), 1u);
  ASSERT_EQ(passages(Unit::word, same + "b " + same, same, 8).size(), 2u);
  ASSERT_EQ(passages(Unit::character, fibonacci, fibonacci, 8).size(), 1u);
  std::string reversed(fibonacci.rbegin(), fibonacci.rend());
  const auto found = passages(Unit::character, fibonacci, reversed, 8);
  size_t units = 0;
  for (const FoundPassage& p : found) units += p.units;
  ASSERT_GT(units, fibonacci.size() * 9 / 10);
  ASSERT_EQ(share(Unit::character, fibonacci, reversed, 8), 1.0);
}

struct After final : StopCheck {
  explicit After(int n) : left(n) {}
  int left;
  bool should_stop() noexcept override { return --left < 0; }
};

TEST(Passages, CanBeCancelled) {
  Random random(5);
  std::string a;
  for (int i = 0; i < 200000; ++i) a += "w" + std::to_string(random() % 5000) + " ";
  const auto* p = reinterpret_cast<const uint8_t*>(a.data());
  for (const int polls : {0, 5, 20, 60}) {
    After stop(polls), other(polls);
    EXPECT_THROW(shared_passages(Unit::word, p, a.size(), p, a.size(), 8, {}, &stop), Error) << polls;
    EXPECT_THROW(copied_share(Unit::word, p, a.size(), p, a.size(), 8, {}, &other), Error) << polls;
  }
}

}  // namespace
}  // namespace neardup::shared_passages_test
