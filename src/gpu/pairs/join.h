// Kernels of the join: rows sorted by one key, and the pairs of equal keys numbered through and looked at.
//
// Rows is a small struct by value: key(i, band), and look(i, j, band, order, &pair), which tells a pair only in the
// first of the bands, in the order given, in which the two share a key; so each pair comes up once whatever is done in
// which order. Rows of two slabs, or of one (n_x = n), are numbered through.
#pragma once

#include "gpu/base/portable.h"

namespace neardup::gpu {

constexpr uint32_t kMaxBands = 64;

// The order of bands as a kernel gets it.
struct BandOrder {
  uint8_t band[kMaxBands];
};

// Grid: n in blocks of 256. What is sorted: keys and positions.
template <class Rows>
struct FillEntries {
  static constexpr uint32_t kThreads = 256;
  Rows rows;
  uint32_t band;
  uint32_t n;
  uint32_t* keys;
  uint32_t* positions;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    block.each([&](uint32_t thread) {
      const uint32_t i = block.x() * kThreads + thread;
      if (i >= n) return;
      keys[i] = rows.key(i, band);
      positions[i] = i;
    });
  }
};

// The first place from `from` on that is not below its kind: is_below(i) holds for a beginning of from .. n - 1. Looks
// near first: most runs are short.
template <class IsBelow>
NEARDUP_HD uint32_t find_end(uint32_t from, uint32_t n, IsBelow is_below) noexcept {
  uint32_t step = 1;
  uint32_t low = from;
  while (low < n && is_below(low)) {
    from = low + 1;
    low = step < n - low ? low + step : n;
    step *= 2;
  }
  // Below: all before `from`; not: low, if there is one.
  while (from < low) {
    const uint32_t middle = from + (low - from) / 2;
    if (is_below(middle))
      from = middle + 1;
    else
      low = middle;
  }
  return from;
}

// Grid: n in blocks of 256. For every place of the sorted entries: how many pairs it has with places behind it. cross:
// only those of a row of x with one of y; rows of a key are in their order, those of x first.
struct CountPartners {
  static constexpr uint32_t kThreads = 256;
  const uint32_t* keys;
  const uint32_t* positions;
  uint32_t n;
  uint32_t n_x;
  bool cross;
  uint64_t* counts;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    block.each([&](uint32_t thread) {
      const uint32_t i = block.x() * kThreads + thread;
      if (i < n) counts[i] = partners_end(i) - partners_first(i);
    });
  }
  NEARDUP_HD uint32_t partners_end(uint32_t i) const noexcept {
    if (cross && positions[i] >= n_x) return i + 1;
    const uint32_t key = keys[i];
    return find_end(i + 1, n, [&](uint32_t k) { return keys[k] == key; });
  }
  NEARDUP_HD uint32_t partners_first(uint32_t i) const noexcept {
    if (!cross || positions[i] >= n_x) return i + 1;
    const uint32_t key = keys[i];
    return find_end(i + 1, n, [&](uint32_t k) { return keys[k] == key && positions[k] < n_x; });
  }
};

// Grid: pairs first .. first + n - 1 in blocks of kThreads * kStrip. sums: running sums of CountPartners' counts.
template <class Rows>
struct LookAtPairs {
  static constexpr uint32_t kThreads = 256;
  static constexpr uint32_t kStrip = 16;
  Rows rows;
  uint32_t band;
  BandOrder order;
  CountPartners partners;
  const uint64_t* sums;
  uint64_t first;
  uint32_t n;
  List<Pair> found;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    block.each([&](uint32_t thread) {
      const uint64_t begin = first + (uint64_t{block.x()} * kThreads + thread) * kStrip;
      if (begin >= first + n) return;
      const uint64_t end = first + n - begin < kStrip ? first + n : begin + kStrip;
      // The place that pair number `begin` belongs to: the first whose sum is above.
      uint32_t place = 0;
      for (uint32_t high = partners.n - 1; place < high;) {
        const uint32_t middle = place + (high - place) / 2;
        if (sums[middle] > begin)
          high = middle;
        else
          place = middle + 1;
      }
      uint32_t other =
          partners.partners_first(place) + static_cast<uint32_t>(begin - (place == 0 ? 0 : sums[place - 1]));
      for (uint64_t number = begin;;) {
        Pair pair;
        if (rows.look(partners.positions[place], partners.positions[other], band, order.band, &pair))
          append(found, pair);
        if (++number == end) break;
        if (number < sums[place]) {
          ++other;
          continue;
        }
        do {
          ++place;
        } while (sums[place] <= number);
        other = partners.partners_first(place);
      }
    });
  }
};

// Grid: sampled rows in blocks of 256. Pairs of equal keys among them, roughly: rows that fall into one of `slots`
// counters. pairs: a sum, of each row with those that came before.
template <class Rows>
struct EstimatePairs {
  static constexpr uint32_t kThreads = 256;
  Rows rows;
  uint32_t band;
  uint32_t n;
  uint32_t slots;  // a power of 2
  uint32_t* counters;
  uint64_t* pairs;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    block.each([&](uint32_t thread) {
      const uint32_t i = block.x() * kThreads + thread;
      if (i >= n) return;
      const uint32_t key = rows.key(i, band);
      const uint32_t before = add_to(counters + ((key ^ key >> 16) * 2654435769u >> 7 & (slots - 1)), 1);
      if (before != 0) add_to(pairs, uint64_t{before});
    });
  }
};

}  // namespace neardup::gpu
