// See unit_lists.h.
#include "pg/lsh/scan/unit_lists.h"

#include <algorithm>

#include "pg/lsh/scan/page_hint.h"
#include "pg/lsh/store/lsh_page.h"

namespace neardup {
namespace {

constexpr uint32_t kCopiedList = 512;      // entries that are copied while the leaf is locked, while the copies are few
constexpr uint32_t kShortCopiedList = 64;  // the same from then on
constexpr size_t kCopiesPart = 8;          // of a scan's memory, that "few" are
constexpr uint32_t kProbesAhead = 32;      // whose cache lines are asked for while as many are read
constexpr uint32_t kLeastCapacity = 64;    // of probes and of groups
constexpr unsigned kGroupBits = 16;        // of a word that is sorted: a group's length, then its number

// The leaf that a reader has locked last.
struct LockedLeaf {
  Buffer buffer = InvalidBuffer;
  BlockNumber block = InvalidBlockNumber;
  bool empty = false;  // nothing is there, and nothing is locked
  LeafView view;

  void unlock() {
    if (buffer != InvalidBuffer) UnlockReleaseBuffer(buffer);
    buffer = InvalidBuffer;
    block = InvalidBlockNumber;
  }
  // False: stale.
  bool lock(RunTree* tree, const LeafPlace& place) {
    if (place.block == block) return true;
    unlock();
    CHECK_FOR_INTERRUPTS();
    const LeafResult result = tree->lock_leaf(place, &buffer, &view);
    if (result == LeafResult::stale) return false;
    empty = result == LeafResult::empty;
    block = place.block;
    return true;
  }
};

// Memory for n members in the place of the old.
template <typename Member>
void renew(Member** memory, MemoryContext context, size_t n) {
  if (*memory != nullptr) pfree(*memory);
  *memory = static_cast<Member*>(MemoryContextAlloc(context, sizeof(Member) * n));
}

}  // namespace

// Part of a probe's list, in one run.
struct UnitLists::Segment {
  Segment* next;
  RunTree* tree;  // null: the TIDs are here
  LeafPlace place;
  uint32_t n;
  uint64_t tids[FLEXIBLE_ARRAY_MEMBER];
};

void UnitLists::init(Relation index, MemoryContext parent, size_t most_bytes) {
  index_ = index;
  context_ = parent;
  unit_context_ = AllocSetContextCreate(parent, "lsh scan lists", ALLOCSET_DEFAULT_SIZES);
  most_copied_ = most_bytes / kCopiesPart;
}

void UnitLists::set_probes(ProbeSet* probes) {
  probes_ = probes;
  const uint32_t ngroups = all_groups();
  if (probes->size() > probe_capacity_ || lists_ == nullptr) {
    probe_capacity_ = Max(probes->size(), kLeastCapacity);
    renew(&lists_, context_, probe_capacity_);
    renew(&places_, context_, probe_capacity_);
  }
  if (ngroups > group_capacity_ || groups_ == nullptr) {
    group_capacity_ = Max(ngroups, kLeastCapacity);
    renew(&groups_, context_, size_t{2} * group_capacity_);
    renew(&group_order_, context_, group_capacity_);
  }
}

void UnitLists::clear() {
  memset(lists_, 0, sizeof(List) * probes_->size());
  copied_ = 0;
}

// Finds the leaf in which the list of each probe from `from` to before `to` begins, and asks for the cache lines that
// reading it takes: the misses of all overlap instead of being waited for one by one. *last: the place found last, if
// any. False: stale.
bool UnitLists::find_places(RunTree* tree, const TidRange& tids, uint32_t from, uint32_t to, const LeafPlace** last) {
  for (uint32_t i = from; i < to; ++i) {
    Entry begin, end;
    LeafPlace* place = &places_[i];
    place->block = InvalidBlockNumber;
    if (!entries_in(*tree, probes_->at(i), tids, &begin, &end)) continue;
    if (*last != nullptr && begin < (*last)->next_fence) {
      *place = **last;
    } else {
      bool none;
      if (!tree->find(begin, place, &none)) return false;
      if (none) {
        place->block = InvalidBlockNumber;
        continue;
      }
      *last = place;
      if (place->hint != nullptr) prefetch_page(place->hint->buffer);
    }
    if (place->hint == nullptr) continue;
    if (const char* page = page_hint(place->hint->buffer))
      LeafView::prefetch(page + SizeOfPageHeaderData, place->hint->shape, place->fence.key, place->next_fence.key,
                         begin.key);
  }
  return true;
}

// Reads the lists of the probes a part at a time, so that the lines asked for are still in the caches. While one part
// is read, those of the next are on their way.
ReadOutcome UnitLists::locate(RunTree* tree, const TidRange& tids) {
  if (tree->hi() <= tree->lo()) return ReadOutcome::done;
  if (!tree->load_root()) return ReadOutcome::stale;
  const uint32_t n = probes_->size();
  const LeafPlace* last = nullptr;
  uint32_t found = 0;
  for (uint32_t from = 0; from < n; from += kProbesAhead) {
    CHECK_FOR_INTERRUPTS();
    const uint32_t ahead = Min(from + 2 * kProbesAhead, n);
    if (!find_places(tree, tids, found, ahead, &last)) return ReadOutcome::stale;
    found = ahead;
    if (!read_places(tree, tids, from, Min(from + kProbesAhead, n))) return ReadOutcome::stale;
  }
  return ReadOutcome::done;
}

// Copies the short lists of these probes, which find_places() has found, and notes where the long ones lie. False:
// stale.
bool UnitLists::read_places(RunTree* tree, const TidRange& tids, uint32_t from, uint32_t to) {
  LockedLeaf leaf;
  for (uint32_t i = from; i < to; ++i) {
    const LeafPlace& place = places_[i];
    Entry begin, end;
    if (place.block == InvalidBlockNumber || !entries_in(*tree, probes_->at(i), tids, &begin, &end)) continue;
    if (!leaf.lock(tree, place)) return false;
    const uint32_t first = leaf.empty ? 0 : leaf.view.lower_bound(begin, place.next_fence.key);
    const uint32_t last = leaf.empty ? 0 : leaf.view.end_from(first, end);
    const uint32_t here = last - first;
    const bool goes_on = place.next_fence < end;
    if (here == 0 && !goes_on) continue;
    if (!goes_on && here <= longest_copy()) {
      copy_list(i, leaf.view, first, last, tids);
      continue;
    }
    // A long list is read when its group is chosen. Its length: exact in this leaf, then by the leaves it spans.
    add_segment(i, tree, place, 0);
    lists_[i].length += here;
    if (!goes_on) continue;
    leaf.unlock();
    if (!measure_rest(i, tree, end)) return false;
  }
  leaf.unlock();
  return true;
}

uint32_t UnitLists::longest_copy() const { return copied_ < most_copied_ ? kCopiedList : kShortCopiedList; }

// tree: null for a copy, of so many TIDs.
UnitLists::Segment* UnitLists::add_segment(uint32_t probe, RunTree* tree, const LeafPlace& place, uint32_t room) {
  Segment* segment =
      static_cast<Segment*>(MemoryContextAlloc(unit_context_, offsetof(Segment, tids) + sizeof(uint64_t) * room));
  segment->tree = tree;
  if (tree != nullptr) segment->place = place;
  segment->n = 0;
  segment->next = lists_[probe].first;
  lists_[probe].first = segment;
  return segment;
}

void UnitLists::copy_list(uint32_t probe, const LeafView& leaf, uint32_t first, uint32_t last, const TidRange& tids) {
  const uint32_t n = last - first;
  copied_ += sizeof(uint64_t) * n;
  Segment* segment = add_segment(probe, nullptr, places_[probe], n);
  if (probes_->is_checked()) {
    segment->n = copy_passing(probe, leaf, first, last, tids, segment->tids);
  } else {
    leaf.decode_tids(first, last, segment->tids);
    segment->n = n;
  }
  lists_[probe].length += segment->n;
}

// Adds the length of a list in further leaves: each is taken to have as many entries as the first of them, since leaves
// of one key have several times as many as others. The list is not empty, though VACUUM may have left fewer entries
// than leaves. False: stale.
bool UnitLists::measure_rest(uint32_t probe, RunTree* tree, const Entry& end) {
  LeafPlace walk = places_[probe];
  uint64_t per_leaf = 0;
  while (walk.next_fence < end) {
    CHECK_FOR_INTERRUPTS();
    bool ended;
    if (!tree->next(&walk, &ended)) return false;
    if (ended) break;
    if (per_leaf == 0) {
      LockedLeaf leaf;
      if (!leaf.lock(tree, walk)) return false;
      if (!leaf.empty) per_leaf = leaf.view.lower_bound(end, walk.next_fence.key);
      leaf.unlock();
      per_leaf = Max(per_leaf, uint64_t{1});
    }
    lists_[probe].length += per_leaf;
  }
  return true;
}

// TIDs of entries that count for the probe. Returns how many.
uint32_t UnitLists::copy_passing(uint32_t probe, const LeafView& leaf, uint32_t first, uint32_t last,
                                 const TidRange& tids, uint64_t* out) const {
  uint32_t n = 0;
  for (uint32_t e = first; e < last; ++e) {
    const uint64_t tid = leaf.tid(e);
    if (probes_->has_prefixes() && !tids.has(tid)) continue;
    if (probes_->passes(probes_->at(probe), leaf.key(e))) out[n++] = tid;
  }
  return n;
}

void UnitLists::order_groups() {
  const uint32_t n = probes_->plan().ngroups;
  const uint32_t all = all_groups();
  Group* by_number = groups_ + group_capacity_;
  for (uint32_t g = 0; g < all; ++g) by_number[g] = {0, kNoProbe};
  for (uint32_t i = 0; i < probes_->size(); ++i) {
    Probe* probe = &probes_->at(i);
    Group& group = by_number[probe->source->group];
    group.length += lists_[i].length;
    probe->next = group.first;
    group.first = i;
  }
  for (uint32_t g = 0; g < n; ++g) group_order_[g] = by_number[g].length << kGroupBits | g;
  std::sort(group_order_, group_order_ + n);
  for (uint32_t g = 0; g < n; ++g) groups_[g] = by_number[group_order_[g] & ((1u << kGroupBits) - 1)];
  std::copy(by_number + n, by_number + all, groups_ + n);
}

ReadOutcome UnitLists::read_group(uint32_t group, const TidRange& tids, TidSink* sink) {
  if (groups_[group].length == 0) return ReadOutcome::done;
  for (uint32_t i = groups_[group].first; i != kNoProbe; i = probes_->at(i).next) {
    for (const Segment* s = lists_[i].first; s != nullptr; s = s->next) {
      const ReadOutcome outcome = read_segment(*s, i, tids, sink);
      if (outcome != ReadOutcome::done) return outcome;
    }
  }
  return ReadOutcome::done;
}

ReadOutcome UnitLists::read_segment(const Segment& segment, uint32_t probe, const TidRange& tids, TidSink* sink) {
  if (segment.tree == nullptr) return sink->receive(segment.tids, segment.n) ? ReadOutcome::done : ReadOutcome::full;
  RunTree* tree = segment.tree;
  if (tids_ == nullptr)
    tids_ = static_cast<uint64_t*>(MemoryContextAlloc(context_, sizeof(uint64_t) * kMaxLeafEntries));
  Entry begin, end;
  entries_in(*tree, probes_->at(probe), tids, &begin, &end);
  LeafPlace place = segment.place;
  for (bool ended = false; !ended;) {
    CHECK_FOR_INTERRUPTS();
    Buffer buffer;
    LeafView leaf;
    const LeafResult result = tree->lock_leaf(place, &buffer, &leaf);
    if (result == LeafResult::stale) return ReadOutcome::stale;
    if (result == LeafResult::leaf) {
      const uint32_t first = leaf.lower_bound(begin);
      const uint32_t last = Max(first, leaf.lower_bound(end));
      if (last - first > kMaxLeafEntries) report_corrupt(index_, place.block, "impossible leaf");
      uint64_t* placed = nullptr;
      uint32_t n = last - first;
      if (probes_->has_prefixes()) {
        n = copy_passing(probe, leaf, first, last, tids, tids_);
      } else {
        placed = sink->room_for(n);
        leaf.decode_tids(first, last, placed != nullptr ? placed : tids_);
      }
      UnlockReleaseBuffer(buffer);
      if (placed != nullptr)
        sink->was_filled(n);
      else if (!sink->receive(tids_, n))
        return ReadOutcome::full;
    }
    if (!tree->next(&place, &ended)) return ReadOutcome::stale;
    if (!ended && !(place.fence < end)) break;
  }
  return ReadOutcome::done;
}

}  // namespace neardup
