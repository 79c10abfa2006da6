// A scan's conditions, checked on the rows that its candidates name before the executor sees them. Most candidates of a
// table full of boilerplate are near rows below the threshold; the executor computes the query again for each of them,
// to drop it.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

enum class RowVerdict {
  unknown,  // not looked at: the executor checks it
  refused,  // the snapshot sees no row there, or one that does not fulfil the conditions
  good,     // the snapshot sees one that fulfils them all
};

// Plain data, zeroed by its scan.
class RowCheck {
 public:
  // For the conditions as they are now; they stay so until the next start(). context: lives until end().
  void start(IndexScanDesc scan, MemoryContext context);
  void end() {
    if (context_ == nullptr) return;
    MemoryContextDelete(context_);
    pfree(memos_);
  }

  // The row at xs_heaptid; its page is pinned in `page`, as RowPrefetch::hand_over() says, or not.
  RowVerdict look(IndexScanDesc scan, Buffer page) {
    return usable_ && BufferIsValid(page) ? look_at(scan, page) : RowVerdict::unknown;
  }

 private:
  RowVerdict look_at(IndexScanDesc scan, Buffer page);
  RowVerdict quick_verdict(IndexScanDesc scan, HeapTuple row) const;

  bool usable_;
  MemoryContext context_;       // of one row
  struct LshQueryMemo* memos_;  // of the conditions
};

}  // namespace neardup
