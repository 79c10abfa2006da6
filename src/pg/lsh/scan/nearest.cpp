// See nearest.h.
#include "pg/lsh/scan/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pg/lsh/family.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/options.h"

extern "C" {
#include "catalog/index.h"
#include "executor/executor.h"
}

namespace neardup {
namespace {

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kLeastRows = 256;  // that memory is asked for

bool is_farther(const NearRow& a, const NearRow& b) { return b < a; }

IndexInfo* info_of_scan(IndexScanDesc scan) {
  Bitmapset* columns = nullptr;
  for (int i = 0; i < scan->numberOfKeys; ++i) columns = bms_add_member(columns, scan->keyData[i].sk_attno - 1);
  for (int i = 0; i < scan->numberOfOrderBys; ++i) columns = bms_add_member(columns, scan->orderByData[i].sk_attno - 1);
  return info_of_columns(scan->indexRelation, columns);
}

}  // namespace

struct NearestRows::Pass {
  NearestRows* rows;
  MemoryContext row_context;  // of one row's values
  size_t most;                // rows that memory allows
  bool full;                  // there were more
  NearRow nearest_left_out;   // then: of those

  bool fulfils(const Datum* values, const bool* nulls) const;
  double row_distance(const Datum* values, const bool* nulls) const;
  void offer(uint64_t tid, const Datum* values, const bool* nulls);
  bool make_room();
};

bool NearestRows::Pass::fulfils(const Datum* values, const bool* nulls) const {
  for (int i = 0; i < rows->scan_->numberOfKeys; ++i) {
    const ScanKey key = &rows->scan_->keyData[i];
    const int column = key->sk_attno - 1;
    if (nulls[column]) return false;
    if (!DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, values[column], key->sk_argument)))
      return false;
  }
  return true;
}

double NearestRows::Pass::row_distance(const Datum* values, const bool* nulls) const {
  if (!rows->has_order_) return kNull;
  const ScanKey key = &rows->scan_->orderByData[0];
  const int column = key->sk_attno - 1;
  if (nulls[column]) return kNull;
  return DatumGetFloat8(FunctionCall2Coll(&key->sk_func, key->sk_collation, values[column], key->sk_argument));
}

void NearestRows::Pass::offer(uint64_t tid, const Datum* values, const bool* nulls) {
  MemoryContext old = MemoryContextSwitchTo(row_context);
  const bool fits = fulfils(values, nulls);
  const NearRow row{fits ? row_distance(values, nulls) : kNull, tid};
  MemoryContextSwitchTo(old);
  MemoryContextReset(row_context);
  // A distance that is NULL is beyond all others. Rows of the stages before are not behind the last one.
  if (!fits || (!rows->in_table_ && !(row.distance <= rows->reach_))) return;
  if (rows->handed_out_ && !(rows->last_ < row)) return;
  if (full && !(row < nearest_left_out)) return;
  if (rows->n_ == rows->capacity_ && !make_room() && !(row < nearest_left_out)) return;
  rows->rows_[rows->n_++] = row;
}

// False: there is none, and the farther half of the rows went.
bool NearestRows::Pass::make_room() {
  if (rows->capacity_ < most) {
    rows->capacity_ = Min(most, Max(kLeastRows, 2 * rows->capacity_));
    const size_t bytes = rows->capacity_ * sizeof(NearRow);
    rows->rows_ = static_cast<NearRow*>(rows->rows_ == nullptr ? MemoryContextAllocHuge(rows->context_, bytes)
                                                               : repalloc_huge(rows->rows_, bytes));
    return true;
  }
  const size_t half = rows->n_ / 2;
  std::nth_element(rows->rows_, rows->rows_ + half, rows->rows_ + rows->n_);
  nearest_left_out = rows->rows_[half];
  rows->n_ = half;
  full = true;
  return false;
}

void NearestRows::start(IndexScanDesc scan, Collector* collector, MemoryContext context) {
  memset(static_cast<void*>(this), 0, sizeof *this);
  scan_ = scan;
  collector_ = collector;
  context_ = context;
  has_order_ = scan->numberOfOrderBys > 0 && (scan->orderByData[0].sk_flags & SK_ISNULL) == 0;
  const bool salted = salt_of_keys(scan->indexRelation, scan->keyData, scan->numberOfKeys, &salt_);
  asks_index_ = has_order_ && salted && (collector->config().flags & kMetaBound) != 0;
  ended_ = true;
  reach_ = -kInfinity;
}

bool NearestRows::next(NearRow* row) {
  while (n_ == 0) {
    if (ended_ && !begin_stage()) return false;
    pass();
  }
  std::pop_heap(rows_, rows_ + n_, is_farther);
  last_ = *row = rows_[--n_];
  handed_out_ = true;
  return true;
}

// False: all rows are handed out.
bool NearestRows::begin_stage() {
  if (in_table_) return false;
  if (asks_index_) {
    MemoryContext old = MemoryContextSwitchTo(context_);
    plan_ = plan_probes(scan_->indexRelation, kStrategyDistance, scan_->orderByData[0].sk_argument,
                        &collector_->config(), reach_);
    MemoryContextSwitchTo(old);
    asks_index_ = plan_.guaranteed;
  }
  in_table_ = !asks_index_;
  reach_ = in_table_ ? kInfinity : plan_.reach;
  return true;
}

// Fills the heap with the rows of the stage that come next, perhaps with none.
void NearestRows::pass() {
  MemoryContext old = MemoryContextSwitchTo(context_);
  Pass pass{};
  pass.rows = this;
  pass.row_context = AllocSetContextCreate(context_, "lsh nearest row", ALLOCSET_SMALL_SIZES);
  pass.most = Max(scan_memory() / sizeof(NearRow), 2 * kLeastRows);
  if (in_table_)
    search_table(&pass);
  else if (!plan_.nothing)
    search_index(&pass);
  ended_ = !pass.full;
  std::make_heap(rows_, rows_ + n_, is_farther);
  MemoryContextDelete(pass.row_context);
  MemoryContextSwitchTo(old);
}

void NearestRows::search_index(Pass* pass) {
  IndexInfo* info = info_of_scan(scan_);
  EState* estate = CreateExecutorState();
  TupleTableSlot* slot = table_slot_create(scan_->heapRelation, nullptr);
  GetPerTupleExprContext(estate)->ecxt_scantuple = slot;
  collector_->set_plan(&plan_, salt_);
  for (uint64_t from = 0; from != Collector::kAllCollected;) {
    from = collector_->collect(from);
    const CandidateList& list = collector_->list();
    for (size_t i = 0; i < list.n; ++i) {
      CHECK_FOR_INTERRUPTS();
      const uint64_t tid = candidate_tid(list.items[i]);
      ItemPointerData at;
      set_row(scan_->indexRelation, scan_->heapRelation, tid, MaxOffsetNumber, &at);
      bool again = false;
      if (!table_index_fetch_tuple(scan_->xs_heapfetch, &at, scan_->xs_snapshot, slot, &again, nullptr)) continue;
      Datum values[INDEX_MAX_KEYS];
      bool nulls[INDEX_MAX_KEYS];
      FormIndexDatum(info, slot, estate, values, nulls);
      pass->offer(tid, values, nulls);
      ResetPerTupleExprContext(estate);
    }
  }
  ExecDropSingleTupleTableSlot(slot);
  FreeExecutorState(estate);
  table_index_fetch_reset(scan_->xs_heapfetch);
}

// Rows that the index does not hold, since their value is NULL, are in the table, too. Those beside its predicate are
// refused by the query's own conditions (avoid_predicates() of pg/lsh/planner).
void NearestRows::search_table(Pass* pass) {
  const auto offer = [](Relation, ItemPointer tid, Datum* values, bool* nulls, bool, void* arg) {
    static_cast<Pass*>(arg)->offer(pack_tid(*tid), values, nulls);
  };
  Relation table = table_open(scan_->indexRelation->rd_index->indrelid, NoLock);
  TableScanDesc rows = table_beginscan_strat(table, scan_->xs_snapshot, 0, nullptr, true, false);
  // allow_sync is true, as PostgreSQL asserts where it is given a scan; this one was begun without.
  table_index_build_scan(table, scan_->indexRelation, info_of_scan(scan_), true, false, offer, pass, rows);
  table_close(table, NoLock);
}

}  // namespace neardup
