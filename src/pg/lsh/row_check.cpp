// See row_check.h.
#include "pg/lsh/lsh_query.h"
#include "pg/lsh/row_check.h"

extern "C" {
#include "access/heapam.h"
#include "access/htup_details.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
}

namespace neardup {

namespace {

// Of the table; 0: an expression.
AttrNumber column_of(IndexScanDesc scan, const ScanKeyData* key) {
  return scan->indexRelation->rd_index->indkey.values[key->sk_attno - 1];
}

}  // namespace

void RowCheck::start(IndexScanDesc scan, MemoryContext context) {
  // Which row a dirty snapshot sees may change until it is fetched; an MVCC snapshot sees one row of a TID or none, always the same.
  usable_ = scan->xs_snapshot != nullptr && IsMVCCSnapshot(scan->xs_snapshot);
  for (int i = 0; i < scan->numberOfKeys; ++i) usable_ &= column_of(scan, &scan->keyData[i]) > 0;  // expressions are the executor's
  if (!usable_) return;
  if (context_ == nullptr) {
    context_ = AllocSetContextCreate(context, "lsh scan row", ALLOCSET_SMALL_SIZES);
    memos_ = static_cast<LshQueryMemo*>(MemoryContextAllocZero(context, sizeof(LshQueryMemo) * Max(scan->numberOfKeys, 1)));
  }
  // The keys are the scan's own copies.
  for (int i = 0; i < scan->numberOfKeys; ++i)
    keep_lsh_query(&scan->keyData[i].sk_func, scan->keyData[i].sk_argument, &memos_[i]);
}

RowVerdict RowCheck::look_at(IndexScanDesc scan, Buffer page) {
  ItemPointerData at = scan->xs_heaptid;
  HeapTupleData row;
  LockBuffer(page, BUFFER_LOCK_SHARE);
  const bool seen = heap_hot_search_buffer(&at, scan->heapRelation, page, scan->xs_snapshot, &row, nullptr, true);
  LockBuffer(page, BUFFER_LOCK_UNLOCK);
  if (!seen) return RowVerdict::refused;
  // The pin keeps what was seen where it is: pruning needs the page for itself.
  const TupleDesc shape = RelationGetDescr(scan->heapRelation);
  MemoryContext old = MemoryContextSwitchTo(context_);
  RowVerdict verdict = RowVerdict::good;
  for (int i = 0; i < scan->numberOfKeys && verdict == RowVerdict::good; ++i) {
    const ScanKey key = &scan->keyData[i];
    bool null;
    const Datum value = heap_getattr(&row, column_of(scan, key), shape, &null);
    if (null || !DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, value, key->sk_argument)))
      verdict = RowVerdict::refused;
  }
  MemoryContextSwitchTo(old);
  MemoryContextReset(context_);
  return verdict;
}

}  // namespace neardup
