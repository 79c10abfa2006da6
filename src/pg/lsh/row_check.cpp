// See row_check.h.
#include "pg/lsh/row_check.h"

extern "C" {
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
}

namespace neardup {

void RowCheck::start(IndexScanDesc scan, MemoryContext context) {
  usable_ = false;
  // Which row a dirty snapshot sees may change until it is fetched; an MVCC snapshot sees one row of a TID or none, always the same.
  if (scan->heapRelation == nullptr || scan->heapRelation->rd_tableam != GetHeapamTableAmRoutine() ||
      scan->xs_heapfetch == nullptr || scan->xs_snapshot == nullptr || !IsMVCCSnapshot(scan->xs_snapshot) ||
      scan->numberOfKeys > INDEX_MAX_KEYS)
    return;
  for (int i = 0; i < scan->numberOfKeys; ++i) {
    // Expressions are the executor's.
    columns_[i] = scan->indexRelation->rd_index->indkey.values[scan->keyData[i].sk_attno - 1];
    if (columns_[i] <= 0) return;
  }
  if (context_ == nullptr) context_ = AllocSetContextCreate(context, "lsh scan row", ALLOCSET_SMALL_SIZES);
  usable_ = true;
}

RowVerdict RowCheck::look_at(IndexScanDesc scan, uint64_t tid) {
  const Buffer buffer = reinterpret_cast<IndexFetchHeapData*>(scan->xs_heapfetch)->xs_cbuf;
  if (!BufferIsValid(buffer) || BufferGetBlockNumber(buffer) != tid >> 16) return RowVerdict::unknown;
  ItemPointerData at;
  set_row(scan->indexRelation, tid, MaxOffsetNumber, &at);
  HeapTupleData row;
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  const bool seen = heap_hot_search_buffer(&at, scan->heapRelation, buffer, scan->xs_snapshot, &row, nullptr, true);
  LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
  if (!seen) return RowVerdict::refused;
  // The pin keeps what was seen where it is: pruning needs the page for itself.
  const TupleDesc shape = RelationGetDescr(scan->heapRelation);
  MemoryContext old = MemoryContextSwitchTo(context_);
  RowVerdict verdict = RowVerdict::good;
  for (int i = 0; i < scan->numberOfKeys && verdict == RowVerdict::good; ++i) {
    const ScanKey key = &scan->keyData[i];
    bool null;
    const Datum value = heap_getattr(&row, columns_[i], shape, &null);
    if (null || !DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, value, key->sk_argument)))
      verdict = RowVerdict::refused;
  }
  MemoryContextSwitchTo(old);
  MemoryContextReset(context_);
  return verdict;
}

}  // namespace neardup
