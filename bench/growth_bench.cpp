// The growth of the cost of pairs and clusters with their rows: processor time, temporary bytes and memory for 2^k
// minhashes, and the exponent from one line of a case to the next.
//
// Usage: growth_bench [MOST]   (default 1000000 rows; 2000000 take some minutes)
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <sys/resource.h>
#include <vector>

#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/pair_links.h"

#include "test/reference/stdio_temp_file.h"

namespace {

using namespace neardup;

constexpr uint32_t kPerm = 128;
constexpr uint32_t kBits = 16;
constexpr uint32_t kNeed = 103;
constexpr uint32_t kLeastRows = 125000;
constexpr uint32_t kFamilyShare = 25;  // one row in so many is of a family
constexpr uint32_t kFamilyEvery = 250000;

enum class Shape { copies, families };
enum class Task { pairs, anchor, connected };

double processor_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void fill(uint16_t* row, std::mt19937_64& random) {
  std::generate(row, row + kPerm, [&] { return static_cast<uint16_t>(random()); });
}

void change(uint16_t* row, uint32_t most, std::mt19937_64& random) {
  for (uint64_t n = random() % most; n > 0; --n) row[random() % kPerm] = static_cast<uint16_t>(random());
}

// Three rows in ten are near copies of an earlier one; with families, in every 250,000 rows 10,000 are versions of one.
std::vector<uint16_t> make_rows(uint32_t n, Shape shape) {
  std::vector<uint16_t> rows(size_t{n} * kPerm);
  std::mt19937_64 random(42);
  for (uint32_t i = 0; i < n; ++i) {
    uint16_t* const row = &rows[size_t{i} * kPerm];
    const uint64_t choice = random();
    if (shape == Shape::families && choice % kFamilyShare == 0) {
      std::mt19937_64 family(i / kFamilyEvery);
      fill(row, family);
      change(row, 16, random);
    } else if (i > 0 && choice % 10 < 3) {
      std::copy_n(&rows[random() % i * kPerm], kPerm, row);
      change(row, 20, random);
    } else {
      fill(row, random);
    }
  }
  return rows;
}

uint64_t found_by(MinhashPairs& search, Task task, uint32_t n) {
  if (task == Task::anchor) {
    AnchorLinks links(n);
    search.link_anchors(links);
  } else if (task == Task::connected) {
    UnionFind sets(n);
    search.run_components(sets);
  } else {
    search.run();
    std::vector<RowPair> some(4096);
    while (search.next(some.data(), some.size()) != 0) {
    }
  }
  return search.stats().found;
}

void grow(const char* name, Shape shape, Task task, size_t limit, uint32_t most) {
  double before = 0;
  for (uint32_t n = kLeastRows; n <= most; n *= 2) {
    const std::vector<uint16_t> rows = make_rows(n, shape);
    reference::StdioTempFiles files;
    const double start = processor_seconds();
    MinhashPairs search(kPerm, kBits, kNeed, {.memory_limit = limit, .files = &files, .identical = Identical::marked});
    for (uint32_t i = 0; i < n; ++i) search.add(&rows[size_t{i} * kPerm]);
    const uint64_t found = found_by(search, task, n);
    const double seconds = processor_seconds() - start;
    const SearchStats& stats = search.stats();
    std::printf("%-22s %6zu %9u %8.2f %8.2f %10llu %8llu %8zu\n", name, limit >> 20, n, seconds,
                before == 0 ? 0 : std::log2(seconds / before), static_cast<unsigned long long>(found),
                static_cast<unsigned long long>(stats.spilled_bytes >> 20), stats.peak_bytes >> 20);
    before = seconds;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto most = static_cast<uint32_t>(argc > 1 ? std::atol(argv[1]) : 1000000);
  std::printf("%-22s %6s %9s %8s %8s %10s %8s %8s\n", "what", "MB", "rows", "s", "exponent", "pairs", "spill MB",
              "peak MB");
  for (const size_t limit : {size_t{64} << 20, size_t{8} << 30}) {
    grow("pairs", Shape::copies, Task::pairs, limit, most);
    grow("anchor", Shape::copies, Task::anchor, limit, most);
    grow("anchor, families", Shape::families, Task::anchor, limit, most);
    grow("connected", Shape::copies, Task::connected, limit, most);
    grow("connected, families", Shape::families, Task::connected, limit, most);
  }
  return 0;
}
