// See collector.h. The counting: README, "Scan".
#include "pg/lsh/scan/collector.h"

#include "pg/lsh/scan/hit_table.h"
#include "pg/lsh/scan/page_hint.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/stored_keys.h"

#include <algorithm>

extern "C" {
#include "access/xlog.h"
}

namespace neardup {
namespace {

constexpr uint32_t kNoProbe = ~uint32_t{0};
constexpr uint32_t kShortList = 64;       // entries copied while the leaf is locked; longer lists are read when chosen
constexpr uint32_t kCopiedList = 512;     // the same while the copies are few
constexpr uint32_t kRosterBatch = 4096;   // TIDs of a run in one batch of a roster scan
constexpr uint64_t kFurther = 8;          // times as much as has to be gathered may be gathered on top of it
constexpr int kMaxAttempts = 5;          // before a reader keeps the directory still
// What it costs to count an entry and to fetch and check a candidate, in nanoseconds: their ratio decides whether one more
// list is worth reading. A value that is an expression's is made anew for each candidate.
constexpr double kEntryCost = 4;
constexpr double kColumnCost = 500;
constexpr double kExpressionCost = 2000;

}  // namespace

struct Collector::Probe {
  uint64_t first;  // keys first..last
  uint64_t last;
  const LshProbe* source;
  uint32_t next;  // of its group
};

// Part of a probe's list, in one run.
struct Collector::Segment {
  Segment* next;
  RunTree* tree;     // null: the TIDs are here
  LeafPlace place;
  uint32_t n;
  uint64_t tids[FLEXIBLE_ARRAY_MEMBER];
};

struct Collector::List {
  Segment* first;
  uint64_t length;
};

struct Collector::Group {
  uint64_t length;  // below 2^48: of TIDs in a table
  uint32_t first;   // of its probes, kNoProbe at the end
};

void Collector::init(Relation index, MemoryContext parent, Snapshot snapshot, size_t most_bytes) {
  memset(static_cast<void*>(this), 0, sizeof *this);
  index_ = index;
  candidate_cost_ = index->rd_index->indkey.values[value_column(index)] != 0 ? kColumnCost : kExpressionCost;
  snapshot_ = snapshot;
  most_bytes_ = Max(most_bytes, 64 * 1024);
  context_ = AllocSetContextCreate(parent, "lsh scan", ALLOCSET_DEFAULT_SIZES);
  unit_context_ = AllocSetContextCreate(context_, "lsh scan lists", ALLOCSET_DEFAULT_SIZES);
  // Borrowed trees are given back whatever ends the scan.
  struct Borrowed {
    MemoryContextCallback callback;
    TreeSet* set;
  };
  Borrowed* borrowed = static_cast<Borrowed*>(MemoryContextAllocZero(context_, sizeof(Borrowed)));
  set_ = &borrowed->set;
  borrowed->callback.arg = set_;
  borrowed->callback.func = [](void* arg) {
    if (TreeSet* set = *static_cast<TreeSet**>(arg)) release_trees(set);
  };
  MemoryContextRegisterResetCallback(context_, &borrowed->callback);
}

void Collector::set_plan(const ProbesRequest* plan, uint64_t salt) {
  plan_ = plan;
  salt_ = salt;
  pass_ = 0;
  if (plan->nprobes > probe_capacity_ || probes_ == nullptr) {
    probe_capacity_ = Max(plan->nprobes, 64u);
    if (probes_ != nullptr) {
      pfree(probes_);
      pfree(lists_);
      pfree(places_);
      pfree(order_);
    }
    probes_ = static_cast<Probe*>(MemoryContextAlloc(context_, sizeof(Probe) * probe_capacity_));
    lists_ = static_cast<List*>(MemoryContextAlloc(context_, sizeof(List) * probe_capacity_));
    places_ = static_cast<LeafPlace*>(MemoryContextAlloc(context_, sizeof(LeafPlace) * probe_capacity_));
    order_ = static_cast<uint64_t*>(MemoryContextAlloc(context_, sizeof(uint64_t) * probe_capacity_));
  }
  if (plan->ngroups > group_capacity_ || groups_ == nullptr) {
    group_capacity_ = Max(plan->ngroups, 64u);
    if (groups_ != nullptr) {
      pfree(groups_);
      pfree(group_order_);
      pfree(histogram_);
    }
    groups_ = static_cast<Group*>(MemoryContextAlloc(context_, 2 * sizeof(Group) * group_capacity_));
    group_order_ = static_cast<uint64_t*>(MemoryContextAlloc(context_, sizeof(uint64_t) * group_capacity_));
    histogram_ = static_cast<uint32_t*>(MemoryContextAlloc(context_, sizeof(uint32_t) * (group_capacity_ + 2)));
  }
  nprobes_ = plan->nprobes;
  prefixes_ = false;
  memset(filter_, 0, sizeof filter_);
  // In order of their keys: words are sorted faster than probes are.
  constexpr unsigned kNumberBits = 64 - kKeyBits;
  if (nprobes_ >> kNumberBits != 0) elog(ERROR, "too many probes: %u", nprobes_);
  for (uint32_t i = 0; i < nprobes_; ++i) {
    const LshProbe& source = plan->probes[i];
    const uint64_t rest = (uint64_t{1} << (kKeyBits - source.bits)) - 1;
    // Never the roster's key.
    const uint64_t key = std::max(salted_key(stored_key(source.key, plan->final), salt) & ~rest, kRosterKey + 1);
    order_[i] = key << kNumberBits | i;
  }
  std::sort(order_, order_ + nprobes_);
  for (uint32_t i = 0; i < nprobes_; ++i) {
    const LshProbe& source = plan->probes[order_[i] & ((uint64_t{1} << kNumberBits) - 1)];
    const uint64_t key = order_[i] >> kNumberBits;
    const uint64_t rest = (uint64_t{1} << (kKeyBits - source.bits)) - 1;
    prefixes_ |= rest != 0;
    probes_[i] = {key, key | rest, &source, kNoProbe};
    filter_[(key & 8191) >> 6] |= uint64_t{1} << (key & 63);
  }
}

void Collector::forget_directory() {
  TreeSet* set = *set_;
  *set_ = nullptr;
  if (set != nullptr) release_trees(set);
}

void Collector::read_directory() {
  if (*set_ != nullptr && !trees_hold(index_, *set_)) forget_directory();
  if (*set_ == nullptr) *set_ = borrow_trees(index_, pinned_);
  test_directory();
  directory_ = &(*set_)->directory;
  trees_ = (*set_)->trees;
  config_ = directory_->config;
  for (int i = 0; i < directory_->nruns; ++i) trees_[i].attach(index_, snapshot_);
  is_read_ = true;
}

// Rows whose run or pending page is gone have left no other page to tell of them.
void Collector::test_directory() {
  if (snapshot_ == nullptr || !tests_old_snapshots()) return;
  Buffer buffer = ReadBuffer(index_, kLshMetaBlock);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  test_old_snapshot(snapshot_, index_, BufferGetPage(buffer));
  UnlockReleaseBuffer(buffer);
}

void Collector::use_directory() {
  if (!is_read_) read_directory();
  is_read_ = false;
}

void Collector::rewind() {
  // Gives it back, so that many copies are forgotten; and takes it up again as one who reads more than once.
  forget_directory();
  is_read_ = false;
  list_.n = 0;
}

// After an attempt that met a stale directory. Merges free pages every few ms and a collection takes a fraction of one;
// still, a reader that was overtaken often keeps the directory still. A standby just tries again.
void Collector::stale_again(int* attempts) {
  CHECK_FOR_INTERRUPTS();
  forget_directory();
  if (++*attempts >= kMaxAttempts && !pinned_ && !RecoveryInProgress()) {
    take_lock(index_, IndexLock::maintenance, ShareLock, true);
    pinned_ = true;
  }
}

void Collector::end_attempts() {
  if (!pinned_) return;
  pinned_ = false;
  forget_directory();  // its trees are marked as pinned
  drop_lock(index_, IndexLock::maintenance, ShareLock);
}

void Collector::add_candidate(uint64_t tid, uint32_t misses) {
  if (list_.n == list_.capacity) {
    const size_t capacity = Max(size_t{64}, 2 * list_.capacity);
    list_.items = static_cast<uint64_t*>(
        list_.items == nullptr ? MemoryContextAllocHuge(context_, capacity * sizeof(uint64_t))
                               : repalloc_huge(list_.items, capacity * sizeof(uint64_t)));
    list_.capacity = capacity;
  }
  list_.items[list_.n++] = tid << 16 | misses;
}

uint64_t Collector::collect(uint64_t from) {
  int attempts = 0;
  uint64_t to;
  for (;;) {
    // A pass that did not fit left its width.
    to = kMaxTid;
    if (pass_ != 0 && (from >> 16) + pass_ <= largest_block()) to = ((from >> 16) + pass_) << 16;
    list_.n = 0;
    use_directory();
    const Outcome outcome = try_collect(from, to);
    if (outcome == Outcome::done) break;
    if (outcome == Outcome::stale) {
      stale_again(&attempts);
      continue;
    }
    // Too many rows for memory: fewer heap blocks at a time.
    const uint64_t blocks = pass_ != 0 ? pass_ : Max(largest_block(), from >> 16) + 1 - (from >> 16);
    if (blocks <= 1) elog(ERROR, "one heap block has too many entries in index \"%s\"", RelationGetRelationName(index_));
    pass_ = blocks / 2;
  }
  end_attempts();
  // A TID comes once, also where a slot of the heap was filled again and both rows' entries are still there.
  if (!std::is_sorted(list_.items, list_.items + list_.n)) std::sort(list_.items, list_.items + list_.n);
  uint64_t* end = std::unique(list_.items, list_.items + list_.n,
                              [](uint64_t a, uint64_t b) { return candidate_tid(a) == candidate_tid(b); });
  list_.n = static_cast<size_t>(end - list_.items);
  return to == kMaxTid ? kAllCollected : to;
}

bool Collector::estimate(double most, double* entries, double* candidates) {
  int attempts = 0;
  most_entries_ = most;
  for (;;) {
    list_.n = 0;
    seen_entries_ = 0;
    use_directory();
    const Outcome outcome = try_collect(0, kMaxTid);
    *entries = seen_entries_;
    *candidates = outcome == Outcome::done ? static_cast<double>(list_.n) : seen_entries_;
    if (outcome == Outcome::stale) {
      stale_again(&attempts);
      continue;
    }
    end_attempts();
    most_entries_ = 0;
    return outcome == Outcome::done;
  }
}

uint64_t Collector::largest_block() const {
  uint64_t most = 0;
  Relation heap = table_open(index_->rd_index->indrelid, NoLock);
  most = RelationGetNumberOfBlocks(heap);
  table_close(heap, NoLock);
  return most;
}

uint64_t Collector::collect_roster(uint64_t from) {
  uint64_t next = kAllCollected;
  int attempts = 0;
  for (;;) {
    list_.n = 0;
    use_directory();
    if (try_roster(from, &next) == Outcome::done) break;
    stale_again(&attempts);
  }
  end_attempts();
  std::sort(list_.items, list_.items + list_.n);
  list_.n = static_cast<size_t>(std::unique(list_.items, list_.items + list_.n) - list_.items);
  return next;
}

template <typename F>
Collector::Outcome Collector::for_pending_rows(F f) {
  for (int i = 0; i < directory_->npending; ++i) {
    CHECK_FOR_INTERRUPTS();
    const PendingSlot& slot = directory_->pending[i];
    Buffer buffer;
    if (lock_page(index_, slot.block, slot.id, kPendingPage, nullptr, &buffer) != PageState::good) {
      if (pinned_ || directory_change(index_) == directory_->change)
        report_corrupt(index_, slot.block, "a pending page is not there");
      return Outcome::stale;
    }
    if (snapshot_ != nullptr) test_old_snapshot(snapshot_, index_, BufferGetPage(buffer));
    PendingReader reader;
    reader.open(BufferGetPage(buffer));
    PendingRowView row;
    while (reader.next(index_, slot.block, &row)) f(row);
    UnlockReleaseBuffer(buffer);
  }
  return Outcome::done;
}

// Whether an entry with this stored key counts for the probe that found it.
bool Collector::passes(const Probe& probe, uint64_t key) const {
  if (plan_->check == nullptr) return true;
  return plan_->check(plan_, probe.source, key ^ salt_) ||
         (key == 1 && plan_->check(plan_, probe.source, kRosterKey ^ salt_));  // see salted_key()
}

uint32_t Collector::hits_of_row(const PendingRowView& row) const {
  uint32_t hits = 0;
  for (uint32_t i = 0; i < row.nkeys; ++i) {
    const uint64_t key = pending_key(row.keys, i);
    if (!prefixes_ && (filter_[(key & 8191) >> 6] >> (key & 63) & 1) == 0) continue;
    // Probes that hold the key end at `after`; those of one query are equal or disjoint.
    const Probe* after = std::upper_bound(probes_, probes_ + nprobes_, key,
                                          [](uint64_t k, const Probe& p) { return k < p.first; });
    while (after != probes_ && (after - 1)->last >= key) {
      --after;
      if (passes(*after, key)) ++hits;
    }
  }
  return hits;
}

Collector::Outcome Collector::collect_pending(uint64_t from, uint64_t to) {
  const uint32_t groups = plan_->ngroups;
  const uint32_t least = groups - plan_->slack;
  return for_pending_rows([&](const PendingRowView& row) {
    if (row.tid < from || row.tid >= to) return;
    const uint32_t hits = hits_of_row(row);
    if (hits >= least) add_candidate(row.tid, groups - Min(hits, groups));
  });
}

Collector::Outcome Collector::try_collect(uint64_t from, uint64_t to) {
  if (table_ == nullptr) {
    table_ = static_cast<HitTable*>(MemoryContextAllocZero(context_, sizeof(HitTable)));
    table_->context = context_;
    table_->most = 256;
    while (table_->most * 2 * (sizeof(uint64_t) + sizeof(uint32_t) / 2) <= most_bytes_ / 2 && table_->most < uint64_t{1} << 32)
      table_->most *= 2;
    gathered_ = static_cast<GatheredHits*>(MemoryContextAllocZero(context_, sizeof(GatheredHits)));
    gathered_->context = context_;
    gathered_->most = Min(most_bytes_ / 4 / sizeof(uint64_t), GatheredHits::kMost);
    tids_ = static_cast<uint64_t*>(MemoryContextAlloc(context_, sizeof(uint64_t) * kMaxLeafEntries));
  }
  if (prefixes_ && entries_ == nullptr)
    entries_ = static_cast<Entry*>(MemoryContextAlloc(context_, sizeof(Entry) * kMaxLeafEntries));
  // Each row lies in one unit or one pending page.
  for (int i = 0; i < directory_->nruns; ++i) {
    const RunSlot& run = directory_->runs[i];
    if (run.state == kBuilding) continue;
    bool seen = false;
    for (int j = 0; j < i; ++j) seen |= directory_->runs[j].state != kBuilding && directory_->runs[j].unit == run.unit;
    if (seen) continue;
    const Outcome outcome = collect_unit(run.unit, from, to);
    MemoryContextReset(unit_context_);
    if (outcome != Outcome::done) return outcome;
    if (list_.n * sizeof(uint64_t) > most_bytes_ / 2 && to - from > 65536) return Outcome::full;
  }
  return collect_pending(from, to);
}

bool Collector::range_in(const RunTree& tree, const Probe& probe, uint64_t from, uint64_t to, Entry* begin, Entry* end) {
  const bool whole = probe.first == probe.last;
  *begin = {probe.first, whole ? from : 0};
  *end = {probe.last, whole ? to : kMaxTid};
  if (*begin < tree.lo()) *begin = tree.lo();
  if (tree.hi() < *end) *end = tree.hi();
  return *begin < *end;
}

// Finds the leaf in which each probe's list begins, and asks for the cache lines that reading it takes: the misses of all
// overlap instead of being waited for one by one.
Collector::Outcome Collector::find_places(RunTree* tree, uint64_t from, uint64_t to) {
  const LeafPlace* last = nullptr;
  for (uint32_t i = 0; i < nprobes_; ++i) {
    if (i % 64 == 0) CHECK_FOR_INTERRUPTS();
    Entry begin, end;
    LeafPlace* place = &places_[i];
    place->block = InvalidBlockNumber;
    if (!range_in(*tree, probes_[i], from, to, &begin, &end)) continue;
    if (last != nullptr && begin < last->next_fence) {
      *place = *last;
    } else {
      bool none;
      if (!tree->find(begin, place, &none)) return Outcome::stale;
      if (none) {
        place->block = InvalidBlockNumber;
        continue;
      }
      last = place;
      if (place->hint != nullptr) prefetch_page(place->hint->buffer);
    }
    if (place->hint == nullptr) continue;
    if (const char* page = page_hint(place->hint->buffer))
      LeafView::prefetch(page + SizeOfPageHeaderData, place->hint->shape, place->fence.key, place->next_fence.key, begin.key);
  }
  return Outcome::done;
}

Collector::Outcome Collector::locate(RunTree* tree, uint64_t from, uint64_t to) {
  if (tree->hi() <= tree->lo()) return Outcome::done;
  if (!tree->load_root() || find_places(tree, from, to) != Outcome::done) return Outcome::stale;
  Buffer buffer = InvalidBuffer;
  BlockNumber locked = InvalidBlockNumber;  // the leaf that is, unless it is empty
  LeafView leaf;
  bool empty = false;
  for (uint32_t i = 0; i < nprobes_; ++i) {
    const Probe& probe = probes_[i];
    const LeafPlace& place = places_[i];
    Entry begin, end;
    if (place.block == InvalidBlockNumber || !range_in(*tree, probe, from, to, &begin, &end)) continue;
    if (place.block != locked) {
      if (buffer != InvalidBuffer) UnlockReleaseBuffer(buffer);
      buffer = InvalidBuffer;
      CHECK_FOR_INTERRUPTS();
      const LeafResult result = tree->lock_leaf(place, &buffer, &leaf);
      if (result == LeafResult::stale) return Outcome::stale;
      empty = result == LeafResult::empty;
      locked = place.block;
    }
    const uint32_t first = empty ? 0 : leaf.lower_bound(begin, place.next_fence.key);
    const uint32_t last = empty ? 0 : leaf.end_from(first, end);
    const uint32_t here = last - first;
    const bool goes_on = place.next_fence < end;
    if (here == 0 && !goes_on) continue;
    List& list = lists_[i];
    const uint32_t most = copied_ < most_bytes_ / 8 ? kCopiedList : kShortList;
    if (!goes_on && here <= most) {
      copied_ += sizeof(uint64_t) * here;
      Segment* segment = static_cast<Segment*>(
          MemoryContextAlloc(unit_context_, offsetof(Segment, tids) + sizeof(uint64_t) * here));
      segment->tree = nullptr;
      uint32_t n = here;
      if (!prefixes_ && plan_->check == nullptr) {
        leaf.decode_tids(first, last, segment->tids);
      } else {
        n = 0;
        for (uint32_t e = first; e < last; ++e) {
          const uint64_t tid = leaf.tid(e);
          if (prefixes_ && (tid < from || tid >= to)) continue;
          if (!passes(probe, leaf.key(e))) continue;
          segment->tids[n++] = tid;
        }
      }
      segment->n = n;
      segment->next = list.first;
      list.first = segment;
      list.length += n;
      continue;
    }
    // A long list is read when its group is chosen. Its length: exact in this leaf, then by the leaves it spans.
    Segment* segment = static_cast<Segment*>(MemoryContextAlloc(unit_context_, offsetof(Segment, tids)));
    segment->tree = tree;
    segment->place = place;
    segment->n = 0;
    segment->next = list.first;
    list.first = segment;
    list.length += here;
    if (!goes_on) continue;
    if (buffer != InvalidBuffer) UnlockReleaseBuffer(buffer);
    buffer = InvalidBuffer;
    locked = InvalidBlockNumber;
    // A list that goes on is not empty, though VACUUM may have left fewer entries than leaves.
    const double per_leaf =
        tree->run().leaves == 0 ? 1000.0 : Max(1.0, static_cast<double>(tree->run().entries) / tree->run().leaves);
    LeafPlace walk = place;
    for (bool ended = false; !ended && walk.next_fence < end;) {
      CHECK_FOR_INTERRUPTS();
      list.length += static_cast<uint64_t>(per_leaf);
      if (!tree->next(&walk, &ended)) return Outcome::stale;
    }
  }
  if (buffer != InvalidBuffer) UnlockReleaseBuffer(buffer);
  return Outcome::done;
}

void Collector::order_groups() {
  const uint16_t n = plan_->ngroups;
  Group* by_number = groups_ + group_capacity_;
  for (uint16_t g = 0; g < n; ++g) by_number[g] = {0, kNoProbe};
  for (uint32_t i = 0; i < nprobes_; ++i) {
    Group& group = by_number[probes_[i].source->group];
    group.length += lists_[i].length;
    probes_[i].next = group.first;
    group.first = i;
  }
  uint64_t* order = group_order_;
  for (uint16_t g = 0; g < n; ++g) order[g] = by_number[g].length << 16 | g;
  std::sort(order, order + n);
  for (uint16_t g = 0; g < n; ++g) groups_[g] = by_number[order[g] & 0xffff];
}

void Collector::count_in_table(uint64_t expected) {
  counting_ = Counting::in_table;
  table_->histogram = histogram_;
  table_->bins = plan_->ngroups + 1u;
  table_->reset(static_cast<size_t>(Min(expected, uint64_t{1} << 40)));
}

// In the table after all; what was gathered is in it, unless there is no room: then false.
bool Collector::move_into_table() {
  count_in_table(gathered_->n);
  if (!table_->count<true>(gathered_->tids, gathered_->n)) return false;
  gathered_->forget();
  return true;
}

bool Collector::count_tids(const uint64_t* tids, uint32_t n, bool insert) {
  if (n == 0) return true;
  if (counting_ == Counting::gathering) {
    if (uint64_t* to = gathered_->place(n)) {
      memcpy(to, tids, sizeof(uint64_t) * n);
      gathered_->added(n);
      return true;
    }
    if (!move_into_table()) return false;
  }
  return insert ? table_->count<true>(tids, n) : table_->count<false>(tids, n);
}

Collector::Outcome Collector::read_segment(const Segment& segment, const Probe& probe, bool insert, uint64_t from,
                                           uint64_t to) {
  if (segment.tree == nullptr) {
    return count_tids(segment.tids, segment.n, insert) ? Outcome::done : Outcome::full;
  }
  RunTree* tree = segment.tree;
  Entry begin, end;
  range_in(*tree, probe, from, to, &begin, &end);
  LeafPlace place = segment.place;
  for (bool ended = false; !ended;) {
    CHECK_FOR_INTERRUPTS();
    Buffer buffer;
    LeafView leaf;
    const LeafResult result = tree->lock_leaf(place, &buffer, &leaf);
    if (result == LeafResult::stale) return Outcome::stale;
    if (result == LeafResult::leaf) {
      const uint32_t first = leaf.lower_bound(begin);
      const uint32_t last = leaf.lower_bound(end);
      if (last > first && last - first > kMaxLeafEntries) report_corrupt(index_, place.block, "impossible leaf");
      uint32_t n = 0;
      if (!prefixes_) {
        n = last > first ? last - first : 0;
        uint64_t* to = counting_ == Counting::gathering ? gathered_->place(n) : nullptr;
        leaf.decode_tids(first, first + n, to != nullptr ? to : tids_);
        if (to != nullptr) {
          gathered_->added(n);
          n = 0;
        }
      } else {
        for (uint32_t e = first; e < last; ++e) {
          const uint64_t tid = leaf.tid(e);
          if (tid < from || tid >= to) continue;
          if (!passes(probe, leaf.key(e))) continue;
          tids_[n++] = tid;
        }
      }
      UnlockReleaseBuffer(buffer);
      if (!count_tids(tids_, n, insert)) return Outcome::full;
    }
    if (!tree->next(&place, &ended)) return Outcome::stale;
    if (!ended && !(place.fence < end)) break;
  }
  return Outcome::done;
}

Collector::Outcome Collector::count_list(const List& list, bool insert, uint64_t from, uint64_t to) {
  const Probe& probe = probes_[&list - lists_];
  for (const Segment* s = list.first; s != nullptr; s = s->next) {
    const Outcome outcome = read_segment(*s, probe, insert, from, to);
    if (outcome != Outcome::done) return outcome;
  }
  return Outcome::done;
}

Collector::Outcome Collector::collect_unit(uint8_t unit, uint64_t from, uint64_t to) {
  CHECK_FOR_INTERRUPTS();
  memset(lists_, 0, sizeof(List) * nprobes_);
  copied_ = 0;
  for (int i = 0; i < directory_->nruns; ++i) {
    if (directory_->runs[i].unit != unit || directory_->runs[i].state == kBuilding) continue;
    const Outcome outcome = locate(&trees_[i], from, to);
    if (outcome != Outcome::done) return outcome;
  }
  order_groups();
  const uint32_t needed = plan_->slack + 1u;
  uint64_t expected = 0;
  for (uint32_t g = 0; g < needed; ++g) expected += groups_[g].length;
  if (expected == 0) return Outcome::done;
  seen_entries_ += static_cast<double>(expected);
  if (most_entries_ > 0 && seen_entries_ > most_entries_) return Outcome::full;
  if (plan_->ngroups <= RowCounter::kMaxHits && gathered_->begin(expected)) {
    counting_ = Counting::gathering;
    table_->forget();
  } else {
    gathered_->forget();
    count_in_table(expected);
  }
  uint32_t probed = 0;
  for (; probed < needed; ++probed) {
    const Outcome outcome = count_group(groups_[probed], true, from, to);
    if (outcome != Outcome::done) return outcome;
  }
  // No unseen row can qualify any more: further lists only tell chance hits apart.
  const auto add = [&](uint64_t tid, uint32_t hits) { add_candidate(tid, probed - Min(hits, probed)); };
  RowCounter* const counter = gathered_->counter;
  const uint32_t nfirst = gathered_->n;
  uint64_t further = 0;
  for (uint32_t g = needed; g < plan_->ngroups; ++g) further += groups_[g].length;
  if (counting_ == Counting::gathering &&
      (counter->is_thin(nfirst + further, plan_->ngroups - plan_->slack) || counter->is_worth(gathered_->tids))) {
    // An estimate keeps to what it may read.
    const bool all = further <= (most_entries_ > 0 ? 1 : kFurther) * gathered_->n && further <= gathered_->most - gathered_->n;
    for (; all && probed < plan_->ngroups && counting_ == Counting::gathering; ++probed) {
      const Outcome outcome = count_group(groups_[probed], true, from, to);
      if (outcome != Outcome::done) return outcome;
    }
    if (counting_ == Counting::gathering && probed == plan_->ngroups) {
      if (counter->is_thin(gathered_->n, probed - plan_->slack)) {
        counter->maybe_at_least(gathered_->tids, nfirst, probed - plan_->slack, add);
        return Outcome::done;
      }
      if (counter->is_worth(gathered_->tids)) {
        counter->at_least(gathered_->tids, probed - plan_->slack, add);
        return Outcome::done;
      }
    }
  }
  if (counting_ == Counting::gathering && !move_into_table()) return Outcome::full;
  table_->make_histogram();
  // Go on while a list costs less to read than the rows cost that it would clear: those with just enough hits, unless they are
  // in it.
  for (; probed < plan_->ngroups; ++probed) {
    const uint32_t at_risk = table_->histogram[probed - plan_->slack];
    if (static_cast<double>(groups_[probed].length) * kEntryCost > at_risk * candidate_cost_) break;
    const Outcome outcome = count_group(groups_[probed], false, from, to);
    if (outcome != Outcome::done) return outcome;
  }
  table_->at_least(probed - plan_->slack, add);
  return Outcome::done;
}

Collector::Outcome Collector::count_group(const Group& group, bool insert, uint64_t from, uint64_t to) {
  if (group.length == 0) return Outcome::done;
  for (uint32_t i = group.first; i != kNoProbe; i = probes_[i].next) {
    const Outcome outcome = count_list(lists_[i], insert, from, to);
    if (outcome != Outcome::done) return outcome;
  }
  return Outcome::done;
}

Collector::Outcome Collector::try_roster(uint64_t from, uint64_t* next) {
  uint64_t complete = kMaxTid;  // TIDs up to here are all in the list
  for (int r = 0; r < directory_->nruns; ++r) {
    RunTree* tree = &trees_[r];
    if (tree->run().state == kBuilding || tree->hi() <= tree->lo()) continue;
    Entry begin{kRosterKey, from};
    Entry end{kRosterKey, kMaxTid};
    if (begin < tree->lo()) begin = tree->lo();
    if (tree->hi() < end) end = tree->hi();
    if (end <= begin) continue;
    if (!tree->load_root()) return Outcome::stale;
    LeafPlace place;
    bool ended;
    if (!tree->find(begin, &place, &ended)) return Outcome::stale;
    const bool any = !ended;
    uint32_t taken = 0;
    uint64_t last_taken = 0;
    for (bool first_leaf = true; any && !ended && taken < kRosterBatch && (first_leaf || place.fence < end);
         first_leaf = false) {
      CHECK_FOR_INTERRUPTS();
      Buffer buffer;
      LeafView leaf;
      const LeafResult result = tree->lock_leaf(place, &buffer, &leaf);
      if (result == LeafResult::stale) return Outcome::stale;
      if (result == LeafResult::leaf) {
        uint32_t e = leaf.lower_bound(begin);
        for (const uint32_t last = leaf.lower_bound(end); e < last; ++e) {
          last_taken = leaf.tid(e);
          add_candidate(last_taken, 0);
          ++taken;
        }
        UnlockReleaseBuffer(buffer);
      }
      if (!tree->next(&place, &ended)) return Outcome::stale;
    }
    if (any && !ended && place.fence < end && taken >= kRosterBatch) complete = Min(complete, last_taken);
  }
  const Outcome pending = for_pending_rows([&](const PendingRowView& row) {
    if (row.tid >= from) add_candidate(row.tid, 0);
  });
  if (pending != Outcome::done) return pending;
  *next = kAllCollected;
  if (complete != kMaxTid) {
    uint64_t* end = std::remove_if(list_.items, list_.items + list_.n,
                                   [=](uint64_t c) { return candidate_tid(c) > complete; });
    list_.n = static_cast<size_t>(end - list_.items);
    *next = complete + 1;
  }
  return Outcome::done;
}

}  // namespace neardup
