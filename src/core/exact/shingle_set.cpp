// See shingle_set.h.
#include "core/exact/shingle_set.h"

#include <algorithm>

#include "core/base/sort_unique.h"

namespace neardup {

std::vector<uint64_t> distinct_shingles(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop,
                                        const std::function<void(uint64_t* hashes, size_t n)>& on_batch) {
  // Repeats are dropped whenever the list has doubled, so that it holds at most twice the distinct ones.
  std::vector<uint64_t> all;
  ShingleStream stream(unit, k, text, size, stop);
  uint64_t batch[ShingleStream::kMaxBatch];
  size_t next_unique = size_t{1} << 16;
  while (const size_t n = stream.next(batch)) {
    all.insert(all.end(), batch, batch + n);
    if (on_batch) on_batch(batch, n);
    if (all.size() >= next_unique) {
      sort_unique(&all, stop);
      next_unique = std::max(next_unique, 2 * all.size());
    }
  }
  sort_unique(&all, stop);
  return all;
}

}  // namespace neardup
