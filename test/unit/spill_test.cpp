// The external sort: same order as a stable sort, within its budget, and clean when files fail or someone stops it.
#include "core/work/spill.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "test/reference/cut_short.h"
#include "test/reference/stdio_temp_file.h"

namespace neardup::spill_test {
namespace {

using reference::StdioTempFiles;

enum class Keys { random, few, sorted, reversed, equal, low, high };
constexpr Keys kAllKeys[] = {Keys::random, Keys::few, Keys::sorted, Keys::reversed, Keys::equal, Keys::low, Keys::high};

std::vector<SortRecord> make(Keys kind, size_t n, uint32_t seed) {
  std::mt19937 generator(seed);
  const auto random = [&generator] { return static_cast<uint32_t>(generator()); };
  std::vector<SortRecord> out(n);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t at = static_cast<uint32_t>(i);
    SortRecord r{random(), random(), at};
    if (kind == Keys::few) r = {random() % 3, random() % 3, at};
    if (kind == Keys::sorted) r = {at / 5, at, at};
    if (kind == Keys::reversed) r = {0xffffffffu - at / 5, 0xffffffffu - at, at};
    if (kind == Keys::equal) r = {7, 9, at};
    if (kind == Keys::low) r.hi = 0;
    if (kind == Keys::high) r.lo = 0xffffffffu;
    out[i] = r;
  }
  return out;
}

std::vector<SortRecord> stable_sorted(std::vector<SortRecord> v) {
  std::stable_sort(v.begin(), v.end(), [](const SortRecord& a, const SortRecord& b) { return a.key() < b.key(); });
  return v;
}

void expect_same(const std::vector<SortRecord>& got, const std::vector<SortRecord>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].key(), expected[i].key()) << i;
    ASSERT_EQ(got[i].value, expected[i].value) << i;
  }
}

std::vector<SortRecord> sorted_by(const std::vector<SortRecord>& in, size_t budget, Workspace& ws) {
  RecordSorter sorter(budget, ws);
  for (const SortRecord& r : in) sorter.add(r);
  EXPECT_EQ(sorter.size(), in.size());
  sorter.finish();
  SortRecord r;
  for (size_t i = 0; i < in.size() / 2; ++i) EXPECT_TRUE(sorter.next(&r));
  sorter.rewind();
  std::vector<SortRecord> out;
  while (sorter.next(&r)) out.push_back(r);
  EXPECT_FALSE(sorter.next(&r));
  sorter.rewind();
  EXPECT_EQ(sorter.next(&r), !in.empty());
  return out;
}

TEST(Spill, SortRecords) {
  for (const Keys kind : kAllKeys) {
    for (const size_t n : {0u, 1u, 2u, 63u, 64u, 65u, 1000u, 70000u}) {
      std::vector<SortRecord> a = make(kind, n, 1), tmp(n);
      const std::vector<SortRecord> expected = stable_sorted(a);
      Poller poller(nullptr);
      const SortRecord* result = sort_records(a.data(), tmp.data(), n, poller);
      ASSERT_TRUE(n == 0 || result == a.data() || result == tmp.data());
      expect_same({result, result + n}, expected);
    }
  }
}

TEST(Spill, EqualsAStableSortWithinItsBudget) {
  for (const Keys kind : kAllKeys) {
    for (const size_t n : {0u, 1u, 100u, 1000u, 30000u}) {
      for (const size_t budget : {size_t{0}, size_t{4096}, size_t{20000}, size_t{100000}, size_t{10} << 20}) {
        SCOPED_TRACE(testing::Message() << "keys " << static_cast<int>(kind) << ", n " << n << ", budget " << budget);
        StdioTempFiles files;
        Workspace ws(budget, &files, nullptr);
        const std::vector<SortRecord> in = make(kind, n, 2);
        expect_same(sorted_by(in, budget, ws), stable_sorted(in));
        EXPECT_LE(ws.ledger.peak(), std::max(budget, size_t{8192}));
        EXPECT_EQ(files.open, 0);
        if (budget >= size_t{10} << 20) {
          EXPECT_EQ(ws.spilled_bytes, 0u);
        } else if (n == 30000) {
          EXPECT_GE(ws.spilled_bytes, n * sizeof(SortRecord));
        }
      }
    }
  }
}

// Many more runs than one merge may read: several passes.
TEST(Spill, ManyRuns) {
  StdioTempFiles files;
  Workspace ws(0, &files, nullptr);
  const std::vector<SortRecord> in = make(Keys::few, 300000, 3);
  expect_same(sorted_by(in, 0, ws), stable_sorted(in));
  EXPECT_GT(ws.spilled_bytes, 2 * in.size() * sizeof(SortRecord));
}

TEST(Spill, WithoutFilesItStaysInMemory) {
  Workspace ws(0, nullptr, nullptr);
  const std::vector<SortRecord> in = make(Keys::random, 50000, 4);
  expect_same(sorted_by(in, ws.limit, ws), stable_sorted(in));
  EXPECT_EQ(ws.spilled_bytes, 0u);
}

TEST(Spill, FilesThatFail) {
  const std::vector<SortRecord> in = make(Keys::random, 5000, 5);
  StdioTempFiles counting;
  {
    Workspace ws(0, &counting, nullptr);
    sorted_by(in, 0, ws);
  }
  ASSERT_GT(counting.calls, 10);
  for (int64_t left = 0; left < counting.calls; left += 1 + counting.calls / 50) {
    StdioTempFiles files;
    files.calls_left = left;
    Workspace ws(0, &files, nullptr);
    EXPECT_THROW(sorted_by(in, 0, ws), Error) << left;
    EXPECT_EQ(files.open, 0);
  }
}

TEST(Spill, CanBeStopped) {
  const std::vector<SortRecord> in = make(Keys::random, 200000, 6);
  for (const size_t budget : {size_t{0}, size_t{64} << 20}) {
    const auto r = reference::cancel_at_any_poll([](int64_t calls) { return 1 + calls; },
                                                 [&](const EngineOptions& options, int64_t) {
                                                   Workspace ws(budget, options.files, options.stop);
                                                   sorted_by(in, budget, ws);
                                                 });
    EXPECT_EQ(r.wrong, "");
    EXPECT_GT(r.asked, 0);
  }
}

}  // namespace
}  // namespace neardup::spill_test
