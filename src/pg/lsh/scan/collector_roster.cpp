// Collecting every indexed row, from the rosters. See collector.h.
#include <algorithm>

#include "pg/lsh/scan/collector.h"

namespace neardup {
namespace {

constexpr uint32_t kRosterBatch = 4096;  // TIDs of a run in one batch

}  // namespace

uint64_t Collector::collect_roster(uint64_t from) {
  uint64_t next = kAllCollected;
  try_until_current([&] { return try_roster(from, &next); });
  std::sort(list_.items, list_.items + list_.n);
  list_.n = static_cast<size_t>(std::unique(list_.items, list_.items + list_.n) - list_.items);
  return next;
}

ReadOutcome Collector::try_roster(uint64_t from, uint64_t* next) {
  uint64_t complete = kMaxTid;  // TIDs up to here are all in the list
  for (int i = 0; i < reader_.directory().nruns; ++i) {
    if (!reader_.is_built(i)) continue;
    if (const ReadOutcome read = add_run_roster(reader_.tree(i), from, &complete); read != ReadOutcome::done)
      return read;
  }
  const ReadOutcome pending = reader_.for_pending_rows([&](const PendingRowView& row) {
    if (row.tid >= from) list_.add(row.tid, 0);
  });
  if (pending != ReadOutcome::done) return pending;
  *next = kAllCollected;
  if (complete != kMaxTid) {
    uint64_t* end =
        std::remove_if(list_.items, list_.items + list_.n, [=](uint64_t c) { return candidate_tid(c) > complete; });
    list_.n = static_cast<size_t>(end - list_.items);
    *next = complete + 1;
  }
  return ReadOutcome::done;
}

// A batch of the run's; lowers *complete to its last TID where there are more.
ReadOutcome Collector::add_run_roster(RunTree* tree, uint64_t from, uint64_t* complete) {
  const Probe roster{kRosterKey, kRosterKey, nullptr, kNoProbe};
  Entry begin, end;
  if (!entries_in(*tree, roster, {from, kMaxTid}, &begin, &end)) return ReadOutcome::done;
  if (!tree->load_root()) return ReadOutcome::stale;
  LeafPlace place;
  bool ended;
  if (!tree->find(begin, &place, &ended)) return ReadOutcome::stale;
  if (ended) return ReadOutcome::done;
  uint32_t taken = 0;
  uint64_t last_taken = 0;
  do {
    CHECK_FOR_INTERRUPTS();
    Buffer buffer;
    LeafView leaf;
    const LeafResult result = tree->lock_leaf(place, &buffer, &leaf);
    if (result == LeafResult::stale) return ReadOutcome::stale;
    if (result == LeafResult::leaf) {
      const uint32_t last = leaf.lower_bound(end);
      for (uint32_t e = leaf.lower_bound(begin); e < last; ++e) {
        last_taken = leaf.tid(e);
        list_.add(last_taken, 0);
        ++taken;
      }
      UnlockReleaseBuffer(buffer);
    }
    if (!tree->next(&place, &ended)) return ReadOutcome::stale;
  } while (!ended && taken < kRosterBatch && place.fence < end);
  if (!ended && place.fence < end) *complete = Min(*complete, last_taken);
  return ReadOutcome::done;
}

}  // namespace neardup
