// See maintenance.h.
#include "pg/lsh/write/maintenance.h"

#include <algorithm>

#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/write/lsh_flush.h"
#include "pg/lsh/write/merge_choice.h"
#include "pg/lsh/write/merge_step.h"

namespace neardup {
namespace {

constexpr double kMaintainSeconds = 0.008;
constexpr uint32_t kStepBudget = 4;  // leaves of a merge step for one of the flush before it
constexpr int kMaxRounds = 1000;     // of maintenance before a vacuum begins all the same

double seconds_since(const instr_time& began) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  INSTR_TIME_SUBTRACT(now, began);
  return INSTR_TIME_GET_DOUBLE(now);
}

bool vacuum_works(Relation index) {
  if (!acquire_lock(index, IndexLock::vacuum, ShareLock, false)) return true;
  release_lock(index, IndexLock::vacuum, ShareLock);
  return false;
}

// Starts the merges that are due. Units whose runs a vacuum works on are left alone.
void start_due_merges(Relation index, bool for_vacuum) {
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  for (;;) {
    read_meta(index, directory);
    uint8_t chosen[kMaxRuns];
    const int n = units_due(*directory, vacuum_works(index), for_vacuum, chosen);
    if (n == 0 || start_merge(index, chosen, n) < 0) return;
  }
}

// Steps of the merges at work, the smallest first, until the time that began then is over. At least one step, whatever
// the clock says: a flush adds a run, and merges must keep up with flushes.
void step_merges(Relation index, uint32_t budget, const instr_time& began) {
  const LshMeta* directory = copy_meta(index);
  Unit units[kMaxRuns];
  const int n = list_units(*directory, units);
  std::sort(units, units + n, [](const Unit& a, const Unit& b) { return a.most_size < b.most_size; });
  MemoryContext step = AllocSetContextCreate(CurrentMemoryContext, "lsh merge step", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(step);
  bool stepped = false;
  for (int u = 0; u < n && (!stepped || seconds_since(began) < kMaintainSeconds); ++u) {
    if (!units[u].merging) continue;
    stepped |= merge_step(index, units[u].number, budget);
    MemoryContextReset(step);
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(step);
}

struct Round {
  bool wait = true;
  bool for_vacuum = false;          // merging is forced until a vacuum has room to begin, else in a crowded directory
  const LargeRow* large = nullptr;  // to be taken into a run; null: none
  bool has_taken = false;           // that row
};

// False: another backend is at it.
bool maintain_for(Relation index, Round* round) {
  if (!acquire_lock(index, IndexLock::maintenance, ExclusiveLock, round->wait)) return false;
  instr_time began;
  INSTR_TIME_SET_CURRENT(began);
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh maintenance", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  const LshMeta* directory = copy_meta(index);
  drop_building(index, *directory);
  // A crowded directory keeps its last slots for the merges that make room.
  const uint32_t closed = directory->npending == 0 ? 0 : directory->npending - 1u;
  uint32_t flushed = 0;
  if (directory->nruns < kCrowded) {
    flushed = flush(index, closed, round->large);
    round->has_taken = true;
  }
  start_due_merges(index, round->for_vacuum);
  step_merges(index, Max(kStepBudget * flushed, kLeastBudget), began);
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  release_lock(index, IndexLock::maintenance, ExclusiveLock);
  return true;
}

void check_room_for_runs(Relation index) {
  LshMeta* directory = copy_meta(index);
  if (directory->nruns >= kCrowded && !can_shrink(*directory))
    ereport(
        ERROR,
        (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("index \"%s\" is full", RelationGetRelationName(index)),
         errdetail("It has %d runs of at most %d, %d of them of " UINT64_FORMAT " pages, the most that one can have.",
                   directory->nruns, static_cast<int>(kMaxRuns), full_runs(*directory), kMaxLeaves),
         errhint("Partition the table, or index fewer of its rows.")));
  pfree(directory);
}

}  // namespace

bool maintain(Relation index, bool wait) {
  Round round = {.wait = wait};
  return maintain_for(index, &round);
}

void insert_large_row(Relation index, const LargeRow& row) {
  Round round = {.large = &row};
  while (maintain_for(index, &round) && !round.has_taken) {
    CHECK_FOR_INTERRUPTS();
    check_room_for_runs(index);
  }
}

void check_room(Relation index) {
  LshMeta* directory = copy_meta(index);
  const bool is_waiting = directory->npending == kMaxWaitingPages;
  pfree(directory);
  if (is_waiting) check_room_for_runs(index);
}

uint64_t begin_vacuum(Relation index) {
  // A long vacuum freezes the runs that it finds: it leaves slots for those to come.
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  for (int round = 0; round < kMaxRounds; ++round) {
    read_meta(index, directory);
    if (directory->nruns <= roomy(*directory) || !can_shrink(*directory)) break;
    CHECK_FOR_INTERRUPTS();
    Round forced = {.for_vacuum = true};
    maintain_for(index, &forced);
  }
  acquire_lock(index, IndexLock::maintenance, ExclusiveLock, true);
  flush_all(index, true);
  MetaChange change;
  change.begin(index);
  const uint64_t horizon = change.meta->next_id;
  change.meta->vac_horizon = horizon;
  change.finish();
  release_lock(index, IndexLock::maintenance, ExclusiveLock);
  return horizon;
}

}  // namespace neardup
