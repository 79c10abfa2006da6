// See simhash_pairs.h.
#include "core/pairs/simhash_pairs.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "core/base/bits.h"
#include "core/kernels/kernels.h"
#include "core/base/hash.h"
#include "core/pairs/pair_output.h"
#include "core/work/parallel.h"
#include "core/work/row_store.h"
#include "core/signature/simhash.h"

namespace neardup {
namespace {

// Tiles of the comparing kernel.
constexpr size_t kTile = 256;
// Estimated nanoseconds: one comparison, and one value in one counting sort.
constexpr double kLookCost = 0.6;
// With AVX-512, in great buckets.
constexpr double kLeastLookCost = 0.15;
constexpr double kSortCost = 4;
constexpr unsigned kMaxKeyBits = 16;
// Smaller buckets are compared at once.
constexpr size_t kLeastSearch = 32;
// Searches within a search.
constexpr unsigned kMaxLevels = 4;
// A bit that fewer than one in 16 values have, or lack, tells too little to sort by. Known from as many values at most.
constexpr size_t kSample = 256;
constexpr size_t kPoorPart = 16;
// From so many values on the sample is worth its time; below only constant bits are looked for.
constexpr size_t kLeastSampled = 4096;
constexpr size_t kEntryBytes = sizeof(uint64_t) + sizeof(uint32_t);
// Of the search for equal values: rows of a part, and parts.
constexpr size_t kPartRows = 1024;
constexpr size_t kMaxParts = 2048;
// Slices of a block's values: as many tasks.
constexpr size_t kSliceEntries = 1 << 20;
constexpr size_t kPiece = 4096;
constexpr unsigned kMaxSliceBits = 4;
// In all for a value of a join: its entry, its place in a slice, and on average two copies of that.
constexpr size_t kWorkBytes = 4 * kEntryBytes;

// Values and the rows that they belong to. Those of side A come first; with one set all are of side A.
struct Entries {
  uint64_t* values;
  uint32_t* rows;
  size_t n_a;
  size_t n;
};

uint64_t low_bits(unsigned n) noexcept { return n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

struct Block {
  unsigned first;  // lowest bit
  unsigned bits;
};

// Block 0 .. blocks - 1 of the low `width` bits, the lowest first; as even as can be.
Block block_of(unsigned width, unsigned blocks, unsigned number) noexcept {
  const unsigned first = width * number / blocks;
  return {first, width * (number + 1) / blocks - first};
}

// Bits in another order. Distances do not change.
class BitOrder {
 public:
  // The bits of `mask` first, then the others.
  void bring_down(uint64_t mask) noexcept {
    n_ = 0;
    unsigned to = 0;
    for (const uint64_t part : {mask, ~mask}) {
      for (unsigned from = 0; from < 64;) {
        if ((part >> from & 1) == 0) {
          ++from;
          continue;
        }
        unsigned bits = 1;
        while (from + bits < 64 && (part >> (from + bits) & 1) != 0) ++bits;
        runs_[n_++] = {static_cast<uint8_t>(from), static_cast<uint8_t>(to), static_cast<uint8_t>(bits)};
        from += bits;
        to += bits;
      }
    }
  }
  void keep() noexcept { n_ = 0; }
  bool keeps() const noexcept { return n_ <= 1; }

  uint64_t apply(uint64_t v) const noexcept {
    uint64_t out = 0;
    for (unsigned i = 0; i < n_; ++i) out |= (v >> runs_[i].from & low_bits(runs_[i].bits)) << runs_[i].to;
    return out;
  }
  uint64_t undo(uint64_t v) const noexcept {
    if (keeps()) return v;
    uint64_t out = 0;
    for (unsigned i = 0; i < n_; ++i) out |= (v >> runs_[i].to & low_bits(runs_[i].bits)) << runs_[i].from;
    return out;
  }

 private:
  struct Run {
    uint8_t from, to, bits;
  };
  unsigned n_ = 0;
  Run runs_[64];
};

template <class Polls, class Change>
void change_values(const Entries& e, Polls& polls, Change change) {
  constexpr size_t kAtOnce = 1 << 16;
  for (size_t first = 0; first < e.n; first += kAtOnce) {
    const size_t end = std::min(e.n, first + kAtOnce);
    for (size_t i = first; i < end; ++i) e.values[i] = change(e.values[i]);
    polls.spend(end - first);
  }
}

// Brings the bits that tell values apart, of the low `width`, to the bottom; returns how many.
template <class Polls>
unsigned order_bits(const Entries& e, unsigned width, BitOrder* order, Polls& polls) {
  const uint64_t all = low_bits(width);
  uint64_t good = 0;
  const size_t step = (e.n + kSample - 1) / kSample;
  if (e.n < kLeastSampled) {
    for (size_t i = 0; i < e.n; i += step) good |= e.values[i] ^ e.values[0];
    good &= all;
  } else {
    size_t counts[64] = {};
    size_t n = 0;
    for (size_t i = 0; i < e.n; i += step, ++n) {
      for (unsigned bit = 0; bit < width; ++bit) counts[bit] += e.values[i] >> bit & 1;
    }
    for (unsigned bit = 0; bit < width; ++bit) {
      if (std::min(counts[bit], n - counts[bit]) * kPoorPart >= n) good |= uint64_t{1} << bit;
    }
  }
  order->keep();
  if (good == all) return width;
  order->bring_down(good);
  if (!order->keeps()) change_values(e, polls, [order](uint64_t v) { return order->apply(v); });
  return count_bits(good);
}

// The values of two sides sorted into buckets by the top bits of a block.
struct Keys {
  unsigned shift;
  unsigned bits;

  Keys() = default;
  // A long block is cut to what the number of values is worth.
  Keys(const Block& block, size_t n) noexcept
      : bits(std::min({block.bits, kMaxKeyBits, static_cast<unsigned>(std::bit_width(n))})) {
    shift = block.first + block.bits - bits;
  }
  size_t buckets() const noexcept { return size_t{1} << bits; }
  size_t of(uint64_t v) const noexcept { return static_cast<size_t>(v >> shift & low_bits(bits)); }
  // The key goes to the top, what was above it comes down: so the bits that are left lie together.
  uint64_t rotate(uint64_t v) const noexcept {
    if (bits == 0) return v;
    const uint64_t above = shift + bits == 64 ? 0 : v >> (shift + bits) << shift;
    return (v & low_bits(shift)) | above | (v >> shift & low_bits(bits)) << (64 - bits);
  }
  // Undoes it for a difference of values with equal keys.
  uint64_t unrotate(uint64_t difference) const noexcept {
    const uint64_t above = shift + bits == 64 ? 0 : difference >> shift << (shift + bits);
    return (difference & low_bits(shift)) | above;
  }

  // Adds each value to counts[2 * key + side], which has 2 * buckets() elements.
  void count(const Entries& e, uint32_t* counts) const noexcept {
    for (size_t i = 0; i < e.n_a; ++i) ++counts[2 * of(e.values[i])];
    for (size_t i = e.n_a; i < e.n; ++i) ++counts[2 * of(e.values[i]) + 1];
  }
  double pairs(const uint32_t* counts, bool cross) const noexcept {
    double out = 0;
    for (size_t b = 0; b < buckets(); ++b) {
      const double a = counts[2 * b];
      out += cross ? a * counts[2 * b + 1] : a * (a - 1) / 2;
    }
    return out;
  }
};

double pairs_of(const Entries& e, bool cross) noexcept {
  const double a = static_cast<double>(e.n_a);
  return cross ? a * static_cast<double>(e.n - e.n_a) : a * (a - 1) / 2;
}

// Whether looking into every bucket of every block beats comparing all.
bool worth_searching(double looks, double pairs, size_t n, unsigned blocks) noexcept {
  return looks * kLookCost + static_cast<double>(n) * blocks * kSortCost < pairs * kLookCost;
}

// The search of one worker.
class Search {
 public:
  Search(uint32_t most, bool cross) : near_pairs_(kernels().near_pairs), most_(most), cross_(cross) {}

  uint64_t looked = 0;
  uint64_t compared = 0;

  // A task: the pairs that agree in block `number` of the low `width` bits, and in none before it, among the values whose
  // block lies in slice `slice` of 2^slice_bits.
  void run(const Entries& all, unsigned width, unsigned number, unsigned slice_bits, uint64_t slice, HitSink& sink) {
    sink_ = &sink;
    const Block block = block_of(width, most_ + 1, number);
    const Entries e = slice_bits == 0 ? all : slice_of(all, block.first + block.bits - slice_bits, slice_bits, slice);
    const Keys keys(block, e.n);
    levels_[1].counts.assign(2 * keys.buckets(), 0);
    keys.count(e, levels_[1].counts.data());
    frames_[1].order.keep();
    by_block(e, width, 1, number, keys, levels_[1].counts.data());
  }

  // A task: the pairs of the values first .. first + kTile - 1 of side A and all others (behind them, with one set).
  void run_all(const Entries& all, size_t first, HitSink& sink) {
    sink_ = &sink;
    compare(all, first, std::min(first + kTile, all.n_a), 0);
  }

 private:
  Entries slice_of(const Entries& all, unsigned shift, unsigned bits, uint64_t slice) {
    Level& level = levels_[0];
    const uint64_t mask = low_bits(bits);
    size_t n = 0;
    size_t n_a = 0;
    for (size_t first = 0; first < all.n; first += kPiece) {
      const size_t last = std::min(all.n, first + kPiece);
      if (level.values.size() < n + kPiece) level.resize(2 * n + kPiece);
      for (size_t i = first; i < last; ++i) {
        level.values[n] = all.values[i];
        level.rows[n] = all.rows[i];
        const bool in = (all.values[i] >> shift & mask) == slice;
        n += in;
        n_a += in & (i < all.n_a);
      }
      sink_->spend(kPiece);
    }
    return {level.values.data(), level.rows.data(), n_a, n};
  }

  struct Level {
    void resize(size_t n) {
      if (values.size() >= n) return;
      values.resize(n);
      rows.resize(n);
    }

    std::vector<uint64_t> values;
    std::vector<uint32_t> rows;
    std::vector<uint32_t> counts;
  };
  // How a level came by its values, so that a pair can be traced back.
  struct Frame {
    BitOrder order;
    Keys keys;
    unsigned width;
    unsigned number;
  };

  // Pairs that agree in the block and in none before it. counts: by key and side.
  void by_block(const Entries& e, unsigned width, unsigned depth, unsigned number, const Keys& keys, uint32_t* counts) {
    Frame& frame = frames_[depth];
    frame.keys = keys;
    frame.width = width;
    frame.number = number;
    Level& level = levels_[depth];
    level.resize(e.n);
    uint32_t start = 0;
    for (size_t b = 0; b < 2 * keys.buckets(); ++b) start += std::exchange(counts[b], start);
    for (size_t i = 0; i < e.n; ++i) {
      const uint32_t at = counts[2 * keys.of(e.values[i]) + (i >= e.n_a)]++;
      level.values[at] = keys.rotate(e.values[i]);
      level.rows[at] = e.rows[i];
    }
    sink_->spend(static_cast<size_t>(static_cast<double>(e.n) * kSortCost) + keys.buckets());
    // A count is now where its values end.
    size_t first = 0;
    for (size_t b = 0; b < keys.buckets(); ++b) {
      const size_t n_a = counts[2 * b] - first;
      const size_t n = counts[2 * b + 1] - first;
      if (cross_ ? n_a != 0 && n_a != n : n > 1)
        bucket({level.values.data() + first, level.rows.data() + first, n_a, n}, width - keys.bits, depth);
      first += n;
    }
  }

  // All pairs of a bucket of level `depth`, whose values differ in the low `width` bits, and in those that were too poor
  // to sort by.
  void bucket(const Entries& e, unsigned width, unsigned depth) {
    if (e.n >= kLeastSearch && depth < kMaxLevels && search(e, width, depth + 1)) return;
    compare(e, 0, e.n_a, depth);
  }

  bool search(const Entries& e, unsigned width, unsigned depth) {
    const unsigned blocks = most_ + 1;
    const double pairs = pairs_of(e, cross_);
    if (width < blocks || !worth_searching(pairs * blocks / static_cast<double>(uint64_t{1} << std::min(width / blocks, 32u)),
                                           pairs, e.n, blocks))
      return false;
    frames_[depth].order.keep();
    width = order_bits(e, width, &frames_[depth].order, *sink_);
    sink_->spend(e.n);
    Level& level = levels_[depth];
    level.counts.clear();
    double looks = 0;
    for (unsigned number = 0; number < blocks && width >= blocks; ++number) {
      const Keys keys(block_of(width, blocks, number), e.n);
      const size_t at = level.counts.size();
      level.counts.resize(at + 2 * keys.buckets(), 0);
      keys.count(e, level.counts.data() + at);
      looks += keys.pairs(level.counts.data() + at, cross_);
      sink_->spend(e.n + keys.buckets());
    }
    if (width < blocks || !worth_searching(looks, pairs, e.n, blocks)) {
      // Values may have been put in another order: a pair is traced back through this level all the same.
      frames_[depth].width = 0;
      compare(e, 0, e.n_a, depth);
      return true;
    }
    size_t at = 0;
    for (unsigned number = 0; number < blocks; ++number) {
      const Keys keys(block_of(width, blocks, number), e.n);
      by_block(e, width, depth, number, keys, level.counts.data() + at);
      at += 2 * keys.buckets();
    }
    return true;
  }

  // Values i .. end - 1 of side A with all of side B, or all behind them.
  void compare(const Entries& e, size_t i, size_t end, unsigned depth) {
    const uint64_t* const y = cross_ ? e.values + e.n_a : e.values;
    const uint32_t* const rows_y = cross_ ? e.rows + e.n_a : e.rows;
    const size_t ny = cross_ ? e.n - e.n_a : e.n;
    for (; i < end; i += kTile) {
      const size_t n_i = std::min(kTile, end - i);
      for (size_t j = cross_ ? 0 : i; j < ny; j += kTile) {
        const size_t n_j = std::min(kTile, ny - j);
        const bool triangle = !cross_ && i == j;
        const size_t looks = triangle ? n_i * (n_i - 1) / 2 : n_i * n_j;
        looked += looks;
        sink_->spend(looks + 10);
        const size_t found = near_pairs_(e.values + i, n_i, y + j, n_j, triangle, most_, found_);
        for (size_t k = 0; k < found; ++k) {
          const size_t at_x = i + (found_[k] >> 16);
          const size_t at_y = j + (found_[k] & 0xffff);
          report(e.values[at_x] ^ y[at_y], e.rows[at_x], rows_y[at_y], depth);
        }
      }
    }
  }

  // A pair comes up in every block in which it agrees: it counts in the first, at every level.
  void report(uint64_t difference, uint32_t row_x, uint32_t row_y, unsigned depth) {
    ++compared;
    const unsigned distance = count_bits(difference);
    for (unsigned d = depth; d > 0; --d) {
      const Frame& f = frames_[d];
      if (f.width != 0) {
        difference = f.keys.unrotate(difference);
        const auto agrees = [&](unsigned number) {
          const Block block = block_of(f.width, most_ + 1, number);
          return (difference >> block.first & low_bits(block.bits)) == 0;
        };
        if (!agrees(f.number)) return;  // only the key does
        for (unsigned number = 0; number < f.number; ++number) {
          if (agrees(number)) return;
        }
      }
      difference = f.order.undo(difference);
    }
    sink_->add(row_x, row_y, distance);
  }

  size_t (*near_pairs_)(const uint64_t*, size_t, const uint64_t*, size_t, bool, unsigned, uint32_t*);
  uint32_t most_;
  bool cross_;
  HitSink* sink_ = nullptr;
  Level levels_[kMaxLevels + 1];
  Frame frames_[kMaxLevels + 1];
  uint32_t found_[kTile * kTile];
};

}  // namespace

struct SimhashPairs::Impl {
  Impl(uint32_t most_, const EngineOptions& options)
      : ws(options.memory_limit, options.files, options.stop),
        most(most_),
        threads(std::clamp(options.threads, 1u, 256u)),
        identical(options.identical),
        offload(options.offload),
        values(sizeof(uint64_t), memory_share(ws, kEighth) / sizeof(uint64_t), ws) {}

  void search();
  void collapse(RowStore& distinct, RowStore& leaders, uint32_t* distinct_a);
  void part(uint32_t first, uint32_t end, RowStore& distinct, RowStore& leaders);
  void sort(uint32_t first, uint32_t end, RowStore& distinct, RowStore& leaders);
  bool equal_row(uint32_t leader, uint32_t row);
  void join(const Entries& e, bool cross);
  bool join_offloaded(const Entries& e);
  void join_blocks(RowStore& distinct, RowStore& leaders, uint32_t distinct_a);
  void take(const Hit* hits, size_t n);

  Workspace ws;
  uint32_t most;
  unsigned threads;
  Identical identical;
  PairJoin* offload;
  SearchStats stats;
  RowStore values;  // by row, those of set B after those of set A
  bool two_sets = false;
  uint32_t count_a = 0;
  const uint32_t* rank_a = nullptr;
  const uint32_t* rank_b = nullptr;
  UnionFind* components = nullptr;  // null: pairs are sought
  std::unique_ptr<PairOutput> out;  // not for components
};

// The distinct values of each set with the first row of each, those of set A first.
void SimhashPairs::Impl::collapse(RowStore& distinct, RowStore& leaders, uint32_t* distinct_a) {
  for (int side = 0; side <= int{two_sets}; ++side) {
    const uint32_t first = side == 0 ? 0 : count_a;
    const uint32_t end = side == 0 ? count_a : values.size();
    const size_t most_parted = memory_share(ws, kQuarter) / (kEntryBytes + sizeof(uint32_t));
    if (values.in_memory() && end - first <= most_parted) {
      part(first, end, distinct, leaders);
    } else {
      sort(first, end, distinct, leaders);
    }
    if (side == 0) *distinct_a = distinct.size();
  }
  if (out != nullptr) out->finish_equal();
}

// A row whose value the leader has, too. False when it must take part in the search all the same.
bool SimhashPairs::Impl::equal_row(uint32_t leader, uint32_t row) {
  if (components == nullptr) return out->add_equal(leader, row);
  components->unite(leader, row);
  return true;
}

// In memory: values are parted by a hash, and the parts, which fit in the first caches, each go through a table.
void SimhashPairs::Impl::part(uint32_t first, uint32_t end, RowStore& distinct, RowStore& leaders) {
  const size_t n = end - first;
  if (n == 0) return;
  const unsigned bits = static_cast<unsigned>(std::bit_width(std::clamp<size_t>(n / kPartRows, 1, kMaxParts) - 1));
  const auto value_of = [this](uint32_t row) {
    uint64_t v;
    std::memcpy(&v, values.row(row), sizeof v);
    return v;
  };
  const auto part_of = [bits](uint64_t hash) { return bits == 0 ? 0 : static_cast<size_t>(hash >> (64 - bits)); };
  std::vector<uint32_t> begin((size_t{1} << bits) + 1);
  for (uint32_t row = first; row < end; ++row) {
    ++begin[part_of(mix64(value_of(row))) + 1];
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
    const uint64_t v = value_of(row);
    const uint32_t to = at[part_of(mix64(v))]++;
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
      if (table[slot] != 0 && equal_row(rows[table[slot] - 1], rows[place])) continue;
      table[slot] = place + 1;
      distinct.add(&v);
      leaders.add(&rows[place]);
    }
  }
}

// By an external sort.
void SimhashPairs::Impl::sort(uint32_t first, uint32_t end, RowStore& distinct, RowStore& leaders) {
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
    if (any && v == before && equal_row(leader, r.value)) continue;
    leader = r.value;
    any = true;
    before = v;
    distinct.add(&v);
    leaders.add(&r.value);
  }
}

void SimhashPairs::Impl::take(const Hit* hits, size_t n) {
  stats.found += n;
  for (size_t i = 0; i < n; ++i) {
    // With two sets the values of A come first in every join; with one, the blocks are in no order of rows.
    if (components == nullptr) {
      out->add(hits[i].x, hits[i].y, hits[i].value, two_sets && hits[i].value == 0);
    } else {
      components->unite(hits[i].x, hits[i].y);
    }
  }
  ws.poller.spend(n * 4);
}

// The pairs of side A, or of side A and side B. Values have their bits in another order meanwhile.
void SimhashPairs::Impl::join(const Entries& e, bool cross) {
  if (cross ? e.n_a == 0 || e.n_a == e.n : e.n < 2) return;
  const unsigned blocks = most + 1;
  const double pairs = pairs_of(e, cross);
  BitOrder order;
  order.keep();
  const unsigned width = most < 64 ? order_bits(e, 64, &order, ws.poller) : 0;
  bool searching = width >= blocks;
  unsigned least_bits = 64;
  if (searching) {
    double looks = 0;
    std::vector<uint32_t> counts;
    for (unsigned number = 0; number < blocks; ++number) {
      const Block block = block_of(width, blocks, number);
      least_bits = std::min(least_bits, block.bits);
      const Keys keys(block, e.n);
      counts.assign(2 * keys.buckets(), 0);
      keys.count(e, counts.data());
      const double of_block = keys.pairs(counts.data(), cross);
      // A bucket that is searched itself costs less than its pairs.
      looks += std::min(of_block, pairs / blocks / 2);
      ws.poller.spend(2 * e.n);
    }
    searching = worth_searching(looks, pairs, e.n, blocks);
  }
  std::vector<std::unique_ptr<Search>> workers;
  for (unsigned i = 0; i < threads; ++i) workers.push_back(std::make_unique<Search>(most, cross));
  const auto take_hits = [this](const Hit* hits, size_t count) { take(hits, count); };
  if (searching) {
    unsigned slice_bits = 0;
    while (slice_bits < std::min(kMaxSliceBits, least_bits) &&
           (e.n >> slice_bits > kSliceEntries || (blocks << slice_bits) < 2 * threads))
      ++slice_bits;
    run_tasks(threads, size_t{blocks} << slice_bits, ws.poller, [&](unsigned worker, size_t task, HitSink& hits) {
      workers[worker]->run(e, width, static_cast<unsigned>(task >> slice_bits), slice_bits,
                           task & ((size_t{1} << slice_bits) - 1), hits);
    }, take_hits);
  } else {
    stats.brute_force = true;
    run_tasks(threads, (e.n_a + kTile - 1) / kTile, ws.poller, [&](unsigned worker, size_t task, HitSink& hits) {
      workers[worker]->run_all(e, task * kTile, hits);
    }, take_hits);
  }
  if (!order.keeps()) change_values(e, ws.poller, [&order](uint64_t v) { return order.undo(v); });
  for (const auto& worker : workers) {
    stats.looked += worker->looked;
    stats.compared += worker->compared;
  }
}

// False: nothing was found yet.
bool SimhashPairs::Impl::join_offloaded(const Entries& e) {
  if (offload == nullptr || (two_sets ? e.n_a == 0 || e.n_a == e.n : e.n < 2)) return false;
  const unsigned blocks = most + 1;
  const double pairs = pairs_of(e, two_sets);
  const double looks = pairs * std::min(1.0, blocks / static_cast<double>(uint64_t{1} << std::min(63u, 64 / blocks)));
  const double searching = looks * kLeastLookCost + static_cast<double>(e.n) * blocks * kSortCost;
  const SimhashJob job{e.values, static_cast<uint32_t>(e.n_a), static_cast<uint32_t>(e.n), two_sets, most};
  return offload->join(job, std::min(searching, pairs * kLeastLookCost) / threads, ws,
                         [&](uint32_t x, uint32_t y, uint32_t distance) {
                           const Hit hit{e.rows[x], e.rows[y], distance};
                           take(&hit, 1);
                         });
}

// Everything at once where memory allows, else every two blocks of values.
void SimhashPairs::Impl::join_blocks(RowStore& distinct, RowStore& leaders, uint32_t distinct_a) {
  const uint32_t n = distinct.size();
  const size_t room = memory_share(ws, kHalf) / kWorkBytes;
  if (n <= room) {
    Array<uint64_t> v(ws.ledger, n);
    Array<uint32_t> r(ws.ledger, n);
    distinct.read(0, n, v.data());
    leaders.read(0, n, r.data());
    distinct.clear();
    leaders.clear();
    if (join_offloaded({v.data(), r.data(), two_sets ? distinct_a : n, n})) {
      stats.offloaded = true;
      return;
    }
    const size_t work = n * (kWorkBytes - kEntryBytes);
    ws.ledger.take(work);
    join({v.data(), r.data(), two_sets ? distinct_a : n, n}, two_sets);
    ws.ledger.give(work);
    return;
  }
  if (offload != nullptr) offload->refuse_large();
  const uint32_t most_rows = static_cast<uint32_t>(std::max<size_t>(16, room / 2));
  Array<uint64_t> v(ws.ledger, size_t{2} * most_rows);
  Array<uint32_t> r(ws.ledger, size_t{2} * most_rows);
  const size_t work = 2 * size_t{most_rows} * (kWorkBytes - kEntryBytes);
  ws.ledger.take(work);
  const auto load = [&](uint32_t first, uint32_t end, size_t to) {
    const uint32_t count = std::min(most_rows, end - first);
    distinct.read(first, count, v.data() + to);
    leaders.read(first, count, r.data() + to);
    return count;
  };
  const uint32_t end_x = two_sets ? distinct_a : n;
  for (uint32_t x = 0; x < end_x; x += most_rows) {
    const uint32_t n_x = load(x, end_x, 0);
    if (!two_sets) join({v.data(), r.data(), n_x, n_x}, false);
    for (uint32_t y = two_sets ? distinct_a : x + n_x; y < n; y += most_rows) {
      const uint32_t n_y = load(y, n, n_x);
      join({v.data(), r.data(), n_x, size_t{n_x} + n_y}, true);
    }
  }
  ws.ledger.give(work);
}

void SimhashPairs::Impl::search() {
  if (!two_sets) count_a = values.size();
  stats.rows = values.size();
  if (components == nullptr) out = std::make_unique<PairOutput>(identical, 0, two_sets, count_a, rank_a, rank_b, ws);
  if (!two_sets || (count_a != 0 && count_a != values.size())) {
    const size_t each = memory_share(ws, kEighth) / kEntryBytes;
    RowStore distinct(sizeof(uint64_t), each, ws);
    RowStore leaders(sizeof(uint32_t), each, ws);
    uint32_t distinct_a = 0;
    collapse(distinct, leaders, &distinct_a);
    stats.distinct = distinct.size();
    join_blocks(distinct, leaders, distinct_a);
  } else if (out != nullptr) {
    out->finish_equal();
  }
  if (out != nullptr) {
    out->finish();
    stats.found = out->found();
    stats.left_out = out->left_out();
  }
}

SimhashPairs::SimhashPairs(uint32_t most, const EngineOptions& options) {
  if (most > 64) throw Error(Errc::invalid_argument, "distance must be at most 64: " + std::to_string(most));
  impl_ = std::make_unique<Impl>(most, options);
}

SimhashPairs::~SimhashPairs() = default;

void SimhashPairs::add(uint64_t value) { impl_->values.add(&value); }

void SimhashPairs::start_set_b() {
  impl_->two_sets = true;
  impl_->count_a = impl_->values.size();
}

void SimhashPairs::run(const uint32_t* rank_a, const uint32_t* rank_b) {
  impl_->rank_a = rank_a;
  impl_->rank_b = rank_b;
  impl_->search();
  impl_->values.clear();
}

size_t SimhashPairs::next(RowPair* out, size_t max) { return impl_->out == nullptr ? 0 : impl_->out->next(out, max); }

void SimhashPairs::run_components(UnionFind& sets) {
  impl_->components = &sets;
  impl_->search();
}

void SimhashPairs::values_with(const uint32_t* of, uint32_t* values) {
  RowStore& store = impl_->values;
  const uint32_t n = store.size();
  // Rows that are asked for come from a block in memory; the store may lie on disk.
  const uint32_t block = static_cast<uint32_t>(
      std::clamp<size_t>(memory_share(impl_->ws, kQuarter) / sizeof(uint64_t), 1, std::max(n, 1u)));
  Array<uint64_t> block_of(impl_->ws.ledger, block);
  for (uint32_t first = 0; first < n; first += block) {
    const uint32_t count = std::min(block, n - first);
    store.read(first, count, block_of.data());
    RowReader reader(store, memory_share(impl_->ws, kSixteenth), impl_->ws);
    for (uint32_t i = 0; i < n; ++i) {
      impl_->ws.poller.spend(3);
      if (of[i] < first || of[i] - first >= count) continue;
      uint64_t v;
      std::memcpy(&v, reader.row(i), sizeof v);
      values[i] = count_bits(v ^ block_of[of[i] - first]);
    }
  }
}

const SearchStats& SimhashPairs::stats() noexcept {
  impl_->stats.spilled_bytes = impl_->ws.spilled_bytes;
  impl_->stats.peak_bytes = impl_->ws.ledger.peak();
  return impl_->stats;
}

uint32_t most_simhash_distance(double threshold) noexcept {
  uint32_t most = 0;
  while (most < 64 && 1 - (most + 1) / 64.0 >= threshold) ++most;
  return most;
}

}  // namespace neardup
