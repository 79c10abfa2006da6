// See simhash_search.h. The pigeonhole over blocks of bits: simhash_pairs.h.
#include "core/pairs/simhash/simhash_search.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/bits.h"
#include "core/kernels/kernels.h"

namespace neardup {
namespace {

// Tiles of the comparing kernel.
constexpr size_t kTile = 256;
// Estimated nanoseconds of one comparison.
constexpr double kBucketLookCost = 0.6;
// Smaller buckets are compared at once.
constexpr size_t kLeastSearch = 32;
// Slices of a block's values: as many tasks.
constexpr size_t kSliceEntries = 1 << 20;
constexpr unsigned kMaxSliceBits = 4;
// Values that are looked through for a slice between two polls.
constexpr size_t kSlicePiece = 4096;

struct Block {
  unsigned first;  // lowest bit
  unsigned bits;
};

// Block 0 .. blocks - 1 of the low `width` bits, the lowest first; as even as can be.
Block nth_block(unsigned width, unsigned blocks, unsigned number) noexcept {
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
void change_values(const SimhashEntries& e, Polls& polls, Change change) {
  for_each_polled(e.n, 1, polls, [&](size_t i) { e.values[i] = change(e.values[i]); });
}

// Brings the bits that tell values apart, of the low `width`, to the bottom; returns how many.
template <class Polls>
unsigned order_bits(const SimhashEntries& e, unsigned width, BitOrder* order, Polls& polls) {
  // A bit that fewer than one in 16 values have, or lack, says too little to sort by. Known from as many values at
  // most.
  constexpr size_t kSampledValues = 256;
  constexpr size_t kPoorPart = 16;
  // From so many values on the sample is worth its time; below only constant bits are looked for.
  constexpr size_t kLeastValuesSampled = 4096;
  const uint64_t all = low_bits(width);
  uint64_t good = 0;
  const size_t step = (e.n + kSampledValues - 1) / kSampledValues;
  if (e.n < kLeastValuesSampled) {
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
  static constexpr unsigned kMaxKeyBits = 16;

  unsigned shift;
  unsigned bits;

  Keys() = default;
  // A long block is cut to what the number of values is worth.
  Keys(const Block& block, size_t n) noexcept
      : bits(std::min({block.bits, kMaxKeyBits, static_cast<unsigned>(std::bit_width(n))})) {
    shift = block.first + block.bits - bits;
  }
  size_t buckets() const noexcept { return size_t{1} << bits; }
  size_t bucket(uint64_t v) const noexcept { return static_cast<size_t>(v >> shift & low_bits(bits)); }
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
  void count(const SimhashEntries& e, uint32_t* counts) const noexcept {
    for (size_t i = 0; i < e.n_a; ++i) ++counts[2 * bucket(e.values[i])];
    for (size_t i = e.n_a; i < e.n; ++i) ++counts[2 * bucket(e.values[i]) + 1];
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

// True if looking into every bucket of every block, pairs that share one, beats comparing all.
bool worth_searching(double looks, double pairs, size_t n, unsigned blocks) noexcept {
  return looks * kBucketLookCost + static_cast<double>(n) * blocks * kSimhashSortCost < pairs * kBucketLookCost;
}

// The search of one worker: all pairs at distance `most` at most, within a set or, cross, between the two sides.
class Search {
 public:
  Search(uint32_t most, bool cross);

  uint64_t looked = 0;
  uint64_t compared = 0;

  // A task: the pairs that agree in block `number` of the low `width` bits, and in none before it, among the values
  // whose block lies in slice `slice` of 2^slice_bits.
  void run(const SimhashEntries& all, unsigned width, unsigned number, unsigned slice_bits, uint64_t slice,
           HitSink& sink);

  // A task: the pairs of the values first .. first + kTile - 1 of side A and all others (behind them, with one
  // set).
  void run_all(const SimhashEntries& all, size_t first, HitSink& sink);

 private:
  // Searches within a search.
  static constexpr unsigned kMaxLevels = 4;

  struct Level {
    void resize(size_t n);

    std::vector<uint64_t> values;
    std::vector<uint32_t> rows;
    std::vector<uint32_t> counts;
  };
  // The origin of a level's values, so that a pair can be traced back.
  struct Frame {
    BitOrder order;
    Keys keys;
    unsigned width;
    unsigned number;
  };

  SimhashEntries copy_slice(const SimhashEntries& all, unsigned shift, unsigned bits, uint64_t slice);
  void by_block(const SimhashEntries& e, unsigned width, unsigned depth, unsigned number, const Keys& keys,
                uint32_t* counts);
  void bucket(const SimhashEntries& e, unsigned width, unsigned depth);
  bool search(const SimhashEntries& e, unsigned width, unsigned depth);
  void compare(const SimhashEntries& e, size_t i, size_t end, unsigned depth);
  void report(uint64_t difference, uint32_t row_x, uint32_t row_y, unsigned depth);

  size_t (*near_pairs_)(const uint64_t*, size_t, const uint64_t*, size_t, bool, unsigned, uint32_t*);
  uint32_t most_;
  bool cross_;
  HitSink* sink_ = nullptr;
  Level levels_[kMaxLevels + 1];
  Frame frames_[kMaxLevels + 1];
  uint32_t found_[kTile * kTile];
};

Search::Search(uint32_t most, bool cross) : near_pairs_(kernels().near_pairs), most_(most), cross_(cross) {}

void Search::run(const SimhashEntries& all, unsigned width, unsigned number, unsigned slice_bits, uint64_t slice,
                 HitSink& sink) {
  sink_ = &sink;
  const Block block = nth_block(width, most_ + 1, number);
  const SimhashEntries e =
      slice_bits == 0 ? all : copy_slice(all, block.first + block.bits - slice_bits, slice_bits, slice);
  const Keys keys(block, e.n);
  levels_[1].counts.assign(2 * keys.buckets(), 0);
  keys.count(e, levels_[1].counts.data());
  frames_[1].order.keep();
  by_block(e, width, 1, number, keys, levels_[1].counts.data());
}

void Search::run_all(const SimhashEntries& all, size_t first, HitSink& sink) {
  sink_ = &sink;
  compare(all, first, std::min(first + kTile, all.n_a), 0);
}

SimhashEntries Search::copy_slice(const SimhashEntries& all, unsigned shift, unsigned bits, uint64_t slice) {
  Level& level = levels_[0];
  const uint64_t mask = low_bits(bits);
  size_t n = 0;
  size_t n_a = 0;
  for (size_t first = 0; first < all.n; first += kSlicePiece) {
    const size_t last = std::min(all.n, first + kSlicePiece);
    if (level.values.size() < n + kSlicePiece) level.resize(2 * n + kSlicePiece);
    for (size_t i = first; i < last; ++i) {
      level.values[n] = all.values[i];
      level.rows[n] = all.rows[i];
      const bool in = (all.values[i] >> shift & mask) == slice;
      n += in;
      n_a += in & (i < all.n_a);
    }
    sink_->spend(kSlicePiece);
  }
  return {level.values.data(), level.rows.data(), n_a, n};
}

void Search::Level::resize(size_t n) {
  if (values.size() >= n) return;
  values.resize(n);
  rows.resize(n);
}

// Pairs that agree in the block and in none before it. counts: by key and side.
void Search::by_block(const SimhashEntries& e, unsigned width, unsigned depth, unsigned number, const Keys& keys,
                      uint32_t* counts) {
  Frame& frame = frames_[depth];
  frame.keys = keys;
  frame.width = width;
  frame.number = number;
  Level& level = levels_[depth];
  level.resize(e.n);
  uint32_t start = 0;
  for (size_t b = 0; b < 2 * keys.buckets(); ++b) start += std::exchange(counts[b], start);
  for (size_t i = 0; i < e.n; ++i) {
    const uint32_t at = counts[2 * keys.bucket(e.values[i]) + (i >= e.n_a)]++;
    level.values[at] = keys.rotate(e.values[i]);
    level.rows[at] = e.rows[i];
  }
  sink_->spend(static_cast<size_t>(static_cast<double>(e.n) * kSimhashSortCost) + keys.buckets());
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
void Search::bucket(const SimhashEntries& e, unsigned width, unsigned depth) {
  if (e.n >= kLeastSearch && depth < kMaxLevels && search(e, width, depth + 1)) return;
  compare(e, 0, e.n_a, depth);
}

bool Search::search(const SimhashEntries& e, unsigned width, unsigned depth) {
  const unsigned blocks = most_ + 1;
  const double pairs = pair_count(e.n_a, e.n, cross_);
  if (width < blocks ||
      !worth_searching(pairs * blocks / static_cast<double>(uint64_t{1} << std::min(width / blocks, 32u)), pairs, e.n,
                       blocks))
    return false;
  frames_[depth].order.keep();
  width = order_bits(e, width, &frames_[depth].order, *sink_);
  sink_->spend(e.n);
  Level& level = levels_[depth];
  level.counts.clear();
  double looks = 0;
  for (unsigned number = 0; number < blocks && width >= blocks; ++number) {
    const Keys keys(nth_block(width, blocks, number), e.n);
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
    const Keys keys(nth_block(width, blocks, number), e.n);
    by_block(e, width, depth, number, keys, level.counts.data() + at);
    at += 2 * keys.buckets();
  }
  return true;
}

// Values i .. end - 1 of side A with all of side B, or all behind them.
void Search::compare(const SimhashEntries& e, size_t i, size_t end, unsigned depth) {
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
void Search::report(uint64_t difference, uint32_t row_x, uint32_t row_y, unsigned depth) {
  ++compared;
  const unsigned distance = count_bits(difference);
  for (unsigned d = depth; d > 0; --d) {
    const Frame& f = frames_[d];
    if (f.width != 0) {
      difference = f.keys.unrotate(difference);
      const auto agrees = [&](unsigned number) {
        const Block block = nth_block(f.width, most_ + 1, number);
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

// Pairs that share a bucket of a block, of all blocks; the bits of the shortest one. A bucket that is searched itself
// costs less than its pairs.
double looks_of_blocks(const SimhashEntries& e, bool cross, unsigned width, unsigned blocks, unsigned* least_bits,
                       Poller& poller) {
  const double most_of_block = pair_count(e.n_a, e.n, cross) / blocks / 2;
  double looks = 0;
  std::vector<uint32_t> counts;
  for (unsigned number = 0; number < blocks; ++number) {
    const Block block = nth_block(width, blocks, number);
    *least_bits = std::min(*least_bits, block.bits);
    const Keys keys(block, e.n);
    counts.assign(2 * keys.buckets(), 0);
    keys.count(e, counts.data());
    looks += std::min(keys.pairs(counts.data(), cross), most_of_block);
    poller.spend(2 * e.n);
  }
  return looks;
}

}  // namespace

SearchCounts search_simhashes(const SimhashEntries& e, bool cross, uint32_t most, unsigned threads, Poller& poller,
                              const std::function<void(const Hit*, size_t)>& take) {
  const unsigned blocks = most + 1;
  const double pairs = pair_count(e.n_a, e.n, cross);
  BitOrder order;
  order.keep();
  const unsigned width = most < 64 ? order_bits(e, 64, &order, poller) : 0;
  unsigned least_bits = 64;
  const bool searching =
      width >= blocks &&
      worth_searching(looks_of_blocks(e, cross, width, blocks, &least_bits, poller), pairs, e.n, blocks);
  std::vector<std::unique_ptr<Search>> workers;
  for (unsigned i = 0; i < threads; ++i) workers.push_back(std::make_unique<Search>(most, cross));
  SearchCounts counts;
  if (searching) {
    unsigned slice_bits = 0;
    while (slice_bits < std::min(kMaxSliceBits, least_bits) &&
           (e.n >> slice_bits > kSliceEntries || (blocks << slice_bits) < 2 * threads))
      ++slice_bits;
    run_tasks(
        threads, size_t{blocks} << slice_bits, poller,
        [&](unsigned worker, size_t task, HitSink& hits) {
          workers[worker]->run(e, width, static_cast<unsigned>(task >> slice_bits), slice_bits,
                               task & ((size_t{1} << slice_bits) - 1), hits);
        },
        take);
  } else {
    counts.brute_force = true;
    run_tasks(
        threads, (e.n_a + kTile - 1) / kTile, poller,
        [&](unsigned worker, size_t task, HitSink& hits) { workers[worker]->run_all(e, task * kTile, hits); }, take);
  }
  if (!order.keeps()) change_values(e, poller, [&order](uint64_t v) { return order.undo(v); });
  for (const auto& worker : workers) {
    counts.looked += worker->looked;
    counts.compared += worker->compared;
  }
  return counts;
}

}  // namespace neardup
