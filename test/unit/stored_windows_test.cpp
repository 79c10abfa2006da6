// Documents without the windows that a set holds, against their definition; numbers that may not change; sets larger
// than their memory.
#include "core/passages/stored_windows.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "test/reference/cut_short.h"
#include "test/reference/repeated_reference.h"
#include "test/reference/stdio_temp_file.h"
#include "test/unit/collage.h"
#include "test/unit/support.h"

namespace neardup::stored_windows_test {
namespace {

using test::collage;
using test::Collection;
using test::Exact;
using test::Random;

constexpr Unit kUnits[] = {Unit::word, Unit::character, Unit::line, Unit::paragraph, Unit::code};
// The number of group g.
constexpr uint64_t group_number(uint64_t g) { return g * 1000003 + 17; }

// The numbers of a collection's frequent windows, in blocks of up to `block`, the last one first.
void collect(const Collection& c, const PassageOptions& options, const StoredShape& shape, size_t block,
             WindowSet* set) {
  PassageSearch search(options);
  std::vector<uint32_t> group_of;
  std::vector<uint64_t> groups;
  for (const std::string& d : c.documents) {
    const Exact exact(d);
    search.add(exact.data(), exact.size());
  }
  for (const int g : c.groups) group_of.push_back(g < 0 ? kNoGroup : static_cast<uint32_t>(g));
  for (uint64_t g = 0; g < 3; ++g) groups.push_back(group_number(g));
  const bool grouped = !c.groups.empty();
  search.run(grouped ? group_of.data() : nullptr);
  FrequentWindows windows(&search, shape, static_cast<uint64_t>(options.at_least), grouped ? group_of.data() : nullptr,
                          grouped ? groups.data() : nullptr, nullptr);
  std::set<uint64_t> numbers;
  size_t n_numbers = 0;
  std::vector<uint64_t> some(block);
  while (const size_t n = windows.next(some.data(), block)) {
    numbers.insert(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
    n_numbers += n;
  }
  EXPECT_EQ(numbers.size(), n_numbers) << "a window comes once";
  const std::vector<uint64_t> ascending(numbers.begin(), numbers.end());
  for (size_t end = ascending.size(); end > 0;) {
    const size_t n = std::min(block, end);
    set->add(ascending.data() + end - n, n);
    end -= n;
  }
  set->finish();
}

void check(const Collection& c, const PassageOptions& options, size_t block) {
  reference::StdioTempFiles files;
  const StoredShape shape{options.unit, static_cast<uint32_t>(options.min_units), options.key};
  WindowSet set(1, &files, nullptr);
  collect(c, options, shape, block, &set);
  std::vector<std::string> read;
  for (const std::string& d : c.documents) read.push_back(test::well_formed(d));
  const std::vector<int> one(c.documents.size(), 0);
  const reference::Repeated expected(options.unit, read, c.groups.empty() ? one : c.groups,
                                     static_cast<size_t>(options.min_units), static_cast<uint64_t>(options.at_least));
  ASSERT_EQ(set.size(), expected.frequent_windows(static_cast<uint64_t>(options.at_least)));
  WindowCutter cutter(shape, &set, nullptr);
  for (size_t row = 0; row < c.documents.size(); ++row) {
    const int group = c.groups.empty() ? 0 : c.groups[row];
    if (group < 0) continue;
    const Exact exact(c.documents[row]);
    const uint64_t number = c.groups.empty() ? 0 : group_number(static_cast<uint64_t>(group));
    ASSERT_EQ(test::well_formed(cutter.cut(number, exact.data(), exact.size())),
              expected.cut(row, static_cast<uint64_t>(options.at_least)))
        << unit_name(options.unit) << " " << options.min_units << " at least " << options.at_least << " <"
        << c.documents[row] << ">";
  }
}

TEST(StoredWindows, CutIsTheDefinition) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const Collection c = collage(random);
    PassageOptions options;
    options.unit = kUnits[random() % std::size(kUnits)];
    options.min_units = (is_of_lines(options.unit) ? 1 : 2) + static_cast<int64_t>(random() % 5);
    options.at_least = 2 + static_cast<int64_t>(random() % 3);
    options.key = random();
    ASSERT_NO_FATAL_FAILURE(check(c, options, 1 + random() % 5));
  }
}

// A document that was not counted loses the same windows.
TEST(StoredWindows, ALaterDocument) {
  const Collection c{{"one two three four", "zero one two three", "x y z"}, {}};
  PassageOptions options;
  options.min_units = 3;
  const StoredShape shape{Unit::word, 3, 5};
  WindowSet set(1 << 20, nullptr, nullptr);
  collect(c, options, shape, 10, &set);
  WindowCutter cutter(shape, &set, nullptr);
  const auto cut = [&](const std::string& text) {
    return cutter.cut(0, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  };
  EXPECT_EQ(cut("A, one; TWO three! B"), "A, ! B");
  EXPECT_EQ(cut("one two three"), "");
  EXPECT_EQ(cut("one two"), "one two");
  EXPECT_EQ(cut(""), "");
  EXPECT_EQ(cut("x y z"), "x y z");
  EXPECT_EQ(cut("one two three one two three four"), "  four");
}

// Tables hold them: a change of these would let no window be recognised any more.
TEST(StoredWindows, NumbersStay) {
  const auto numbers = [](Unit unit, uint32_t units, uint64_t group, const std::string& text) {
    NumberedWindows windows({unit, units, 42});
    windows.start(group, reinterpret_cast<const uint8_t*>(text.data()), text.size(), nullptr);
    std::vector<uint64_t> out;
    for (NumberedWindows::Window w; windows.next(&w);) out.push_back(w.number);
    return out;
  };
  using Numbers = std::vector<uint64_t>;
  EXPECT_EQ(numbers(Unit::word, 2, 0, "One two, three"), (Numbers{8580466135951780622u, 7611378956726342128u}));
  EXPECT_EQ(numbers(Unit::word, 2, 1, "one two"), (Numbers{14493140916896129048u}));
  EXPECT_EQ(numbers(Unit::character, 3, 0,
                    "\xe4\xb8\xad"
                    "ab"),
            (Numbers{14481361545915616794u}));
  EXPECT_EQ(numbers(Unit::line, 1, 0, " a  line \n"), (Numbers{11637627310403961575u}));
  EXPECT_EQ(numbers(Unit::paragraph, 1, 0, "a\nb\n\nc"), (Numbers{5724166192265325249u, 14770539496271271468u}));
  EXPECT_EQ(numbers(Unit::code, 2, 0, "x = 1; // y"),
            (Numbers{5363618933507969708u, 7364624846767770490u, 47711154386292175u}));
}

TEST(WindowSet, HoldsMoreThanItsMemory) {
  Random random(2);
  reference::StdioTempFiles files;
  std::set<uint64_t> numbers;
  while (numbers.size() < 30000) numbers.insert(random());
  const std::vector<uint64_t> ascending(numbers.begin(), numbers.end());
  for (const bool spills : {true, false}) {
    WindowSet set(spills ? 1 : size_t{1} << 30, &files, nullptr);
    for (size_t i = 0; i < ascending.size(); i += 240)
      set.add(ascending.data() + i, std::min<size_t>(240, ascending.size() - i));
    set.finish();
    EXPECT_EQ(set.spilled_bytes() > 0, spills);
    EXPECT_EQ(set.size(), numbers.size());
    for (const uint64_t n : ascending) ASSERT_TRUE(set.has(n));
    for (int i = 0; i < 30000; ++i) {
      const uint64_t n = i % 2 ? random() : ascending[random() % ascending.size()] + 1;
      ASSERT_EQ(set.has(n), numbers.count(n) == 1);
    }
  }
}

TEST(WindowSet, EmptyAndOutOfOrder) {
  WindowSet none(1, nullptr, nullptr);
  none.finish();
  EXPECT_FALSE(none.has(0));
  EXPECT_FALSE(none.has(UINT64_MAX));
  const uint64_t wrong[] = {3, 2};
  const uint64_t twice[] = {3, 3};
  WindowSet set(1, nullptr, nullptr);
  EXPECT_THROW(set.add(wrong, 2), Error);
  EXPECT_THROW(set.add(twice, 2), Error);
  const uint64_t ends[] = {0, UINT64_MAX};
  WindowSet both(1, nullptr, nullptr);
  both.add(ends, 2);
  both.finish();
  EXPECT_TRUE(both.has(0));
  EXPECT_TRUE(both.has(UINT64_MAX));
  EXPECT_FALSE(both.has(1));
}

// Whatever is asked to stop, stops; at every poll.
TEST(StoredWindows, CanBeStopped) {
  std::string text;
  for (int n = 0; n < 100000; ++n) text += std::to_string(n % 1000) + " ";
  const Exact exact(text);
  const auto r = reference::cancel_at_any_poll(
      [](int64_t calls) { return 1 + calls / 4; },
      [&](const EngineOptions& options, int64_t) {
        std::vector<uint64_t> ascending(4096);
        std::iota(ascending.begin(), ascending.end(), 0);
        WindowSet set(1, options.files, options.stop);
        for (int b = 0; b < 100; ++b) {
          set.add(ascending.data(), ascending.size());
          for (uint64_t& n : ascending) n += ascending.size();
        }
        set.finish();
        WindowCutter({Unit::word, 5, 1}, &set, options.stop).cut(0, exact.data(), exact.size());
      });
  EXPECT_EQ(r.wrong, "");
  EXPECT_GT(r.asked, 20);
}

}  // namespace
}  // namespace neardup::stored_windows_test
