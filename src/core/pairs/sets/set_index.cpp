// See set_index.h.
#include "core/pairs/sets/set_index.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace neardup {
namespace {

// Sets of a task of building.
constexpr uint32_t kBuildTask = 64;
// Elements between two looks at how far two sets have come, or whether to stop.
constexpr uint32_t kMergeStep = 64;
// A set so many times as large is searched for each element of the smaller one.
constexpr uint32_t kSearched = 32;
constexpr size_t kLeastCounters = 256;
constexpr unsigned kElementHashBits = 32;
constexpr unsigned kHashBits = 64;

// The first element from `from` on that is not below e, by steps that double.
uint32_t advance_to(const StoredSet& set, uint32_t from, int64_t e) noexcept {
  uint32_t step = 1;
  uint32_t low = from;
  while (low < set.size && set.elements[low] < e) {
    from = low + 1;
    if (step >= set.size - low) {
      low = set.size;
      break;
    }
    low += step;
    step *= 2;
  }
  const int64_t* begin = set.elements;
  return static_cast<uint32_t>(std::lower_bound(begin + from, begin + low, e) - begin);
}

uint32_t common_by_search(const StoredSet& few, const StoredSet& many, uint32_t least, HitSink& hits) {
  uint32_t common = 0;
  uint32_t at = 0;
  for (uint32_t i = 0; i < few.size && at < many.size; ++i) {
    if (i - common > few.size - least) return 0;
    at = advance_to(many, at, few.elements[i]);
    common += at < many.size && many.elements[at] == few.elements[i];
    hits.spend(40);
  }
  return common >= least ? common : 0;
}

}  // namespace

ElementOrder::ElementOrder(size_t bytes, Workspace& ws)
    : counters_(ws.ledger, std::bit_floor(std::max(bytes / sizeof(uint32_t), kLeastCounters))) {
  shift_ = kHashBits - static_cast<unsigned>(std::countr_zero(counters_.size()));
  zero_polled(&counters_, ws.poller);
}

void ElementOrder::first_elements(const StoredSet& set, uint32_t prefix, RankedElement* out, HitSink& hits) const {
  for (uint32_t i = 0; i < set.size; ++i) {
    const uint64_t hash = mix(set.elements[i]);
    out[i] = {uint64_t{counters_[counter(hash)]} << kElementHashBits | (hash & UINT32_MAX), set.elements[i]};
    hits.spend(5);
  }
  const auto before = [&hits](const RankedElement& a, const RankedElement& b) {
    hits.spend(3);
    return a < b;
  };
  if (prefix < set.size) std::nth_element(out, out + prefix, out + set.size, before);
  std::sort(out, out + prefix, before);
}

SetIndex::SetIndex(const StoredSet* sets, uint32_t n, const SetBound& bound, const ElementOrder& order,
                   uint32_t largest, unsigned threads, Workspace& ws) {
  Array<uint32_t> first(ws.ledger, size_t{n} + 1);
  first[0] = 0;
  for (uint32_t i = 0; i < n; ++i) {
    first[i + 1] = first[i] + bound.indexed_prefix(sets[i].size);
    ws.poller.spend(10);
  }
  const uint32_t total = first[n];
  Array<Entry> unsorted(ws.ledger, total);
  std::vector<Array<RankedElement>> ranked(threads);
  const auto add_set = [&](uint32_t i, Array<RankedElement>& scratch, HitSink& hits) {
    const StoredSet& set = sets[i];
    Entry* to = unsorted.data() + first[i];
    const uint32_t prefix = first[i + 1] - first[i];
    if (prefix == set.size) {
      for (uint32_t k = 0; k < prefix; ++k) {
        to[k] = {set.elements[k], i, 0};
        hits.spend(2);
      }
      return;
    }
    if (scratch.size() == 0) scratch = Array<RankedElement>(ws.ledger, largest);
    order.first_elements(set, prefix, scratch.data(), hits);
    for (uint32_t k = 0; k < prefix; ++k) to[k] = {scratch[k].element, i, k};
  };
  run_tasks(threads, (size_t{n} + kBuildTask - 1) / kBuildTask, ws.poller,
            [&](unsigned worker, size_t task, HitSink& hits) {
              const auto begin = static_cast<uint32_t>(task * kBuildTask);
              for (uint32_t i = begin; i < std::min(n, begin + kBuildTask); ++i) add_set(i, ranked[worker], hits);
            });
  ranked.clear();
  const size_t buckets = std::bit_ceil(std::max<size_t>(total, 2)) / 2;
  shift_ = kHashBits - static_cast<unsigned>(std::countr_zero(buckets));
  begin_ = Array<uint32_t>(ws.ledger, buckets + 1);
  zero_polled(&begin_, ws.poller);
  entries_ = Array<Entry>(ws.ledger, total);
  sort_to_buckets(unsorted, ws.poller);
}

// A counting sort; the entries of a bucket stay in their order.
void SetIndex::sort_to_buckets(const Array<Entry>& from, Poller& poller) {
  const size_t buckets = begin_.size() - 1;
  for (size_t i = 0; i < from.size(); ++i) {
    ++begin_[bucket(from[i].element) + 1];
    poller.spend(3);
  }
  for (size_t b = 0; b < buckets; ++b) {
    begin_[b + 1] += begin_[b];
    poller.spend(1);
  }
  // Each bucket is filled from its end, so that its beginning stands where it belongs.
  for (size_t i = from.size(); i-- > 0;) {
    entries_[--begin_[bucket(from[i].element) + 1]] = from[i];
    poller.spend(8);
  }
  for (size_t b = 0; b < buckets; ++b) begin_[b] = begin_[b + 1];
  begin_[buckets] = static_cast<uint32_t>(from.size());
}

uint32_t common_if_near(const StoredSet& a, const StoredSet& b, uint32_t least, HitSink& hits) {
  if (a.size / kSearched > b.size) return common_by_search(b, a, least, hits);
  if (b.size / kSearched > a.size) return common_by_search(a, b, least, hits);
  const uint32_t missing_a = a.size - least;
  const uint32_t missing_b = b.size - least;
  uint32_t common = 0;
  uint32_t i = 0;
  uint32_t j = 0;
  while (i < a.size && j < b.size) {
    if (i - common > missing_a || j - common > missing_b) return 0;
    hits.spend(kMergeStep);
    for (uint32_t step = 0; step < kMergeStep && i < a.size && j < b.size; ++step) {
      const int64_t x = a.elements[i];
      const int64_t y = b.elements[j];
      common += x == y;
      i += x <= y;
      j += y <= x;
    }
  }
  return common >= least ? common : 0;
}

}  // namespace neardup
