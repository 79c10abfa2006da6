// SimhashPairs: values in, equal ones collapsed, the others searched at once or block by block (simhash_search.h).
#include "core/pairs/simhash/simhash_pairs.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "core/base/bits.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/pairs/pair_engine.h"
#include "core/pairs/simhash/simhash_search.h"
#include "core/work/parallel.h"
#include "core/work/row_store.h"
#include "core/work/spill.h"

namespace neardup {
namespace {

// Estimated nanoseconds of one comparison with AVX-512, in great buckets.
constexpr double kLeastLookCost = 0.15;
constexpr size_t kSimhashEntryBytes = sizeof(uint64_t) + sizeof(uint32_t);
// The search for equal values: rows of a part, and parts.
constexpr size_t kPartRows = 1024;
constexpr size_t kMaxHashParts = 2048;
// The bytes of a value of a join: its entry, its place in a slice, and on average two copies of that.
constexpr size_t kWorkBytes = 4 * kSimhashEntryBytes;

struct SimhashEngine final : PairEngine {
  SimhashEngine(uint32_t most_, const EngineOptions& options)
      : PairEngine(options), most(most_), values(sizeof(uint64_t), memory_share(ws, kEighth) / sizeof(uint64_t), ws) {}

  uint32_t num_rows() const override { return values.size(); }
  void clear_rows() override { values.clear(); }
  void find_pairs() override;
  void values_with(const uint32_t* of, uint32_t* distances) override;

  void collapse(RowStore& distinct, RowStore& leaders, uint32_t* distinct_a);
  void part(uint32_t first, uint32_t end, RowStore& distinct, RowStore& leaders);
  void sort(uint32_t first, uint32_t end, RowStore& distinct, RowStore& leaders);
  void join_distinct(RowStore& distinct, RowStore& leaders, uint32_t distinct_a);
  void join_in_memory(RowStore& distinct, RowStore& leaders, uint32_t distinct_a);
  void join_blocks(RowStore& distinct, RowStore& leaders, uint32_t distinct_a, uint32_t block_rows);
  bool join_offloaded(const SimhashEntries& e);
  void join(const SimhashEntries& e, bool cross);

  const uint32_t most;
  RowStore values;  // by row, those of set B after those of set A
};

// The distinct values of each set with the first row of each, those of set A first.
void SimhashEngine::collapse(RowStore& distinct, RowStore& leaders, uint32_t* distinct_a) {
  for (int side = 0; side <= int{two_sets}; ++side) {
    const uint32_t first = side == 0 ? 0 : count_a;
    const uint32_t end = side == 0 ? count_a : values.size();
    const size_t most_parted = memory_share(ws, kQuarter) / (kSimhashEntryBytes + sizeof(uint32_t));
    if (values.in_memory() && end - first <= most_parted) {
      part(first, end, distinct, leaders);
    } else {
      sort(first, end, distinct, leaders);
    }
    if (side == 0) *distinct_a = distinct.size();
  }
  finish_equal();
}

// Values in memory are parted by a hash, and the parts, which fit in the first caches, each go through a table.
void SimhashEngine::part(uint32_t first, uint32_t end, RowStore& distinct, RowStore& leaders) {
  const size_t n = end - first;
  if (n == 0) return;
  const unsigned bits = static_cast<unsigned>(std::bit_width(std::clamp<size_t>(n / kPartRows, 1, kMaxHashParts) - 1));
  const auto value = [this](uint32_t row) {
    uint64_t v;
    std::memcpy(&v, values.row(row), sizeof v);
    return v;
  };
  const auto hash_part = [bits](uint64_t hash) { return bits == 0 ? 0 : static_cast<size_t>(hash >> (64 - bits)); };
  std::vector<uint32_t> begin((size_t{1} << bits) + 1);
  for (uint32_t row = first; row < end; ++row) {
    ++begin[hash_part(mix64(value(row))) + 1];
    ws.poller.spend(2);
  }
  size_t largest = 0;
  for (size_t i = 1; i < begin.size(); ++i) {
    largest = std::max<size_t>(largest, begin[i]);
    begin[i] += begin[i - 1];
  }
  Array<uint64_t> parted(ws.ledger, n);
  Array<uint32_t> rows(ws.ledger, n);
  std::vector<uint32_t> at(begin.begin(), begin.end() - 1);
  for (uint32_t row = first; row < end; ++row) {
    const uint64_t v = value(row);
    const uint32_t to = at[hash_part(mix64(v))]++;
    parted[to] = v;
    rows[to] = row;
    ws.poller.spend(4);
  }
  const size_t mask = std::bit_ceil(2 * largest) - 1;
  Array<uint32_t> table(ws.ledger, mask + 1);  // place + 1; 0: none
  for (size_t i = 0; i + 1 < begin.size(); ++i) {
    const uint32_t count = begin[i + 1] - begin[i];
    const size_t part_mask = std::min(mask, std::bit_ceil(size_t{2} * count) - 1);
    std::fill(table.data(), table.data() + part_mask + 1, 0);
    for (uint32_t place = begin[i]; place < begin[i + 1]; ++place) {
      ws.poller.spend(8);
      const uint64_t v = parted[place];
      size_t slot = mix64(v) & part_mask;
      while (table[slot] != 0 && parted[table[slot] - 1] != v) slot = (slot + 1) & part_mask;
      if (table[slot] != 0 && unite_equal(rows[table[slot] - 1], rows[place])) continue;
      table[slot] = place + 1;
      distinct.add(&v);
      leaders.add(&rows[place]);
    }
  }
}

// The same for values on disk, by an external sort.
void SimhashEngine::sort(uint32_t first, uint32_t end, RowStore& distinct, RowStore& leaders) {
  RowReader reader(values, memory_share(ws, kSixteenth), ws);
  RecordSorter sorter(memory_share(ws, kQuarter), ws);
  for (uint32_t row = first; row < end; ++row) {
    uint64_t v;
    std::memcpy(&v, reader.row(row), sizeof v);
    sorter.add({static_cast<uint32_t>(v >> 32), static_cast<uint32_t>(v), row});
    ws.poller.spend(4);
  }
  sorter.finish();
  SortRecord r;
  bool any = false;
  uint64_t before = 0;
  uint32_t leader = 0;
  while (sorter.next(&r)) {
    ws.poller.spend(6);
    const uint64_t v = r.key();
    if (any && v == before && unite_equal(leader, r.value)) continue;
    leader = r.value;
    any = true;
    before = v;
    distinct.add(&v);
    leaders.add(&r.value);
  }
}

// The pairs of side A, or of side A and side B.
void SimhashEngine::join(const SimhashEntries& e, bool cross) {
  if (cross ? e.n_a == 0 || e.n_a == e.n : e.n < 2) return;
  count(search_simhashes(e, cross, most, threads, ws.poller,
                         [this](const Hit* hits, size_t n) { found_at_distance(hits, n); }));
}

// False: nothing was found yet.
bool SimhashEngine::join_offloaded(const SimhashEntries& e) {
  if (!may_offload(true) || (two_sets ? e.n_a == 0 || e.n_a == e.n : e.n < 2)) return false;
  const unsigned blocks = most + 1;
  const double pairs = pair_count(e.n_a, e.n, two_sets);
  const double looks = pairs * std::min(1.0, blocks / static_cast<double>(uint64_t{1} << std::min(63u, 64 / blocks)));
  const double searching = looks * kLeastLookCost + static_cast<double>(e.n) * blocks * kSimhashSortCost;
  const SimhashJob job{e.values, static_cast<uint32_t>(e.n_a), static_cast<uint32_t>(e.n), two_sets, most};
  stats.offloaded = offload->join(job, std::min(searching, pairs * kLeastLookCost) / threads, ws,
                                  [&](uint32_t x, uint32_t y, uint32_t distance) {
                                    const Hit hit{e.rows[x], e.rows[y], distance};
                                    found_at_distance(&hit, 1);
                                  });
  return stats.offloaded;
}

// Everything at once where memory allows, else every two blocks of values.
void SimhashEngine::join_distinct(RowStore& distinct, RowStore& leaders, uint32_t distinct_a) {
  const size_t room = memory_share(ws, kHalf) / kWorkBytes;
  if (distinct.size() <= room) {
    join_in_memory(distinct, leaders, distinct_a);
    return;
  }
  may_offload(false);  // throws where only the device will do
  join_blocks(distinct, leaders, distinct_a, static_cast<uint32_t>(std::max<size_t>(16, room / 2)));
}

void SimhashEngine::join_in_memory(RowStore& distinct, RowStore& leaders, uint32_t distinct_a) {
  const uint32_t n = distinct.size();
  Array<uint64_t> v(ws.ledger, n);
  Array<uint32_t> r(ws.ledger, n);
  distinct.read(0, n, v.data());
  leaders.read(0, n, r.data());
  distinct.clear();
  leaders.clear();
  const SimhashEntries all{v.data(), r.data(), two_sets ? distinct_a : n, n};
  if (join_offloaded(all)) return;
  const size_t work = n * (kWorkBytes - kSimhashEntryBytes);
  ws.ledger.hold(work);
  join(all, two_sets);
  ws.ledger.release(work);
}

// block_rows: values of a block.
void SimhashEngine::join_blocks(RowStore& distinct, RowStore& leaders, uint32_t distinct_a, uint32_t block_rows) {
  const uint32_t n = distinct.size();
  Array<uint64_t> v(ws.ledger, size_t{2} * block_rows);
  Array<uint32_t> r(ws.ledger, size_t{2} * block_rows);
  const size_t work = 2 * size_t{block_rows} * (kWorkBytes - kSimhashEntryBytes);
  ws.ledger.hold(work);
  const auto load = [&](uint32_t first, uint32_t end, size_t to) {
    const uint32_t count = std::min(block_rows, end - first);
    distinct.read(first, count, v.data() + to);
    leaders.read(first, count, r.data() + to);
    return count;
  };
  const uint32_t end_x = two_sets ? distinct_a : n;
  for (uint32_t x = 0; x < end_x; x += block_rows) {
    const uint32_t n_x = load(x, end_x, 0);
    if (!two_sets) join({v.data(), r.data(), n_x, n_x}, false);
    for (uint32_t y = two_sets ? distinct_a : x + n_x; y < n; y += block_rows) {
      const uint32_t n_y = load(y, n, n_x);
      join({v.data(), r.data(), n_x, size_t{n_x} + n_y}, true);
    }
  }
  ws.ledger.release(work);
}

void SimhashEngine::find_pairs() {
  const size_t each = memory_share(ws, kEighth) / kSimhashEntryBytes;
  RowStore distinct(sizeof(uint64_t), each, ws);
  RowStore leaders(sizeof(uint32_t), each, ws);
  uint32_t distinct_a = 0;
  collapse(distinct, leaders, &distinct_a);
  stats.distinct = distinct.size();
  join_distinct(distinct, leaders, distinct_a);
}

void SimhashEngine::values_with(const uint32_t* of, uint32_t* distances) {
  values_of_rows(values, of, 3, distances, 0, [](const std::byte* a, const std::byte* b) {
    uint64_t x, y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    return count_bits(x ^ y);
  });
}

}  // namespace

SimhashPairs::SimhashPairs(uint32_t most, const EngineOptions& options)
    : PairSearch([&] {
        if (most > 64) throw Error(Errc::invalid_argument, "distance must be at most 64: " + std::to_string(most));
        return std::make_unique<SimhashEngine>(most, options);
      }()) {}

void SimhashPairs::add(uint64_t value) { static_cast<SimhashEngine&>(engine()).values.add(&value); }

}  // namespace neardup
