// lsh_hot_buckets(): the longest lists of an lsh index, by one pass over all runs in the order of their keys.
#include <algorithm>

#include "pg/lsh/inspect/lsh_inspect.h"
#include "pg/lsh/store/run_reader.h"
#include "pg/lsh/store/lsh_page.h"

namespace neardup {
namespace {

constexpr int kMaxBuckets = 1000000;

struct Bucket {
  uint64_t key;
  uint64_t entries;
};
bool hotter(const Bucket& a, const Bucket& b) { return a.entries != b.entries ? a.entries > b.entries : a.key < b.key; }

// The longest lists so far: a heap with the shortest of them in front.
struct Hottest {
  Bucket* buckets;
  uint32_t n;
  uint32_t most;

  void add(const Bucket& bucket) {
    if (n == most) {
      if (!hotter(bucket, buckets[0])) return;
      std::pop_heap(buckets, buckets + n, hotter);
      --n;
    }
    buckets[n++] = bucket;
    std::push_heap(buckets, buckets + n, hotter);
  }
};

// One run's keys in order, with the length of each list.
struct KeyCursor {
  RunTree tree;
  MemoryContext context;
  Entry end;
  LeafPlace place;
  PGAlignedBlock* image;  // of the leaf
  LeafView leaf;
  uint32_t at;
  uint32_t n;  // entries of the leaf below the run's end
  bool done;
};

// Reads the leaf at `place`, or the first after it that is there. False: stale.
bool read_leaf(KeyCursor* c, const Entry& from) {
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    if (!(c->place.fence < c->end)) {
      c->done = true;
      return true;
    }
    Buffer buffer;
    LeafView leaf;
    const LeafResult result = c->tree.lock_leaf(c->place, &buffer, &leaf);
    if (result == LeafResult::stale) return false;
    if (result == LeafResult::leaf) {
      memcpy(c->image->data, BufferGetPage(buffer), BLCKSZ);
      UnlockReleaseBuffer(buffer);
      Page page = reinterpret_cast<Page>(c->image->data);
      c->leaf.open(page_body(page), used_bytes(page));
      c->at = c->leaf.lower_bound(from);
      c->n = c->leaf.lower_bound(c->end);
      if (c->at < c->n) return true;
    }
    bool end;
    if (!c->tree.next(&c->place, &end)) return false;
    if (end) {
      c->done = true;
      return true;
    }
  }
}

bool position(KeyCursor* c, Relation index, const RunSlot& run, uint64_t change, const Entry& from,
              BufferAccessStrategy strategy) {
  MemoryContextReset(c->context);
  c->tree.init(index, run, change, c->context, strategy, nullptr);
  c->image = static_cast<PGAlignedBlock*>(MemoryContextAlloc(c->context, sizeof(PGAlignedBlock)));
  c->end = run_hi(run);
  c->done = false;
  const Entry start = from < run_lo(run) ? run_lo(run) : from;
  bool end;
  if (!c->tree.load_root() || !c->tree.find(start, &c->place, &end)) return false;
  c->done = end;
  return end || read_leaf(c, start);
}

// Adds the entries of the list at hand and moves on to the next key. False: stale.
bool count_list(KeyCursor* c, uint64_t key, uint64_t* entries) {
  const Entry beyond{key + 1, 0};
  while (!c->done && c->leaf.key(c->at) == key) {
    const uint32_t to = key == kMaxKey ? c->n : std::min(c->leaf.lower_bound(beyond), c->n);
    *entries += to - c->at;
    c->at = to;
    if (to < c->n) break;
    bool end;
    if (!c->tree.next(&c->place, &end)) return false;
    c->done = end;
    if (!end && !read_leaf(c, kLeastEntry)) return false;
  }
  if (c->done) MemoryContextReset(c->context);
  return true;
}

// The keys of all pending rows, ascending. False: stale.
bool gather_pending(Relation index, const LshMeta& meta, uint64_t* keys, uint32_t* n) {
  *n = 0;
  const bool current = for_pending_rows(index, meta, false, nullptr, [&](const PendingRowView& row) {
    for (uint32_t k = 0; k < row.nkeys; ++k) keys[(*n)++] = pending_key(row.keys, k);
  });
  std::sort(keys, keys + *n);
  return current;
}

struct Merge {
  Relation index;
  LshMeta* meta;
  KeyCursor* cursors;
  int ncursors;
  uint64_t* pending;
  uint32_t npending;
  uint32_t pending_at;
  BufferAccessStrategy strategy;
};

// Reads the directory and goes to this key in all runs. False: stale already.
bool open_merge(Merge* m, uint64_t key) {
  read_meta(m->index, m->meta);
  for (int i = 0; i < m->ncursors; ++i) MemoryContextReset(m->cursors[i].context);
  m->ncursors = 0;
  if (!gather_pending(m->index, *m->meta, m->pending, &m->npending)) return false;
  m->pending_at = static_cast<uint32_t>(std::lower_bound(m->pending, m->pending + m->npending, key) - m->pending);
  for (int i = 0; i < m->meta->nruns; ++i) {
    if (m->meta->runs[i].state == kBuilding) continue;
    if (!position(&m->cursors[m->ncursors++], m->index, m->meta->runs[i], m->meta->change, {key, 0}, m->strategy))
      return false;
  }
  return true;
}

// The least key at hand and the length of its lists. False: stale. entries 0: no more keys.
bool next_bucket(Merge* m, Bucket* bucket) {
  *bucket = {~uint64_t{0}, 0};
  for (int i = 0; i < m->ncursors; ++i)
    if (!m->cursors[i].done) bucket->key = std::min(bucket->key, m->cursors[i].leaf.key(m->cursors[i].at));
  if (m->pending_at < m->npending) bucket->key = std::min(bucket->key, m->pending[m->pending_at]);
  for (; m->pending_at < m->npending && m->pending[m->pending_at] == bucket->key; ++m->pending_at) ++bucket->entries;
  for (int i = 0; i < m->ncursors; ++i)
    if (!m->cursors[i].done && m->cursors[i].leaf.key(m->cursors[i].at) == bucket->key &&
        !count_list(&m->cursors[i], bucket->key, &bucket->entries))
      return false;
  return true;
}

// Lists are counted under one directory each. When it has moved on, the list at hand is counted again with the new one.
void find_hottest(Relation index, uint64_t at_least, Hottest* hottest) {
  Merge m{};
  m.index = index;
  m.meta = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  m.strategy = GetAccessStrategy(BAS_BULKREAD);
  m.cursors = static_cast<KeyCursor*>(palloc0(sizeof(KeyCursor) * kMaxRuns));
  for (int i = 0; i < static_cast<int>(kMaxRuns); ++i)
    m.cursors[i].context = AllocSetContextCreate(CurrentMemoryContext, "lsh run", ALLOCSET_SMALL_SIZES);
  m.ncursors = kMaxRuns;
  m.pending = static_cast<uint64_t*>(palloc(sizeof(uint64_t) * kMaxPending * (BLCKSZ / 5)));
  uint64_t key = kRosterKey + 1;
  bool ready = false;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    if (!ready && !(ready = open_merge(&m, key))) continue;
    Bucket bucket;
    if (!(ready = next_bucket(&m, &bucket))) continue;
    if (bucket.entries == 0) break;
    if (bucket.entries >= at_least) hottest->add(bucket);
    key = bucket.key + 1;
  }
  std::sort(hottest->buckets, hottest->buckets + hottest->n, hotter);
}

}  // namespace
}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(neardup_lsh_hot_buckets);
Datum neardup_lsh_hot_buckets(PG_FUNCTION_ARGS) {
  const int64 at_least = PG_GETARG_INT64(1);
  const int32 most = PG_GETARG_INT32(2);
  if (at_least < 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("at_least must be at least 1: %lld", static_cast<long long>(at_least))));
  if (most < 1 || most > kMaxBuckets)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("most must be between 1 and %d: %d", kMaxBuckets, most)));
  InitMaterializedSRF(fcinfo, 0);
  ReturnSetInfo* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const InspectedIndex opened = open_inspected(PG_GETARG_OID(0));
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh hot buckets", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  Hottest hottest{static_cast<Bucket*>(palloc(sizeof(Bucket) * (static_cast<Size>(most) + 1))), 0,
                  static_cast<uint32_t>(most)};
  find_hottest(opened.index, static_cast<uint64_t>(at_least), &hottest);
  for (uint32_t i = 0; i < hottest.n; ++i) {
    Datum values[2] = {Int64GetDatum(static_cast<int64>(hottest.buckets[i].key)),
                       Int64GetDatum(static_cast<int64>(hottest.buckets[i].entries))};
    bool nulls[2] = {};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  close_inspected(opened);
  return static_cast<Datum>(0);
}

}  // extern "C"
