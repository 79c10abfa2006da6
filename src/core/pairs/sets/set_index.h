// Sets by their rare elements: the order of elements, and an index of the first elements of many sets.
#pragma once

#include <cstdint>

#include "core/base/hash.h"
#include "core/pairs/sets/set_bound.h"
#include "core/pairs/sets/set_store.h"
#include "core/work/parallel.h"
#include "core/work/workspace.h"

namespace neardup {

struct RankedElement {
  uint64_t key;
  int64_t element;

  bool operator<(const RankedElement& other) const noexcept {
    return key != other.key ? key < other.key : element < other.element;
  }
};

// One order for the elements of all sets, rare ones first. Elements are counted by their hashes, in as many counters as
// memory allows: any order serves, this one keeps lists short.
class ElementOrder {
 public:
  // bytes: of the counters, rounded down to a power of two.
  ElementOrder(size_t bytes, Workspace& ws);

  void count(const StoredSet& set, Poller& poller) {
    for (uint32_t i = 0; i < set.size; ++i) {
      ++counters_[counter(mix(set.elements[i]))];
      poller.spend(5);
    }
  }

  // The first `prefix` elements of a set, in order, to out[0]; out has room for all of them.
  void first_elements(const StoredSet& set, uint32_t prefix, RankedElement* out, HitSink& hits) const;

 private:
  static uint64_t mix(int64_t element) noexcept { return mix64(static_cast<uint64_t>(element)); }
  size_t counter(uint64_t hash) const noexcept { return hash >> shift_; }

  unsigned shift_;
  Array<uint32_t> counters_;
};

// The first elements of some sets, by element.
class SetIndex {
 public:
  struct Entry {
    int64_t element;
    uint32_t set;       // which of the sets
    uint32_t position;  // of the element in the order of its set; 0 where all elements are indexed, in any order
  };
  struct Range {
    const Entry* begin;
    const Entry* end;
  };
  // The bytes of an entry while the index is made, with its place in a bucket.
  static constexpr size_t kSetEntryBytes = 2 * sizeof(Entry) + 2 * sizeof(uint32_t);
  static constexpr uint32_t kMaxEntries = uint32_t{1} << 31;

  // The index keeps no pointer to its arguments but ws.
  SetIndex(const StoredSet* sets, uint32_t n, const SetBound& bound, const ElementOrder& order, uint32_t largest,
           unsigned threads, Workspace& ws);

  // The entries among which those of an element are, sets ascending.
  Range entries(int64_t element) const noexcept {
    const size_t b = bucket(element);
    return {entries_.data() + begin_[b], entries_.data() + begin_[b + 1]};
  }

 private:
  size_t bucket(int64_t element) const noexcept {
    return shift_ == 64 ? 0 : mix64(static_cast<uint64_t>(element)) >> shift_;
  }
  void sort_to_buckets(const Array<Entry>& from, Poller& poller);

  unsigned shift_;
  Array<uint32_t> begin_;  // by bucket, and the end
  Array<Entry> entries_;
};

// The number of elements that near sets share; 0 where the two share fewer than `least`, which is above 0.
uint32_t common_if_near(const StoredSet& a, const StoredSet& b, uint32_t least, HitSink& hits);

}  // namespace neardup
