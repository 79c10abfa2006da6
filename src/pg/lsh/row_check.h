// A scan's conditions, checked on the rows that its candidates name before the executor sees them. Most candidates of a table
// full of boilerplate are near rows below the threshold; the executor makes the query anew for each of them, to drop it.
#pragma once

#include "pg/lsh/lsh_am.h"

extern "C" {
#include "access/genam.h"
#include "access/relscan.h"
}

namespace neardup {

enum class RowVerdict {
  unknown,  // not looked at: the executor checks it
  refused,  // the snapshot sees no row there, or one that does not fulfil the conditions
  good,     // the snapshot sees one that fulfils them all
};

// Plain data, zeroed by its scan.
class RowCheck {
 public:
  // For the conditions as they are now. context: lives until end().
  void start(IndexScanDesc scan, MemoryContext context);
  void end() {
    if (context_ != nullptr) MemoryContextDelete(context_);
  }

  // Looks at the row if the heap's fetch has its page pinned, as RowPrefetch::hand_over() leaves it.
  RowVerdict look(IndexScanDesc scan, uint64_t tid) {
    return usable_ ? look_at(scan, tid) : RowVerdict::unknown;
  }

 private:
  RowVerdict look_at(IndexScanDesc scan, uint64_t tid);

  bool usable_;
  MemoryContext context_;  // of one row
  AttrNumber columns_[INDEX_MAX_KEYS];  // of the table, by condition
};

}  // namespace neardup
