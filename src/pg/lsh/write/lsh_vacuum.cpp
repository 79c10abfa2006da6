// VACUUM: removes the entries of dead rows in place, then tidies up: merges, and finds pages that nobody links.
#include <algorithm>

#include "core/lsh/entry_sort.h"
#include "pg/base/context.h"
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/store/run_reader.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/write/lsh_flush.h"
#include "pg/lsh/write/maintenance.h"
#include "pg/lsh/write/merge_choice.h"
#include "pg/lsh/write/merge_step.h"

extern "C" {
#include "commands/vacuum.h"
#include "postmaster/autovacuum.h"
#include "storage/indexfsm.h"
}

namespace neardup {
namespace {

constexpr uint32_t kMaxCleanupBudget = 400;  // leaves of a merge step
constexpr double kLeastFill = 0.7;           // of a run that is left as it is

// Dead TIDs, sorted, with a filter of the heap blocks that they are in.
struct DeadRows {
  static constexpr uint32_t kBlockFilterBits = 1u << 20;
  uint64_t* tids;
  size_t n;
  size_t most;
  size_t capacity;
  uint64_t* filter;

  void init() {
    const int kilobytes =
        AmAutoVacuumWorkerProcess() && autovacuum_work_mem != -1 ? autovacuum_work_mem : maintenance_work_mem;
    most = Max(static_cast<size_t>(kilobytes) * 1024 / 2 / sizeof(uint64_t), size_t{1024});
    capacity = Min(most, size_t{1024});
    tids = static_cast<uint64_t*>(palloc(capacity * sizeof(uint64_t)));
    filter = static_cast<uint64_t*>(palloc0(kBlockFilterBits / 8));
    n = 0;
  }

  void clear() {
    n = 0;
    memset(filter, 0, kBlockFilterBits / 8);
  }

  // False: no room.
  bool add(uint64_t tid) {
    if (n == most) return false;
    if (n == capacity) {
      capacity = Min(most, 2 * capacity);
      tids = static_cast<uint64_t*>(repalloc_huge(tids, capacity * sizeof(uint64_t)));
    }
    tids[n++] = tid;
    const uint64_t bit = (tid >> 16) % kBlockFilterBits;
    filter[bit >> 6] |= uint64_t{1} << (bit & 63);
    return true;
  }

  // The other half of the memory is for this; millions take long enough to be cancelled.
  void sort() {
    uint64_t* room = static_cast<uint64_t*>(MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(uint64_t)));
    call_core([&] {
      PgStop stop;
      Poller poller(&stop);
      sort_words(tids, room, n, poller);
    });
    pfree(room);
  }

  bool has(uint64_t tid) const {
    const uint64_t bit = (tid >> 16) % kBlockFilterBits;
    if ((filter[bit >> 6] >> (bit & 63) & 1) == 0) return false;
    return std::binary_search(tids, tids + n, tid);
  }
};

struct Vacuum {
  Relation index;
  BufferAccessStrategy strategy;
  LshMeta directory;  // of when the horizon was fixed
  uint64_t horizon;
  DeadRows dead;
  Entry* entries;  // of one leaf
  LeafPacker* packer;
  MemoryContext run_context;

  bool covers(const RunSlot& run) const { return run.id < horizon && run.state != kBuilding; }
};

RunReader open_run(Vacuum* v, const RunSlot& run) {
  MemoryContextReset(v->run_context);
  MemoryContext old = MemoryContextSwitchTo(v->run_context);
  RunReader reader;
  reader.init(v->index, run, v->strategy);
  MemoryContextSwitchTo(old);
  return reader;
}

// Asks about every row whose entries may go. False when the dead rows are too many for memory.
bool find_dead(Vacuum* v, IndexBulkDeleteCallback callback, void* state) {
  for (int i = 0; i < v->directory.nruns; ++i) {
    const RunSlot& run = v->directory.runs[i];
    if (!v->covers(run)) continue;
    RunReader reader = open_run(v, run);
    const Entry beyond{kRosterKey + 1, 0};
    const Entry to = beyond < reader.tree().hi() ? beyond : reader.tree().hi();
    Buffer buffer;
    LeafView leaf;
    while (reader.next_leaf(&buffer, &leaf)) {
      const uint32_t from = leaf.lower_bound(reader.from());
      const uint32_t last = leaf.lower_bound(to);
      const bool more = last == leaf.count();
      uint32_t n = last > from ? last - from : 0;
      leaf.decode(from, from + n, v->entries);
      UnlockReleaseBuffer(buffer);
      for (uint32_t e = 0; e < n; ++e) {
        ItemPointerData tid;
        set_row(v->index, nullptr, v->entries[e].tid, MaxOffsetNumber, &tid);
        if (callback(&tid, state) && !v->dead.add(v->entries[e].tid)) return false;
      }
      VACUUM_DELAY_POINT();
      if (!more) break;
    }
  }
  return true;
}

// Writes the leaf again without its dead entries. Only this vacuum changes leaves of the run.
void rewrite_leaf(Vacuum* v, const RunSlot& run, BlockNumber block, const Entry* kept, uint32_t n) {
  Buffer buffer = read_linked(v->index, block, v->strategy);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  Page old = BufferGetPage(buffer);
  if (!is_page_of_owner(old, run.id, kLeafPage)) report_corrupt(v->index, block, "a leaf of a run is not there");
  const uint32_t ordinal = page_tail(old)->ordinal;
  GenericXLogState* state = GenericXLogStart(v->index);
  Page page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
  init_lsh_page(page, kLeafPage, run.id, ordinal);
  v->packer->clear();
  if (v->packer->add(kept, n) != n)
    report_corrupt(v->index, block, "impossible leaf");  // a part of a leaf fits into it
  reinterpret_cast<PageHeader>(page)->pd_lower += static_cast<LocationIndex>(v->packer->write(page_body(page)));
  GenericXLogFinish(state);
  UnlockReleaseBuffer(buffer);
}

// Removes dead entries of a run: those of its lists, or those of its roster. Counts what stays.
void sweep_run(Vacuum* v, const RunSlot& run, bool rosters, RunTally* counts) {
  RunReader reader = open_run(v, run);
  const Entry first_list{kRosterKey + 1, 0};
  Entry from = reader.tree().lo();
  Entry to = reader.tree().hi();
  if (rosters && first_list < to) to = first_list;
  if (!rosters && from < first_list) from = first_list;
  if (to <= from) return;
  reader.seek(from);
  Buffer buffer;
  LeafView leaf;
  while (reader.next_leaf(&buffer, &leaf)) {
    // Entries outside [from, to) stay: those below lo count no more, the others are for the other sweep.
    const uint32_t n = leaf.count();
    if (n > kMaxLeafEntries) report_corrupt(v->index, reader.block(), "impossible leaf");
    leaf.decode(0, n, v->entries);
    UnlockReleaseBuffer(buffer);
    bool ended = false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const Entry& e = v->entries[i];
      const bool inside = from <= e && e < to;
      ended |= to <= e;
      if (inside && v->dead.has(e.tid)) continue;
      if (inside) counts->add(e.key);
      v->entries[kept++] = e;
    }
    if (kept != n) rewrite_leaf(v, run, reader.block(), v->entries, kept);
    VACUUM_DELAY_POINT();
    if (ended) break;
  }
}

void mark_counts(Vacuum* v, bool stale, const RunTally* counts) {
  MetaChange change;
  change.begin(v->index);
  for (int i = 0; i < v->directory.nruns; ++i) {
    if (!v->covers(v->directory.runs[i])) continue;
    RunSlot* run = find_run(change.meta, v->directory.runs[i].id);
    if (run == nullptr) continue;
    if (stale) {
      run->flags |= kStaleCounts;
      continue;
    }
    run->flags &= static_cast<uint8_t>(~kStaleCounts);
    run->entries = counts[i].entries;
    run->rows = counts[i].rows;
    run->sum_sq = counts[i].sum_sq;
  }
  change.finish();
}

// A run that was complete when the directory was read, and what it links.
struct Reached {
  uint64_t id;
  bool complete;
  uint8_t unit;
  uint64_t leaf_bytes;  // used in its leaves
  uint64_t leaves;
};

struct Reachable {
  LshMeta directory;
  Reached runs[kMaxRuns];
  BlockSet linked;
};

void find_reachable(Relation index, Reachable* r, BufferAccessStrategy strategy) {
  read_meta(index, &r->directory);
  r->linked.init(RelationGetNumberOfBlocks(index));
  for (int i = 0; i < r->directory.nruns; ++i) {
    const RunSlot& run = r->directory.runs[i];
    r->runs[i] = {run.id, false, run.unit, 0, 0};
    if (run.state != kLive) continue;
    MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh run pages", ALLOCSET_DEFAULT_SIZES);
    RunTree tree;
    tree.init(index, run, r->directory.change, context, strategy, nullptr);
    bool good = tree.load_root();
    bool ended = true;
    LeafPlace place;
    if (good) good = tree.find(kLeastEntry, &place, &ended);
    while (good && !ended) {
      r->linked.add(place.block);
      good = tree.next(&place, &ended);
    }
    if (good) {
      r->linked.add(run.root);
      for (uint32_t j = 0; j < tree.inners(); ++j) r->linked.add(tree.inner_block(j));
    }
    r->runs[i].complete = good;  // else it was merged away meanwhile
    MemoryContextDelete(context);
    VACUUM_DELAY_POINT();
  }
}

// Tells the free space map about free pages, and frees pages that a killed merge step left behind.
void scan_pages(Relation index, Reachable* r, BufferAccessStrategy strategy, IndexBulkDeleteResult* stats) {
  BlockNumber free_pages = 0;
  for (BlockNumber block = 1; block < r->linked.blocks; ++block) {
    VACUUM_DELAY_POINT();
    Buffer buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    bool free = page_is_free(page, r->directory);
    bool orphan = false;
    uint64_t owner = 0;
    if (!free && is_lsh_page(page)) {
      owner = page_tail(page)->owner;
      for (int i = 0; i < r->directory.nruns; ++i) {
        Reached& run = r->runs[i];
        if (run.id != owner || !run.complete) continue;
        orphan = !r->linked.has(block);
        if (!orphan && page_tail(page)->kind == kLeafPage) {
          run.leaf_bytes += used_bytes(page);
          ++run.leaves;
        }
      }
    }
    LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    if (orphan) {
      // A complete run never gets another page, so it is nobody's, unless its run went and another has it by now.
      LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
      if (page_tail(page)->owner == owner) {
        GenericXLogState* state = GenericXLogStart(index);
        page_tail(GenericXLogRegisterBuffer(state, buffer, 0))->owner = 0;
        GenericXLogFinish(state);
        free = true;
        ++stats->pages_newly_deleted;
      }
      LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    }
    ReleaseBuffer(buffer);
    if (free) {
      RecordFreeIndexPage(index, block);
      ++free_pages;
    }
  }
  stats->pages_free = free_pages;
  stats->pages_deleted = free_pages;
}

// Chooses the units that the cleanup should still merge into one; 0: none.
int choose_units(const LshMeta& directory, const Reachable& r, bool alone_too, uint8_t* chosen) {
  Unit units[kMaxRuns];
  int n = list_units(directory, units);
  // Merges of inserters are left to them.
  n = static_cast<int>(std::remove_if(units, units + n, [](const Unit& u) { return u.merging; }) - units);
  if (n == 0 || directory.nruns + 2u >= kMaxRuns) return 0;
  std::sort(units, units + n, [](const Unit& a, const Unit& b) { return a.rows < b.rows; });
  uint64_t others = 0;
  for (int u = 0; u + 1 < n; ++u) others += units[u].rows;
  int take = 0;
  if (n > 1) {
    take = 3 * others > units[n - 1].rows ? n : n - 1;
    if (take == 1) take = 0;
  }
  if (take == 0 && alone_too) {
    // A unit that vacuums thinned out is written anew.
    for (int u = 0; u < n; ++u) {
      uint64_t bytes = 0;
      uint64_t leaves = 0;
      for (int i = 0; i < r.directory.nruns; ++i)
        if (r.runs[i].complete && r.runs[i].unit == units[u].number && find_run(directory, r.runs[i].id) != nullptr) {
          bytes += r.runs[i].leaf_bytes;
          leaves += r.runs[i].leaves;
        }
      if (leaves > 1 && static_cast<double>(bytes) < kLeastFill * static_cast<double>(leaves) * kLeafBytes) {
        chosen[0] = units[u].number;
        return 1;
      }
    }
  }
  for (int u = 0; u < take; ++u) chosen[u] = units[u].number;
  return take;
}

// A step of a unit's merge; a small part of the unit, so that the pages which its inputs give up serve its output.
// False when the merge has ended, or cannot go on.
bool step_unit(Relation index, const LshMeta& directory, int unit) {
  uint32_t leaves = 0;
  bool merging = false;
  for (int i = 0; i < directory.nruns; ++i) {
    if (directory.runs[i].unit != unit || directory.runs[i].state == kBuilding) continue;
    leaves += directory.runs[i].leaves;
    merging |= directory.runs[i].state == kOutput;
  }
  return merging &&
         merge_step(index, static_cast<uint8_t>(unit), Min(Max(leaves / 32, kLeastBudget), kMaxCleanupBudget));
}

// Ends the merges that have begun; then, when `reachable` tells how full runs are, starts those that are worth it.
// Inserters go on between the steps. Merges that they start are theirs, or this would not end.
void merge_all(Relation index, const Reachable* reachable) {
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh cleanup merge", ALLOCSET_DEFAULT_SIZES);
  int units[kMaxRuns];
  int n = -1;
  int starts = reachable == nullptr ? 0 : 4;
  while (n != 0 || starts > 0) {
    VACUUM_DELAY_POINT();
    CHECK_FOR_INTERRUPTS();
    MemoryContext old = MemoryContextSwitchTo(context);
    acquire_lock(index, IndexLock::maintenance, ExclusiveLock, true);
    const LshMeta* directory = copy_meta(index);
    if (n < 0) {
      n = 0;
      for (int i = 0; i < directory->nruns; ++i)
        if (directory->runs[i].state == kOutput) units[n++] = directory->runs[i].unit;
    } else if (n != 0) {
      if (!step_unit(index, *directory, units[n - 1])) --n;
    } else {
      uint8_t chosen[kMaxRuns];
      const int nchosen = choose_units(*directory, *reachable, starts > 2, chosen);
      --starts;
      if (nchosen == 0) starts = 0;
      units[0] = nchosen == 0 ? -1 : start_merge(index, chosen, nchosen);
      n = units[0] >= 0 ? 1 : 0;
    }
    release_lock(index, IndexLock::maintenance, ExclusiveLock);
    MemoryContextSwitchTo(old);
    MemoryContextReset(context);
  }
  MemoryContextDelete(context);
}

}  // namespace

IndexBulkDeleteResult* lshbulkdelete(IndexVacuumInfo* info, IndexBulkDeleteResult* stats,
                                     IndexBulkDeleteCallback callback, void* callback_state) {
  Relation index = info->index;
  if (stats == nullptr) stats = static_cast<IndexBulkDeleteResult*>(palloc0(sizeof(IndexBulkDeleteResult)));
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh vacuum", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  acquire_lock(index, IndexLock::vacuum, ExclusiveLock, true);
  Vacuum* v = static_cast<Vacuum*>(palloc0(sizeof(Vacuum)));
  v->index = index;
  v->strategy = info->strategy;
  v->run_context = AllocSetContextCreate(context, "lsh vacuum run", ALLOCSET_DEFAULT_SIZES);
  v->horizon = begin_vacuum(index);
  read_meta(index, &v->directory);
  v->dead.init();
  v->entries = static_cast<Entry*>(palloc(sizeof(Entry) * kMaxLeafEntries));
  v->packer = static_cast<LeafPacker*>(palloc(sizeof(LeafPacker)));
  bool stale = false;
  uint64_t rows = 0;
  for (int i = 0; i < v->directory.nruns; ++i) {
    if (!v->covers(v->directory.runs[i])) continue;
    stale |= (v->directory.runs[i].flags & kStaleCounts) != 0;
    rows += v->directory.runs[i].rows;
  }
  RunTally* counts = static_cast<RunTally*>(palloc(sizeof(RunTally) * kMaxRuns));
  for (bool all = false; !all;) {
    v->dead.clear();
    all = find_dead(v, callback, callback_state);
    if (v->dead.n == 0 && !stale) break;
    v->dead.sort();
    if (!stale) mark_counts(v, true, nullptr);
    stale = true;
    memset(counts, 0, sizeof(RunTally) * kMaxRuns);
    // Rosters last: a vacuum that is stopped between leaves them, and the next one finds the rest by them.
    for (const bool rosters : {false, true})
      for (int i = 0; i < v->directory.nruns; ++i)
        if (v->covers(v->directory.runs[i])) sweep_run(v, v->directory.runs[i], rosters, &counts[i]);
    stats->tuples_removed += static_cast<double>(v->dead.n);
  }
  if (stale) {
    mark_counts(v, false, counts);
    rows = 0;
    for (int i = 0; i < v->directory.nruns; ++i)
      if (v->covers(v->directory.runs[i])) rows += counts[i].rows;
  }
  stats->num_index_tuples = static_cast<double>(rows);
  stats->estimated_count = false;
  release_lock(index, IndexLock::vacuum, ExclusiveLock);
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  return stats;
}

IndexBulkDeleteResult* lshvacuumcleanup(IndexVacuumInfo* info, IndexBulkDeleteResult* stats) {
  if (info->analyze_only) return stats;
  Relation index = info->index;
  if (stats == nullptr) stats = static_cast<IndexBulkDeleteResult*>(palloc0(sizeof(IndexBulkDeleteResult)));
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh cleanup", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  acquire_lock(index, IndexLock::maintenance, ExclusiveLock, true);
  flush_all(index, false);
  release_lock(index, IndexLock::maintenance, ExclusiveLock);
  // First what has begun: what a killed step left of a run is known to be nobody's only when the run is complete.
  merge_all(index, nullptr);
  Reachable* reachable = static_cast<Reachable*>(palloc0(sizeof(Reachable)));
  find_reachable(index, reachable, info->strategy);
  scan_pages(index, reachable, info->strategy, stats);
  merge_all(index, reachable);
  IndexFreeSpaceMapVacuum(index);
  const LshMeta* directory = copy_meta(index);
  double rows = 0;
  stats->estimated_count = directory->npending != 0;
  for (int i = 0; i < directory->nruns; ++i) {
    rows += static_cast<double>(directory->runs[i].rows);
    stats->estimated_count |= directory->runs[i].state != kLive;
  }
  stats->num_pages = RelationGetNumberOfBlocks(index);
  stats->num_index_tuples = rows;
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  return stats;
}

}  // namespace neardup
