// Repeated passages against their definition: units, groups, what is kept, memory, threads, hashes that deceive.
#include "core/passages/passage_search.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "test/reference/cut_short.h"
#include "test/reference/repeated_reference.h"
#include "test/reference/stdio_temp_file.h"
#include "test/unit/collage.h"
#include "test/unit/support.h"

namespace neardup::passage_search_test {
namespace {

using reference::Common;
using reference::Range;
using test::collage;
using test::Collection;
using test::Exact;
using test::Random;

constexpr Unit kUnits[] = {Unit::word, Unit::character, Unit::line, Unit::paragraph, Unit::code};

void load(PassageSearch* search, const Collection& c, std::vector<uint32_t>* groups) {
  for (const std::string& d : c.documents) {
    const Exact exact(d);
    search->add(exact.data(), exact.size());
  }
  for (const int g : c.groups) groups->push_back(g < 0 ? kNoGroup : static_cast<uint32_t>(g));
  search->run(groups->empty() ? nullptr : groups->data());
}

std::vector<Range> find_ranges(const PassageOptions& options, const Collection& c, size_t batch,
                               PassageSearchStats* stats = nullptr) {
  PassageSearch search(options);
  std::vector<uint32_t> groups;
  load(&search, c, &groups);
  std::vector<RepeatedRange> some(batch);
  std::vector<Range> out;
  while (const size_t n = search.next(some.data(), batch))
    for (size_t i = 0; i < n; ++i)
      out.push_back(
          {some[i].row, some[i].start, some[i].length, some[i].occurrences, some[i].first_row, some[i].first_start});
  if (stats != nullptr) *stats = search.stats();
  return out;
}

std::vector<Common> find_passages(const PassageOptions& options, const Collection& c) {
  PassageSearch search(options);
  std::vector<uint32_t> groups;
  load(&search, c, &groups);
  std::vector<Common> out;
  CommonPassage p;
  while (search.next(&p, 1) != 0) {
    out.push_back({p.row, p.start, p.length, p.documents, p.occurrences});
    std::string text(p.bytes, '\0');
    search.read_text(p.byte, text.data(), text.size());
    EXPECT_EQ(reference::code_points(test::well_formed(text)).size(), p.length);
  }
  return out;
}

std::string shown(const Collection& c) {
  std::string out;
  for (size_t i = 0; i < c.documents.size(); ++i)
    out += "\n" + (c.groups.empty() ? "" : std::to_string(c.groups[i])) + "<" + c.documents[i] + ">";
  return out;
}

void check(const PassageOptions& options, const Collection& c, size_t batch) {
  SCOPED_TRACE(std::string(unit_name(options.unit)) + " " + std::to_string(options.min_units) + " at least " +
               std::to_string(options.at_least) + (options.keep_first ? " first" : " none") + shown(c));
  const std::vector<int> one(c.documents.size(), 0);
  std::vector<std::string> read;
  for (const std::string& d : c.documents) read.push_back(test::well_formed(d));
  const reference::Repeated expected(options.unit, read, c.groups.empty() ? one : c.groups,
                                     static_cast<size_t>(options.min_units), static_cast<uint64_t>(options.at_least));
  const auto found = find_ranges(options, c, batch), wanted = expected.ranges(options.keep_first);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(found[i].row, wanted[i].row);
    ASSERT_EQ(found[i].start, wanted[i].start);
    ASSERT_EQ(found[i].length, wanted[i].length);
    ASSERT_EQ(found[i].occurrences, wanted[i].occurrences);
    ASSERT_EQ(found[i].first_row, wanted[i].first_row);
    ASSERT_EQ(found[i].first_start, wanted[i].first_start);
  }
  ASSERT_EQ(find_passages(options, c), expected.passages());
}

TEST(PassageSearch, IsTheDefinition) {
  Random random(1);
  reference::StdioTempFiles files;
  for (int i = 0; i < 4000; ++i) {
    const Collection c = collage(random);
    PassageOptions options;
    options.unit = kUnits[random() % std::size(kUnits)];
    options.min_units = (is_of_lines(options.unit) ? 1 : 2) + static_cast<int64_t>(random() % 7);
    options.at_least = 2 + static_cast<int64_t>(random() % (random() % 2 ? 1 : 6));
    options.keep_first = random() % 2 == 0;
    options.key = random();
    options.threads = 1 + static_cast<unsigned>(random() % 20 == 0);
    options.files = random() % 4 ? nullptr : &files;
    options.memory_limit = 1;
    ASSERT_NO_FATAL_FAILURE(check(options, c, 1 + random() % 5));
  }
}

// Windows longer than a shingle can be, and documents that are large for a batch.
TEST(PassageSearch, LongWindowsAndDocuments) {
  Random random(2);
  reference::StdioTempFiles files;
  for (int i = 0; i < 12; ++i) {
    Collection c;
    for (int d = 0; d < 4; ++d) {
      std::string text;
      for (int piece = 0; piece < 6; ++piece) {
        const uint64_t from = random() % 4 * 100000;
        for (uint64_t n = 0; n < 100 + random() % 900; ++n)
          text += std::to_string(random() % 400 ? from + n : random()) + (n % 9 ? " " : "\n");
      }
      c.documents.push_back(text);
    }
    PassageOptions options;
    options.unit = i % 3 == 0 ? Unit::line : i % 3 == 1 ? Unit::word : Unit::character;
    options.min_units = i % 3 == 0 ? 3 : 30 + static_cast<int64_t>(random() % 300);
    options.keep_first = i % 2 == 0;
    options.files = &files;
    options.memory_limit = 1;
    options.threads = 2;
    ASSERT_NO_FATAL_FAILURE(check(options, c, 100));
  }
}

// Comments and strings longer than what is read of a text at once.
TEST(PassageSearch, CodeIsReadInPieces) {
  static const std::string pieces[] = {"f(x);",       "if (a) ", "\"s\\\"t\"", "// c\n",
                                       "R\"d(\")d\"", "'q",      "\n",         "#define N 1\n"};
  Random random(4);
  reference::StdioTempFiles files;
  for (int i = 0; i < 60; ++i) {
    Collection c;
    for (int d = 0; d < 3; ++d) {
      std::string text;
      for (int n = 0; n < 150; ++n) {
        text += pieces[random() % 50 == 0 ? random() % std::size(pieces) : static_cast<size_t>(n) % 6];
        if (random() % 40 == 0) text += "/*" + std::string(4050 + random() % 100, '"') + "*/";
        if (random() % 40 == 0) text += '"' + std::string(random() % 9000, '/') + "\" ";
      }
      c.documents.push_back(text);
    }
    PassageOptions options;
    options.unit = Unit::code;
    options.min_units = 2 + static_cast<int64_t>(random() % 60);
    options.keep_first = i % 2 == 0;
    options.files = &files;
    options.memory_limit = 1;
    ASSERT_NO_FATAL_FAILURE(check(options, c, 100));
  }
}

TEST(PassageSearch, HashesThatDeceive) {
  Random random(3);
  unsigned deceived = 0;
  for (int i = 0; i < 300; ++i) {
    const Collection c = collage(random);
    PassageOptions options;
    options.min_units = 2 + static_cast<int64_t>(random() % 4);
    options.key = random();
    const auto expected = find_ranges(options, c, 10);
    options.weak_searches = 2;
    options.weak_bits = 2;
    PassageSearchStats stats;
    ASSERT_EQ(find_ranges(options, c, 10, &stats), expected) << shown(c);
    deceived += stats.searches > 1;
  }
  EXPECT_GT(deceived, 20u);
  // An endless search is an error, not a wrong answer.
  PassageOptions options;
  options.min_units = 3;
  options.weak_searches = 100;
  options.weak_bits = 0;
  EXPECT_THROW(find_ranges(options, {{"a b c", "d e f", "a b c", "d e f"}, {}}, 10), Error);
}

// Windows whose bytes are equal, but in one document the last word goes on.
TEST(PassageSearch, WordsThatGoOnDeceive) {
  const std::string begin = "x y foo";
  for (const std::string& longer : {begin + "bar", begin + "\xcc\x81", begin + "1 z"}) {
    for (const std::string& shorter : {begin, begin + " z", begin + ".\n"}) {
      for (const Collection& c : {Collection{{longer, shorter}, {}}, Collection{{shorter, longer}, {}}}) {
        PassageOptions options;
        options.min_units = 3;
        options.weak_searches = 1;
        options.weak_bits = 0;
        EXPECT_TRUE(find_ranges(options, c, 10).empty()) << shown(c);
      }
    }
  }
}

TEST(PassageSearch, Examples) {
  PassageOptions options;
  options.unit = Unit::character;
  const Collection same{{std::string(100, 'a')}, {}};
  EXPECT_EQ(find_ranges(options, same, 9), (std::vector<Range>{{0, 50, 50, 51, 0, 0}}));
  options.keep_first = false;
  EXPECT_EQ(find_ranges(options, same, 9), (std::vector<Range>{{0, 0, 100, 51, 0, 0}}));
  options.at_least = 52;
  EXPECT_TRUE(find_ranges(options, same, 9).empty());
  EXPECT_TRUE(find_ranges(options, {}, 9).empty());
  EXPECT_TRUE(find_ranges(options, {{"", "a", ""}, {}}, 9).empty());
  // Two runs that overlap are two ranges: no window of theirs spans both.
  options = {};
  options.min_units = 3;
  options.keep_first = false;
  EXPECT_EQ(find_ranges(options, {{"a b c", "c d e", "a b c d e"}, {}}, 9),
            (std::vector<Range>{{0, 0, 5, 2, 0, 0}, {1, 0, 5, 2, 1, 0}, {2, 0, 5, 2, 0, 0}, {2, 4, 5, 2, 1, 0}}));
}

TEST(PassageSearch, RefusesWhatIsOutOfRange) {
  const auto refused = [](Unit unit, int64_t min_units, int64_t at_least) {
    PassageOptions options;
    options.unit = unit;
    options.min_units = min_units;
    options.at_least = at_least;
    try {
      check_passage_options(options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(Unit::word, 1, 2), "min_units must be between 2 and 100000 for unit 'word': 1");
  EXPECT_EQ(refused(Unit::character, 100001, 2), "min_units must be between 2 and 100000 for unit 'char': 100001");
  EXPECT_EQ(refused(Unit::line, 0, 2), "min_units must be between 1 and 100000 for unit 'line': 0");
  EXPECT_EQ(refused(Unit::paragraph, 1, 2), "");
  EXPECT_EQ(refused(Unit::word, 2, 1), "at_least must be at least 2: 1");
}

// Whatever is asked to stop, stops; at every poll.
TEST(PassageSearch, CanBeStopped) {
  Collection c;
  for (int d = 0; d < 40; ++d) {
    std::string text;
    for (int n = 0; n < 2000; ++n) text += std::to_string(n) + " ";
    c.documents.push_back(text);
  }
  const auto r = reference::cancel_at_any_poll([](int64_t calls) { return 1 + calls / 4; },
                                               [&](const EngineOptions& given, int64_t) {
                                                 PassageOptions options;
                                                 options.stop = given.stop;
                                                 options.files = given.files;
                                                 options.memory_limit = 1;
                                                 find_ranges(options, c, 10);
                                               });
  EXPECT_EQ(r.wrong, "");
  EXPECT_GT(r.asked, 20);
}

// Memory for many documents stays within the limit, but for what is known for each document.
TEST(PassageSearch, KeepsToItsMemory) {
  Random random(4);
  reference::StdioTempFiles files;
  Collection c;
  for (int d = 0; d < 1000; ++d) {
    std::string text;
    for (int n = 0; n < 300; ++n) text += std::to_string(random() % 3 ? static_cast<uint64_t>(n) : random()) + " ";
    for (int n = 0; n < 300; ++n) text += std::to_string(n) + " ";
    c.documents.push_back(text);
  }
  PassageOptions options;
  options.files = &files;
  options.memory_limit = size_t{1} << 20;
  PassageSearchStats stats;
  const auto few = find_ranges(options, c, 100, &stats);
  EXPECT_GT(stats.spilled_bytes, uint64_t{3} << 20);
  EXPECT_LT(stats.peak_bytes, size_t{1} << 20);
  options.memory_limit = size_t{1} << 30;
  EXPECT_EQ(find_ranges(options, c, 100, &stats), few);
  EXPECT_EQ(stats.spilled_bytes, 0u);
  EXPECT_GE(few.size(), 999u);
}

}  // namespace
}  // namespace neardup::passage_search_test
