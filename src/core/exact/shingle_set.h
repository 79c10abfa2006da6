// Documents as sets of shingles, and what two sets have in common: the exact similarity that signatures estimate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/stop.h"
#include "core/document/shingle.h"

namespace neardup {

// The distinct shingle hashes of a document, ascending. on_batch: unless empty, gets all of them with repeats, batch by
// batch, and may overwrite what it gets. k 1..64, else Error{invalid_argument}; stop may be null.
std::vector<uint64_t> distinct_shingles(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop,
                                        const std::function<void(uint64_t* hashes, size_t n)>& on_batch = {});

// Sizes of A, B and their intersection, for two ascending lists of distinct values.
struct Overlap {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t shared = 0;

  // |A n B| / |A u B|; 0 when both are empty: an empty set is similar to nothing.
  double jaccard() const noexcept {
    const uint64_t either = a + b - shared;
    return either == 0 ? 0.0 : static_cast<double>(shared) / static_cast<double>(either);
  }
};

template <typename T>
Overlap overlap(const std::vector<T>& a, const std::vector<T>& b) {
  Overlap o{a.size(), b.size(), 0};
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++o.shared;
      ++i;
      ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return o;
}

}  // namespace neardup
