// Walks the buckets of one band and hands over the pairs that pass the key filter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/pairs/banding.h"
#include "core/work/workspace.h"

namespace neardup {

// Key vectors of rows, and the band that is being joined.
struct KeyRows {
  const uint32_t* keys;
  uint32_t stride;

  const uint32_t* at(uint32_t i) const noexcept { return keys + size_t{i} * stride; }
  void prefetch(uint32_t i) const noexcept {
    for (uint32_t word = 0; word < stride; word += 16) __builtin_prefetch(at(i) + word);
  }
};

inline constexpr size_t kPrefetchAhead = 12;
// 128 key vectors of 128 bytes: half a first-level cache.
inline constexpr size_t kBucketTile = 128;
inline constexpr size_t kLookUnits = 4;

inline uint32_t entry_key(uint64_t entry) noexcept { return static_cast<uint32_t>(entry >> 32); }
inline uint32_t entry_index(uint64_t entry) noexcept { return static_cast<uint32_t>(entry); }

// Polls: a Poller, or what has its spend().
//
// All pairs of one rectangle of entries; visit(i, j) for those that pass.
template <class Visit, class Polls>
void visit_rectangle(const uint64_t* x, size_t nx, const KeyRows& kx, const uint64_t* y, size_t ny, const KeyRows& ky,
                     const KeyFilter& filter, Polls& poller, Visit& visit) {
  for (size_t tile = 0; tile < ny; tile += kBucketTile) {
    const size_t end = std::min(ny, tile + kBucketTile);
    for (size_t i = 0; i < nx; ++i) {
      const uint32_t* a = kx.at(entry_index(x[i]));
      for (size_t j = tile; j < end; ++j) {
        if (filter(a, ky.at(entry_index(y[j])))) visit(entry_index(x[i]), entry_index(y[j]));
      }
      poller.spend((end - tile) * kLookUnits);
    }
  }
}

// All pairs within one bucket; visit(i, j) with i before j for those that pass.
template <class Visit, class Polls>
void visit_bucket(const uint64_t* bucket, size_t n, const KeyRows& rows, const KeyFilter& filter, Polls& poller,
                  Visit& visit) {
  for (size_t tile = 0; tile < n; tile += kBucketTile) {
    const size_t end = std::min(n, tile + kBucketTile);
    visit_rectangle(bucket, tile, rows, bucket + tile, end - tile, rows, filter, poller, visit);
    for (size_t i = tile; i < end; ++i) {
      const uint32_t* a = rows.at(entry_index(bucket[i]));
      for (size_t j = i + 1; j < end; ++j) {
        if (filter(a, rows.at(entry_index(bucket[j])))) visit(entry_index(bucket[i]), entry_index(bucket[j]));
      }
    }
    poller.spend((end - tile) * (end - tile) / 2 * kLookUnits);
  }
}

// Calls on_bucket(entries, n) for every run of at least two equal keys, with the next key vectors on their way.
template <class OnBucket, class Polls>
void for_each_bucket(const uint64_t* entries, size_t n, const KeyRows& rows, Polls& poller, OnBucket on_bucket) {
  size_t fetched = 0;
  for (size_t first = 0; first < n;) {
    size_t last = first + 1;
    while (last < n && entry_key(entries[last]) == entry_key(entries[first])) ++last;
    for (const size_t to = std::min(n, last + kPrefetchAhead); fetched < to; ++fetched) {
      rows.prefetch(entry_index(entries[fetched]));
    }
    if (last - first > 1) on_bucket(entries + first, last - first);
    poller.spend(last - first);
    first = last;
  }
}

// Two sorted lists: visit(i, j) for the pairs with equal keys, i of x and j of y, that pass. Returns how many were
// looked at.
template <class Visit, class Polls>
uint64_t visit_cross(const uint64_t* x, size_t nx, const KeyRows& kx, const uint64_t* y, size_t ny, const KeyRows& ky,
                     const KeyFilter& filter, Polls& poller, Visit& visit) {
  uint64_t looked = 0;
  for (size_t i = 0, j = 0; i < nx && j < ny;) {
    const uint32_t key = entry_key(x[i]);
    if (key != entry_key(y[j])) {
      key < entry_key(y[j]) ? ++i : ++j;
      poller.spend(2);
      continue;
    }
    size_t i_end = i + 1;
    while (i_end < nx && entry_key(x[i_end]) == key) ++i_end;
    size_t j_end = j + 1;
    while (j_end < ny && entry_key(y[j_end]) == key) ++j_end;
    visit_rectangle(x + i, i_end - i, kx, y + j, j_end - j, ky, filter, poller, visit);
    looked += static_cast<uint64_t>(i_end - i) * (j_end - j);
    poller.spend(i_end - i + j_end - j);
    i = i_end;
    j = j_end;
  }
  return looked;
}

}  // namespace neardup
