// See row_check.h.
#include "pg/values/lsh_query_value.h"
#include "pg/lsh/scan/row_check.h"

extern "C" {
#include "access/heapam.h"
}

namespace neardup {

namespace {

AttrNumber table_column(IndexScanDesc scan, const ScanKeyData* key) {
  return scan->indexRelation->rd_index->indkey.values[key->sk_attno - 1];
}

#if NEARDUP_CHECKS_ROWS

// Reads the version at the TID into *row; false unless it is the only one that a fetch by the TID can find, and its
// columns are the table's. The page is locked. An undone transaction's row may have had other columns; nobody fetches
// it, so nobody but us would read them.
bool is_only_version(Buffer buffer, const ItemPointerData& at, HeapTuple row) {
  const Page page = BufferGetPage(buffer);
  const OffsetNumber offset = ItemPointerGetOffsetNumber(&at);
  if (offset > PageGetMaxOffsetNumber(page)) return false;
  const ItemId item = PageGetItemId(page, offset);
  if (!ItemIdIsNormal(item)) return false;
  row->t_self = at;
  row->t_tableOid = InvalidOid;
  row->t_data = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
  row->t_len = ItemIdGetLength(item);
  return (row->t_data->t_infomask2 & (HEAP_HOT_UPDATED | HEAP_ONLY_TUPLE)) == 0 &&
         (row->t_data->t_infomask & HEAP_XMIN_COMMITTED) != 0;
}

#endif

}  // namespace

void RowCheck::start(IndexScanDesc scan, MemoryContext context) {
  // An MVCC snapshot sees one row of a TID or none, always the same. A dirty one may see another until it is fetched.
  usable_ = scan->xs_snapshot != nullptr && IsMVCCSnapshot(scan->xs_snapshot);
  for (int i = 0; i < scan->numberOfKeys; ++i)
    usable_ &= table_column(scan, &scan->keyData[i]) > 0;  // expressions are the executor's
  if (!usable_) return;
  if (context_ == nullptr) {
    context_ = AllocSetContextCreate(context, "lsh scan row", ALLOCSET_SMALL_SIZES);
    memos_ =
        static_cast<LshQueryMemo*>(MemoryContextAllocZero(context, sizeof(LshQueryMemo) * Max(scan->numberOfKeys, 1)));
  }
  // The keys are the scan's own copies.
  for (int i = 0; i < scan->numberOfKeys; ++i)
    keep_lsh_query(&scan->keyData[i].sk_func, scan->keyData[i].sk_argument, &memos_[i]);
}

#if NEARDUP_CHECKS_ROWS

// The conditions' verdict on a row that has but one version.
RowVerdict RowCheck::quick_verdict(IndexScanDesc scan, HeapTuple row) const {
  const TupleDesc shape = RelationGetDescr(scan->heapRelation);
  RowVerdict verdict = RowVerdict::good;
  for (int i = 0; i < scan->numberOfKeys; ++i) {
    const ScanKey key = &scan->keyData[i];
    QuickAnswer answer = QuickAnswer::unknown;
    if (key->sk_func.fn_extra == &memos_[i]) {
      bool null;
      const Datum value = heap_getattr(row, table_column(scan, key), shape, &null);
      answer = null ? QuickAnswer::no : quick_answer(memos_[i], value);
    }
    if (answer == QuickAnswer::no) return RowVerdict::refused;
    if (answer == QuickAnswer::unknown) verdict = RowVerdict::unknown;
  }
  return verdict;
}

RowVerdict RowCheck::look_at(IndexScanDesc scan, Buffer page) {
  // start() sees to it; of the rows of an exclusion constraint none may be refused here, nor go without the recheck.
  if (!IsMVCCSnapshot(scan->xs_snapshot)) elog(ERROR, "rows are looked at by a snapshot that is not MVCC");
  ItemPointerData at = scan->xs_heaptid;
  HeapTupleData row;
  LockBuffer(page, BUFFER_LOCK_SHARE);
  // Most are refused for their value, whoever sees them: that is quicker to say than whether the snapshot does.
  const RowVerdict quick = is_only_version(page, at, &row) ? quick_verdict(scan, &row) : RowVerdict::unknown;
  const bool seen = quick != RowVerdict::refused &&
                    heap_hot_search_buffer(&at, scan->heapRelation, page, scan->xs_snapshot, &row, nullptr, true);
  LockBuffer(page, BUFFER_LOCK_UNLOCK);
  if (!seen) return RowVerdict::refused;
  if (quick == RowVerdict::good) return quick;
  // The pin keeps what was seen where it is: pruning needs the page for itself.
  const TupleDesc shape = RelationGetDescr(scan->heapRelation);
  MemoryContext old = MemoryContextSwitchTo(context_);
  RowVerdict verdict = RowVerdict::good;
  for (int i = 0; i < scan->numberOfKeys && verdict == RowVerdict::good; ++i) {
    const ScanKey key = &scan->keyData[i];
    bool null;
    const Datum value = heap_getattr(&row, table_column(scan, key), shape, &null);
    if (null || !DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, value, key->sk_argument)))
      verdict = RowVerdict::refused;
  }
  MemoryContextSwitchTo(old);
  MemoryContextReset(context_);
  return verdict;
}

#else

// No page is ever handed over.
RowVerdict RowCheck::quick_verdict(IndexScanDesc, HeapTuple) const { return RowVerdict::unknown; }
RowVerdict RowCheck::look_at(IndexScanDesc, Buffer) { return RowVerdict::unknown; }

#endif

}  // namespace neardup
