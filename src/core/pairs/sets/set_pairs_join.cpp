// The search of SetPairs: a block of indexed sets after the other, in which all sets that may be near are looked up.
#include <algorithm>
#include <atomic>

#include "core/pairs/sets/set_pairs_impl.h"

namespace neardup {
namespace {

// Sets of a task of looking up.
constexpr uint32_t kProbeTask = 32;
// The most that counters of elements take.
constexpr size_t kMostCounterBytes = size_t{64} << 20;
// Marks an indexed set whose size or positions rule it out.
constexpr uint32_t kRuledOut = UINT32_MAX;
// Bytes that each set of a block takes, without its elements: its view, and the beginning of its entries.
constexpr size_t kSetBytes = sizeof(StoredSet) + sizeof(uint32_t);

}  // namespace

// Sets begin .. end - 1 that may be near any, by size, rows ascending.
void SetEngine::make_list(uint32_t begin, uint32_t end, ElementOrder* order, SetList* list) {
  RecordSorter by_size(memory_share(ws, kEighth), ws);
  for (uint32_t row = begin; row < end; ++row) {
    ws.poller.spend(4);
    const uint32_t size = store.set_size(row);
    if (!equal_rows.has(row) && bound.probe_prefix(size) != 0) by_size.add({size, row, row});
  }
  by_size.finish();
  list->n = static_cast<uint32_t>(by_size.size());
  list->rows = Array<uint32_t>(ws.ledger, list->n);
  list->sizes = Array<uint32_t>(ws.ledger, list->n);
  if (!store.in_memory()) list->file = ws.files->create();
  Array<int64_t> buffer;
  SortRecord r;
  for (uint32_t i = 0; by_size.next(&r); ++i) {
    list->rows[i] = r.value;
    list->sizes[i] = r.hi;
    const StoredSet set = store.read(r.value, &buffer);
    order->count(set, ws.poller);
    if (list->file != nullptr) append_polled(*list->file, set.elements, set.size * sizeof(int64_t), ws);
  }
  list_bytes += list->bytes();
}

void SetEngine::load(const SetList& list, uint32_t first, uint32_t end, SetBlock* block) {
  block->first = first;
  block->n = end - first;
  block->sets.renew(ws.ledger, block->n);
  block->elements = {};
  if (list.file == nullptr) {
    for (uint32_t i = first; i < end; ++i) {
      block->sets[i - first] = store.view(list.rows[i]);
      ws.poller.spend(5);
    }
    return;
  }
  uint64_t before = 0;
  uint64_t count = 0;
  for (uint32_t i = 0; i < end; ++i) {
    (i < first ? before : count) += list.sizes[i];
    ws.poller.spend(1);
  }
  block->elements = Array<int64_t>(ws.ledger, count);
  read_polled(*list.file, before * sizeof(int64_t), block->elements.data(), count * sizeof(int64_t), ws.poller);
  const int64_t* at = block->elements.data();
  for (uint32_t i = first; i < end; ++i) {
    block->sets[i - first] = {at, list.sizes[i], list.rows[i]};
    at += list.sizes[i];
    ws.poller.spend(2);
  }
}

// The memory that blocks and their index may take.
size_t SetEngine::room() const {
  if (ws.limit == SIZE_MAX) return SIZE_MAX;
  const size_t share = ws.limit / kShares * kSearchShare;
  const size_t held = store.held_bytes() + list_bytes;
  return std::max(ws.limit / kShares, share - std::min(share, held));
}

// The end of the block that begins with set `first` of the list. At least one set, and all that fit.
uint32_t SetEngine::end_of_indexed(const SetList& list, uint32_t first, size_t room) const {
  const size_t of_set = kSetBytes + threads * 2 * sizeof(uint32_t);
  size_t bytes = 0;
  size_t entries = 0;
  uint32_t i = first;
  for (; i < list.n; ++i) {
    const uint32_t prefix = bound.indexed_prefix(list.sizes[i]);
    entries += prefix;
    bytes += of_set + prefix * SetIndex::kSetEntryBytes + (list.file == nullptr ? 0 : list.sizes[i] * sizeof(int64_t));
    if (i > first && (bytes > room || entries > SetIndex::kMaxEntries)) break;
  }
  return i;
}

uint32_t SetEngine::end_of_probes(const SetList& list, uint32_t first, uint32_t end, size_t room) const {
  if (list.file == nullptr) return end;
  size_t bytes = 0;
  uint32_t i = first;
  for (; i < end; ++i) {
    bytes += kSetBytes + list.sizes[i] * sizeof(int64_t);
    if (i > first && bytes > room) break;
  }
  return i;
}

void SetEngine::join() {
  bound = SetBound(measure, threshold, !two_sets);
  const size_t most = std::min(kMostCounterBytes, memory_share(ws, kSixteenth));
  ElementOrder order(std::min(most, size_t{store.elements()} * sizeof(uint32_t)), ws);
  SetList first;
  make_list(0, count_a, &order, &first);
  if (!two_sets) {
    join_lists(first, first, order);
    return;
  }
  SetList second;
  make_list(count_a, store.rows(), &order, &second);
  measure == Measure::query_in_set ? join_lists(second, first, order) : join_lists(first, second, order);
}

void SetEngine::join_lists(const SetList& indexed, const SetList& probes, const ElementOrder& order) {
  const size_t views = probes.file == nullptr ? probes.n * sizeof(StoredSet) : 0;
  const size_t all = room();
  const size_t of_block = all - std::min(all / 2, std::max(views, all / 4));
  for (uint32_t first = 0; first < indexed.n;) {
    ws.poller.steps(first, indexed.n);
    const uint32_t end = end_of_indexed(indexed, first, of_block);
    SetBlock block;
    load(indexed, first, end, &block);
    const SetIndex index(block.sets.data(), block.n, bound, order, store.largest(), threads, ws);
    const uint32_t least = indexed.sizes[first];
    const uint32_t most = indexed.sizes[end - 1];
    const auto may_match = [&](uint32_t size) { return bound.may_match(std::clamp(size, least, most), size); };
    const uint32_t* sizes = probes.sizes.data();
    const uint32_t* from =
        std::partition_point(sizes, sizes + probes.n, [&](uint32_t size) { return size < least && !may_match(size); });
    const uint32_t* to =
        std::partition_point(from, sizes + probes.n, [&](uint32_t size) { return size <= most || may_match(size); });
    const bool in_order = !two_sets && !is_directed();
    auto at = static_cast<uint32_t>(from - sizes);
    if (in_order) at = std::max(at, first + 1);
    for (const auto last = static_cast<uint32_t>(to - sizes); at < last;) {
      SetBlock some;
      load(probes, at, end_of_probes(probes, at, last, all / 4), &some);
      probe_all({block, index, order}, some);
      at += some.n;
    }
    first = end;
  }
}

void SetEngine::probe_all(const SetLookup& lookup, const SetBlock& probes) {
  std::vector<ProbeScratch> scratch(threads);
  std::atomic<uint64_t> looked{0};
  std::atomic<uint64_t> compared{0};
  run_tasks(
      threads, (size_t{probes.n} + kProbeTask - 1) / kProbeTask, ws.poller,
      [&](unsigned worker, size_t task, HitSink& hits) {
        ProbeScratch& own = scratch[worker];
        own.ledger = &ws.ledger;
        if (own.seen.size() == 0) {
          own.seen = Array<uint32_t>(ws.ledger, lookup.block.n);
          own.touched = Array<uint32_t>(ws.ledger, lookup.block.n);
          std::fill(own.seen.data(), own.seen.data() + own.seen.size(), 0);
        }
        SearchCounts counts;
        const auto begin = static_cast<uint32_t>(task * kProbeTask);
        for (uint32_t i = begin; i < std::min(probes.n, begin + kProbeTask); ++i)
          probe(lookup, probes.sets[i], probes.first + i, own, &counts, hits);
        looked.fetch_add(counts.looked, std::memory_order_relaxed);
        compared.fetch_add(counts.compared, std::memory_order_relaxed);
      },
      [&](const Hit* hits, size_t n) { add_hits(hits, n); });
  stats.looked += looked.load();
  stats.compared += compared.load();
}

// Compares the set, which is at this place of its list, with the indexed sets that may be near it.
void SetEngine::probe(const SetLookup& lookup, const StoredSet& set, uint32_t place, ProbeScratch& scratch,
                      SearchCounts* counts, HitSink& hits) const {
  const uint32_t touched = collect(lookup, set, place, scratch, counts, hits);
  const uint32_t unseen = set.size - bound.probe_prefix(set.size);
  for (uint32_t t = 0; t < touched; ++t) {
    const uint32_t i = scratch.touched[t];
    const uint32_t seen = scratch.seen[i];
    scratch.seen[i] = 0;
    hits.spend(10);
    if (seen == kRuledOut) continue;
    const StoredSet& indexed = lookup.block.sets[i];
    // All that they share beyond the elements seen is beyond the prefix of the one or of the other.
    const uint32_t rest = std::max(unseen, indexed.size - bound.indexed_prefix(indexed.size));
    if (size_t{seen} + rest < bound.common(indexed.size, set.size)) continue;
    if (components() && sets->same(indexed.row, set.row)) continue;
    ++counts->compared;
    verify(indexed, set, hits);
  }
}

// Counts, by indexed set, the elements that prefixes share. Returns how many sets were touched.
uint32_t SetEngine::collect(const SetLookup& lookup, const StoredSet& set, uint32_t place, ProbeScratch& scratch,
                            SearchCounts* counts, HitSink& hits) const {
  const uint32_t prefix = bound.probe_prefix(set.size);
  const bool is_whole = prefix == set.size;
  if (!is_whole) {
    if (scratch.ranked.size() == 0) scratch.ranked = Array<RankedElement>(*scratch.ledger, store.largest());
    lookup.order.first_elements(set, prefix, scratch.ranked.data(), hits);
  }
  const bool in_order = !two_sets && !is_directed();
  const uint32_t end = in_order ? (place > lookup.block.first ? place - lookup.block.first : 0) : lookup.block.n;
  uint32_t touched = 0;
  for (uint32_t j = 0; j < prefix; ++j) {
    const int64_t element = is_whole ? set.elements[j] : scratch.ranked[j].element;
    const SetIndex::Range range = lookup.index.entries(element);
    hits.spend(10);
    for (const SetIndex::Entry* e = range.begin; e != range.end; ++e) {
      hits.spend(2);
      ++counts->looked;
      if (e->element != element || e->set >= end) continue;
      uint32_t& seen = scratch.seen[e->set];
      if (seen == kRuledOut) continue;
      if (seen++ != 0) continue;
      scratch.touched[touched++] = e->set;
      const StoredSet& indexed = lookup.block.sets[e->set];
      const uint32_t least = bound.common(indexed.size, set.size);
      // Elements in common from here on, at the most. Where this set is not in order, any may follow.
      const uint32_t most =
          is_whole ? std::min(indexed.size, set.size) : std::min(indexed.size - e->position, set.size - j);
      if (least > most || (is_directed() && indexed.row == set.row)) seen = kRuledOut;
    }
  }
  return touched;
}

void SetEngine::verify(const StoredSet& indexed, const StoredSet& set, HitSink& hits) const {
  const uint32_t common = common_if_near(indexed, set, bound.common(indexed.size, set.size), hits);
  if (common == 0) return;
  const bool is_equal = common == indexed.size && common == set.size;
  const uint32_t value = common | (is_equal ? kEqualRows : 0);
  // The first row of a pair: that of set A, of one set and a measure that has no direction the lesser one.
  const bool swap = two_sets || is_directed() ? measure == Measure::query_in_set : set.row < indexed.row;
  swap ? hits.add(set.row, indexed.row, value) : hits.add(indexed.row, set.row, value);
}

void SetEngine::add_hits(const Hit* hits, size_t n) {
  for (size_t i = 0; i < n; ++i)
    found(hits[i].x, hits[i].y, hits[i].value & ~kEqualRows, two_sets && (hits[i].value & kEqualRows) != 0);
  ws.poller.spend(n * 4);
}

}  // namespace neardup
