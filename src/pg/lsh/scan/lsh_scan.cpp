// Scans: candidates by counting hits, or every indexed row; always checked on the row itself, here or by the executor.
#include <algorithm>

#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/scan/collector.h"
#include "pg/lsh/scan/nearest.h"
#include "pg/lsh/scan/row_prefetch.h"
#include "pg/lsh/scan/row_check.h"
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"

namespace neardup {
namespace {

constexpr unsigned kMaxBitmapOffset = MaxHeapTuplesPerPage;  // that PostgreSQL's bitmaps take

enum class ScanMode {
  nothing,
  counted,  // candidates by their hits
  roster,   // every indexed row
  nearest,  // rows in the order of their distance
};

struct ScanState {
  MemoryContext context;  // of one (re)scan
  Collector collector;
  bool planned;
  ScanMode mode;
  ProbesRequest probes;
  Datum condition;  // of the key that the probes are of
  uint16_t strategy;
  bool fetched;   // the list holds a batch
  uint64_t next;  // TID to go on from, or kAllCollected
  size_t at;
  RowPrefetch rows;
  RowCheck check;
  double* least;    // least distance by misses, when rows come in order
  bool order_null;  // the ordering query is NULL
  NearestRows nearest;
};

double plan_entries(ScanState* state, const ProbesRequest* plan, uint64_t salt) {
  state->collector.set_plan(plan, salt);
  return state->collector.measure();
}

// A condition whose right side is NULL is true of no row.
bool has_null_condition(IndexScanDesc scan) {
  for (int i = 0; i < scan->numberOfKeys; ++i)
    if ((scan->keyData[i].sk_flags & SK_ISNULL) != 0) return true;
  return false;
}

bool is_on_value(IndexScanDesc scan, const ScanKeyData& key) {
  return key.sk_attno == value_column(scan->indexRelation) + 1 && key.sk_strategy != kStrategyEqual;
}

// Without a condition on the value the rows that are not in the index have their place in the order, too.
bool asks_for_nearest(IndexScanDesc scan) {
  for (int i = 0; i < scan->numberOfKeys; ++i)
    if (is_on_value(scan, scan->keyData[i])) return false;
  if (scan->numberOfOrderBys == 0 && scan->numberOfKeys == 0)
    elog(ERROR, "an lsh index cannot be scanned without a condition or an order");
  return scan->numberOfOrderBys > 0;
}

// The condition with the fewest entries is looked up; all are rechecked.
void plan_scan(IndexScanDesc scan, ScanState* state) {
  const LshConfig& config = state->collector.config();
  const bool bound = (config.flags & kMetaBound) != 0;
  if (!bound && value_column(scan->indexRelation) == 0) return;  // no row was ever there
  uint64_t salt = 0;
  const bool salted = salt_of_keys(scan->indexRelation, scan->keyData, scan->numberOfKeys, &salt);
  ProbesRequest* plans = static_cast<ProbesRequest*>(palloc0(sizeof(ProbesRequest) * Max(scan->numberOfKeys, 1)));
  int best = -1;
  double least = -1;  // entries of the best one; below 0: not counted
  for (int i = 0; i < scan->numberOfKeys; ++i) {
    const ScanKeyData& key = scan->keyData[i];
    if (!is_on_value(scan, key)) continue;
    if (!bound) return;  // no row ever had a value
    plans[i] = plan_probes(scan->indexRelation, own_strategy(key.sk_strategy), key.sk_argument, &config);
    if (plans[i].nothing) return;
    if (plans[i].guaranteed && plans[i].slack >= plans[i].ngroups)
      elog(ERROR, "the operator class gave an impossible plan");
  }
  for (int i = 0; i < scan->numberOfKeys; ++i) {
    if (!plans[i].guaranteed || !salted) continue;
    if (best < 0) {
      best = i;
      continue;
    }
    if (least < 0) least = plan_entries(state, &plans[best], salt);
    const double entries = plan_entries(state, &plans[i], salt);
    if (entries >= least) continue;
    best = i;
    least = entries;
  }
  state->mode = best >= 0 ? ScanMode::counted : ScanMode::roster;
  if (best < 0) return;
  state->probes = plans[best];
  state->condition = scan->keyData[best].sk_argument;
  state->strategy = plans[best].strategy;
  state->collector.set_plan(&state->probes, salt);
}

// The distances by which rows come in order, when the ordering query is the condition's.
void plan_order(IndexScanDesc scan, ScanState* state) {
  if (scan->numberOfOrderBys == 0) return;
  const ScanKey key = &scan->orderByData[0];
  state->order_null = (key->sk_flags & SK_ISNULL) != 0;
  if (state->order_null || state->mode != ScanMode::counted) return;
  OrderRequest request{};
  request.query = key->sk_argument;
  request.condition = state->condition;
  request.strategy = state->strategy;
  request.config = state->probes.config;
  request.probed = state->probes.ngroups;
  call_family(scan->indexRelation, kProcOrder, &request);
  if (request.usable) state->least = request.least;
}

double least_distance(const ScanState* state, uint32_t misses) {
  return state->least[state->probes.ngroups - Min(misses, uint32_t{state->probes.ngroups})];
}

void begin_scan(IndexScanDesc scan, ScanState* state) {
  if (state->planned) return;
  state->planned = true;
  state->mode = ScanMode::nothing;
  state->next = 0;
  state->fetched = false;
  state->at = 0;
  state->least = nullptr;
  pgstat_count_index_scan(scan->indexRelation);
  count_index_search(scan);
  if (has_null_condition(scan)) return;
  MemoryContext old = MemoryContextSwitchTo(state->context);
  state->collector.read_directory();
  if (asks_for_nearest(scan)) {
    state->mode = ScanMode::nearest;
    state->nearest.start(scan, &state->collector, state->context);
  } else {
    plan_scan(scan, state);
    plan_order(scan, state);
  }
  MemoryContextSwitchTo(old);
}

// The distance by the first order; the executor orders rows of one distance by further ones.
void store_distances(IndexScanDesc scan, double distance, bool is_null, bool recheck) {
  IndexOrderByDistance distances[INDEX_MAX_KEYS];
  Oid types[INDEX_MAX_KEYS];
  for (int i = 0; i < scan->numberOfOrderBys; ++i) {
    types[i] = FLOAT8OID;
    distances[i] = {i == 0 ? distance : 0, i == 0 && is_null};
  }
  index_store_float8_orderby_distances(scan, types, distances, recheck);
}

// The next row in the order; its distance is the operator's, and needs no recheck.
bool next_nearest(IndexScanDesc scan, ScanState* state) {
  NearRow row;
  if (!state->nearest.next(&row)) return false;
  set_row(scan->indexRelation, scan->heapRelation, row.tid, MaxOffsetNumber, &scan->xs_heaptid);
  scan->xs_recheck = false;
  store_distances(scan, row.distance, std::isnan(row.distance), scan->numberOfOrderBys > 1);
  return true;
}

// Follows begin_scan().
bool fetch_batch(IndexScanDesc scan, ScanState* state) {
  if (state->mode == ScanMode::nothing) return false;
  if (state->fetched && state->next == Collector::kAllCollected) return false;
  const uint64_t from = state->fetched ? state->next : 0;
  MemoryContext old = MemoryContextSwitchTo(state->context);
  state->next =
      state->mode == ScanMode::roster ? state->collector.collect_roster(from) : state->collector.collect(from);
  MemoryContextSwitchTo(old);
  // Rows in order only when all fit at once; else they come with the least bound, 0, and are ordered by the executor.
  if (state->least != nullptr && !(from == 0 && state->next == Collector::kAllCollected)) state->least = nullptr;
  if (state->least != nullptr) {
    const CandidateList& list = state->collector.list();
    std::sort(list.items, list.items + list.n, [](uint64_t a, uint64_t b) {
      return candidate_misses(a) != candidate_misses(b) ? candidate_misses(a) < candidate_misses(b) : a < b;
    });
  }
  state->fetched = true;
  state->at = 0;
  return true;
}

int64 all_candidates(IndexScanDesc scan, Relation table, ScanState* state, TIDBitmap* tbm) {
  int64 total = 0;
  constexpr int kBitmapBatch = 1024;
  ItemPointerData tids[kBitmapBatch];
  while (fetch_batch(scan, state)) {
    const CandidateList& list = state->collector.list();
    for (size_t from = 0; from < list.n; from += kBitmapBatch) {
      const int n = static_cast<int>(Min(list.n - from, size_t{kBitmapBatch}));
      for (int i = 0; i < n; ++i)
        set_row(scan->indexRelation, table, candidate_tid(list.items[from + i]), kMaxBitmapOffset, &tids[i]);
      tbm_add_tuples(tbm, tids, n, true);
    }
    total += static_cast<int64>(list.n);
  }
  return total;
}

}  // namespace

IndexScanDesc lshbeginscan(Relation index, int nkeys, int norderbys) {
  IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
  ScanState* state = static_cast<ScanState*>(palloc0(sizeof(ScanState)));
  state->context = AllocSetContextCreate(CurrentMemoryContext, "lsh scan query", ALLOCSET_DEFAULT_SIZES);
  state->collector.init(index, CurrentMemoryContext, nullptr, scan_memory());
  scan->opaque = state;
  if (norderbys > 0) {
    scan->xs_orderbyvals = static_cast<Datum*>(palloc0(sizeof(Datum) * norderbys));
    scan->xs_orderbynulls = static_cast<bool*>(palloc(sizeof(bool) * norderbys));
    memset(scan->xs_orderbynulls, true, sizeof(bool) * norderbys);
  }
  return scan;
}

void lshrescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys) {
  ScanState* state = static_cast<ScanState*>(scan->opaque);
  if (keys != nullptr && scan->numberOfKeys > 0) memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
  if (orderbys != nullptr && scan->numberOfOrderBys > 0)
    memmove(scan->orderByData, orderbys, scan->numberOfOrderBys * sizeof(ScanKeyData));
  MemoryContextReset(state->context);
  state->planned = false;
  state->collector.set_snapshot(scan->xs_snapshot);
  state->collector.rewind();
}

bool lshgettuple(IndexScanDesc scan, ScanDirection direction) {
  if (!ScanDirectionIsForward(direction)) elog(ERROR, "an lsh index cannot be scanned backward");
  ScanState* state = static_cast<ScanState*>(scan->opaque);
  begin_scan(scan, state);
  if (state->mode == ScanMode::nearest) return next_nearest(scan, state);
  uint64_t candidate;
  RowVerdict verdict;
  do {
    CHECK_FOR_INTERRUPTS();
    while (!state->fetched || state->at == state->collector.list().n) {
      if (!fetch_batch(scan, state)) return false;
      state->rows.start(scan->heapRelation, state->collector.list());
      state->check.start(scan, MemoryContextGetParent(state->context));
    }
    state->rows.advance(state->collector.list(), state->at);
    const Buffer page = state->rows.hand_over(scan->xs_heapfetch, state->collector.list(), state->at);
    candidate = state->collector.list().items[state->at++];
    set_row(scan->indexRelation, scan->heapRelation, candidate_tid(candidate), MaxOffsetNumber, &scan->xs_heaptid);
    verdict = state->check.look(scan, page);
  } while (verdict == RowVerdict::refused);
  scan->xs_recheck = verdict != RowVerdict::good;
  if (scan->numberOfOrderBys > 0) {
    const double least = state->least != nullptr ? least_distance(state, candidate_misses(candidate)) : 0;
    store_distances(scan, least, state->order_null, true);
  }
  return true;
}

int64 lshgetbitmap(IndexScanDesc scan, TIDBitmap* tbm) {
  ScanState* state = static_cast<ScanState*>(scan->opaque);
  begin_scan(scan, state);
  // The executor has locked it; a scan for a bitmap is not given it.
  Relation table = table_open(scan->indexRelation->rd_index->indrelid, NoLock);
  const int64 total = all_candidates(scan, table, state, tbm);
  table_close(table, NoLock);
  return total;
}

void lshendscan(IndexScanDesc scan) {
  ScanState* state = static_cast<ScanState*>(scan->opaque);
  MemoryContextDelete(state->context);
  state->check.end();
  state->collector.destroy();
  pfree(state);
}

}  // namespace neardup
