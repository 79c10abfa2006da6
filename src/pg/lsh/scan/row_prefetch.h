// The rows that a scan is about to fetch, asked for ahead (page_hint.h).
#pragma once

#include "pg/lsh/scan/candidate_list.h"
#include "pg/lsh/scan/page_hint.h"

namespace neardup {

// Rows that a scan is about to fetch, in the order of its list of candidates: their blocks are read ahead from disk,
// where effective_io_concurrency allows it, and their lines into the cache. Where each block was last is kept for the
// session. Plain data, zeroed by its scan, which is one of one table.
class RowPrefetch {
 public:
  // Begins a new list of candidates. Nothing is asked for unless there are several and the table is an ordinary one.
  void start(Relation table, const CandidateList& list);

  // The candidate at `at` is fetched next.
  void advance(const CandidateList& list, size_t at) {
    if (table_ == nullptr) return;
    // Several at once: address translations that miss then overlap, which the locks of a fetch in between would not let
    // them.
    if (asked_ < Min(list.n, at + kPointersAhead / 2)) ask_up_to(list, Min(list.n, at + kPointersAhead));
    if (seen_ < Min(list.n, at + kTuplesAhead / 2)) see_up_to(list, Min(list.n, at + kTuplesAhead));
  }

  // Gives the heap's fetch the page of the candidate that advance() was called for, pinned, as if it had fetched a row
  // of it before. The buffer of that page, in a heap; InvalidBuffer: it is not pinned.
  Buffer hand_over(IndexFetchTableData* fetch, const CandidateList& list, size_t at) const {
    if (table_ == nullptr || fetch == nullptr) return InvalidBuffer;
    return pin_for(fetch, candidate_tid(list.items[at]), recent_[at % kPointersAhead]);
  }

 private:
  static constexpr size_t kPointersAhead = 32;  // rows at most between asking for the line pointer and fetching
  static constexpr size_t kTuplesAhead = 16;    // between asking for the row itself and fetching
  static constexpr size_t kBuffersAhead =
      16;  // between asking for where a row's page was last and asking for its line pointer

  void ask_up_to(const CandidateList& list, size_t end);
  void see_up_to(const CandidateList& list, size_t end);
  void ask_ahead(const CandidateList& list, size_t at) const;
  void ask(uint64_t tid);
  void see(uint64_t tid);
  Buffer look_up(BlockNumber block) const;
  Buffer pin_for(IndexFetchTableData* fetch, uint64_t tid, Buffer recent) const;

  Relation table_;  // null: ask for nothing
  size_t asked_;
  size_t seen_;
  BlockNumber blocks_;  // that the table has at least: no hint fails
  BlockNumber last_block_;
  Buffer recent_[kPointersAhead];
};

}  // namespace neardup
