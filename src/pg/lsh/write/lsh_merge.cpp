// Merging runs in steps, each one atomic change of the directory; and when maintenance does what.
#include <algorithm>

#include "pg/lsh/write/run_writer.h"
#include "pg/lsh/store/run_reader.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/write/lsh_flush.h"
#include "pg/lsh/write/lsh_merge.h"

extern "C" {
#include "portability/instr_time.h"
}

namespace neardup {
namespace {

constexpr double kMaintainSeconds = 0.008;
constexpr uint32_t kStepBudget = 4;          // leaves of a merge step for one of the flush before it
constexpr uint32_t kLeastBudget = 48;        // leaves of a merge step
constexpr uint32_t kMaxBudget = kMaxChildren * 3 / 4;  // of one inner page: a step begins one new inner at most
constexpr int kMaxRounds = 1000;             // of maintenance before a vacuum begins all the same
constexpr uint32_t kFlatLeaves = kMaxChildren * 3 / 4;  // estimated leaves from which on an output gets inner pages

// Units of the directory.
struct Unit {
  uint8_t number;
  bool merging;
  uint64_t rows;
  uint64_t most_rows;  // of one run: the class of a unit that is being merged
  uint64_t least_id;
  uint64_t leaves;
  int runs;
  int full;  // of them, those that are as large as runs get: merging would write them anew for nothing
};

bool is_full(const RunSlot& run) { return run.leaves >= kMaxLeaves - kMaxLeaves / 8; }

int units_of(const LshMeta& meta, Unit* out) {
  int n = 0;
  for (int i = 0; i < meta.nruns; ++i) {
    const RunSlot& run = meta.runs[i];
    if (run.state == kBuilding) continue;
    int u = 0;
    while (u < n && out[u].number != run.unit) ++u;
    if (u == n) out[n++] = {run.unit, false, 0, 0, run.id, 0, 0, 0};
    out[u].merging |= run.state != kLive;
    out[u].rows += run.rows;
    if (run.state != kOutput) out[u].most_rows = Max(out[u].most_rows, run.rows);
    out[u].least_id = Min(out[u].least_id, run.id);
    out[u].leaves += run.leaves;
    ++out[u].runs;
    out[u].full += is_full(run) ? 1 : 0;
  }
  return n;
}

int full_runs(const LshMeta& meta) {
  return static_cast<int>(std::count_if(meta.runs, meta.runs + meta.nruns, is_full));
}

// Slots in use that a vacuum may begin with: half of those that full runs leave.
int roomy(const LshMeta& meta) { return (static_cast<int>(kMaxRuns) + full_runs(meta)) / 2; }

// The two smallest units whose merging frees a slot, whatever their classes. The largest is not written anew for that once
// it has full runs. Sorts the units. Returns 2, or 0 when there are none.
template <typename Movable>
int smallest_pair(Unit* units, int n, const Movable& movable, uint8_t* chosen) {
  std::sort(units, units + n, [](const Unit& a, const Unit& b) { return a.rows < b.rows; });
  const int most = n != 0 && units[n - 1].full != 0 ? n - 1 : n;
  const auto usable = [&](const Unit& u) { return !u.merging && movable(u); };
  for (int b = 1; b < most; ++b) {
    for (int a = 0; a < b; ++a) {
      const uint64_t runs = (units[a].leaves + units[b].leaves + kMaxLeaves - 1) / kMaxLeaves;
      if (!usable(units[a]) || !usable(units[b]) || runs >= static_cast<uint64_t>(units[a].runs + units[b].runs)) continue;
      chosen[0] = units[a].number;
      chosen[1] = units[b].number;
      return 2;
    }
  }
  return 0;
}

// Whether maintenance can still make the runs fewer, now or when a vacuum has ended.
bool can_shrink(const LshMeta& meta) {
  Unit units[kMaxRuns];
  const int n = units_of(meta, units);
  uint8_t chosen[2];
  return std::any_of(units, units + n, [](const Unit& u) { return u.merging; }) ||
         smallest_pair(units, n, [](const Unit&) { return true; }, chosen) != 0;
}

int class_of(uint64_t rows) {
  int c = 0;
  while (rows >= uint64_t{4} * kFlushRows) {
    rows /= 4;
    ++c;
  }
  return c;
}

}  // namespace

int start_merge(Relation index, const uint8_t* units, int nunits) {
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  read_meta(index, directory);
  const auto among = [&](uint8_t unit) { return std::find(units, units + nunits, unit) != units + nunits; };
  uint64_t leaves = 0;
  int inputs = 0;
  for (int i = 0; i < directory->nruns; ++i) {
    const RunSlot& run = directory->runs[i];
    if (run.state == kBuilding || !among(run.unit)) continue;
    if (run.state != kLive) elog(ERROR, "unit %u of index \"%s\" is being merged", run.unit, RelationGetRelationName(index));
    leaves += run.leaves;
    ++inputs;
  }
  if (inputs == 0 || directory->nruns == kMaxRuns) return -1;
  Buffer root = alloc_page(index, *directory);
  MetaChange change;
  change.begin(index);
  LshMeta* meta = change.meta;
  const uint8_t unit = free_unit(*meta);
  for (int i = 0; i < meta->nruns; ++i) {
    if (meta->runs[i].state != kLive || !among(meta->runs[i].unit)) continue;
    meta->runs[i].state = kInput;
    meta->runs[i].unit = unit;
  }
  RunSlot* run = add_run(meta, kOutput);
  run->unit = unit;
  run->height = leaves > kFlatLeaves ? 2 : 1;
  run->root = BufferGetBlockNumber(root);
  init_inner(GenericXLogRegisterBuffer(change.state, root, GENERIC_XLOG_FULL_IMAGE), run->id, 0, run->height);
  change.finish();
  UnlockReleaseBuffer(root);
  return unit;
}

namespace {

// An input of a merge step: decoded leaf by leaf.
struct Input {
  RunReader reader;
  Entry* entries;
  uint32_t capacity;
  uint32_t at;
  uint32_t n;

  // Makes entries[at] the next one; false at the run's end.
  bool refill() {
    while (at == n) {
      LeafView leaf;
      Buffer buffer;
      if (!reader.next_leaf(&buffer, &leaf)) return false;
      const uint32_t from = leaf.lower_bound(reader.from());
      const uint32_t to = leaf.lower_bound(reader.tree().hi());
      at = 0;
      n = to > from ? to - from : 0;
      if (n > kMaxLeafEntries) report_corrupt(reader.index(), reader.block(), "impossible leaf");
      if (n > capacity) {
        capacity = n + n / 4;
        entries = static_cast<Entry*>(scratch_alloc(sizeof(Entry) * capacity));
      }
      leaf.decode(from, from + n, entries);
      UnlockReleaseBuffer(buffer);
      // The others would be merged, and this run's lo move, past what lies in its next leaves.
      if (n != 0 && !(entries[n - 1] < reader.next_fence()))
        report_corrupt(reader.index(), reader.block(), "entries beyond those of the next leaf");
    }
    return true;
  }
};

// What is read of the inputs, merged a piece at a time: up to where the first of the decoded leaves ends.
struct Merger {
  Input* inputs;
  int n;
  Entry* rooms[2];
  size_t capacity;  // of each

  // Reads on; inputs that have nothing left go.
  void refill() {
    for (int i = 0; i < n;)
      if (inputs[i].refill()) {
        ++i;
      } else {
        std::swap(inputs[i], inputs[n - 1]);
        --n;
      }
  }

  // Names the leaf, if it is still the one that its input reads.
  [[noreturn]] void report_disorder(Relation index) const {
    BlockNumber block = inputs[0].reader.block();
    for (int i = 0; i < n; ++i)
      if (!std::is_sorted(inputs[i].entries, inputs[i].entries + inputs[i].n)) block = inputs[i].reader.block();
    report_corrupt(index, block, "entries out of order");
  }

  // After refill(), with n > 0. An entry that several inputs have comes as often. Valid until the next call.
  EntrySlice next_piece() {
    Entry last = inputs[0].entries[inputs[0].n - 1];
    for (int i = 1; i < n; ++i) last = std::min(last, inputs[i].entries[inputs[i].n - 1]);
    EntrySlice slices[kMaxRuns];
    uint32_t used = 0;
    size_t total = 0;
    for (int i = 0; i < n; ++i) {
      Input* input = &inputs[i];
      const Entry* from = input->entries + input->at;
      const Entry* to = std::upper_bound(from, static_cast<const Entry*>(input->entries + input->n), last);
      if (to == from) continue;
      slices[used++] = {from, static_cast<size_t>(to - from)};
      total += static_cast<size_t>(to - from);
      input->at = static_cast<uint32_t>(to - input->entries);
    }
    if (total == 0) report_disorder(inputs[0].reader.index());
    if (total > capacity) {
      capacity = Max(total, 2 * capacity);
      for (Entry*& room : rooms) room = static_cast<Entry*>(scratch_alloc(sizeof(Entry) * capacity));
    }
    return {merge_slices(slices, used, rooms[0], rooms[1]), total};
  }
};

// How many leaves the output can still list, and where the next goes.
struct OutputRoom {
  uint32_t root_n;
  BlockNumber last_inner;  // of height 2, Invalid when there is none
  uint32_t inner_n;        // children of it

  uint32_t leaves(const RunSlot& out) const {
    if (out.height == 1) return kMaxChildren - root_n;
    const uint32_t in_last = last_inner == InvalidBlockNumber ? 0 : kMaxChildren - inner_n;
    return in_last + (root_n < kMaxChildren ? kMaxChildren : 0);
  }
};

uint32_t children_of(Relation index, const RunSlot& run, BlockNumber block, uint16_t level, BlockNumber* last) {
  Buffer buffer;
  if (lock_page(index, block, run.id, kInnerPage, nullptr, &buffer) != PageState::good)
    report_corrupt(index, block, "an inner page of a run is not there");
  const InnerPage* inner = open_inner(index, buffer, level);
  const uint32_t n = inner->n;
  if (n != 0) *last = inner->child[n - 1];
  UnlockReleaseBuffer(buffer);
  return n;
}

OutputRoom room_of(Relation index, const RunSlot& out) {
  OutputRoom room{0, InvalidBlockNumber, 0};
  BlockNumber last = InvalidBlockNumber;
  room.root_n = children_of(index, out, out.root, out.height, &last);
  if (out.height == 2 && room.root_n != 0) {
    room.last_inner = last;
    room.inner_n = children_of(index, out, room.last_inner, 1, &last);
  }
  return room;
}

// The output's root is full: it ends here, and a sibling of the same unit goes on.
void begin_sibling(Relation index, const LshMeta& directory, const RunSlot& out) {
  Buffer root = alloc_page(index, directory);
  MetaChange change;
  change.begin(index);
  find_run(change.meta, out.id)->state = kLive;
  RunSlot* sibling = add_run(change.meta, kOutput);
  sibling->unit = out.unit;
  sibling->height = out.height;
  sibling->lo = sibling->hi = out.hi;
  sibling->root = BufferGetBlockNumber(root);
  init_inner(GenericXLogRegisterBuffer(change.state, root, GENERIC_XLOG_FULL_IMAGE), sibling->id, 0, sibling->height);
  change.finish();
  UnlockReleaseBuffer(root);
}

// Writes the next leaves of the output and links them.
void step_output(Relation index, const LshMeta& directory, const RunSlot& out, const OutputRoom& room, uint32_t budget) {
  scratch_begin();
  const Entry from = run_hi(out);
  Merger merger{};
  merger.inputs = static_cast<Input*>(palloc(sizeof(Input) * kMaxRuns));
  for (int i = 0; i < directory.nruns; ++i) {
    const RunSlot& run = directory.runs[i];
    if (run.unit != out.unit || run.state != kInput) continue;
    Input* input = &merger.inputs[merger.n++];
    input->reader.init(index, run, nullptr);
    input->reader.seek(run_lo(run) < from ? from : run_lo(run));
    input->entries = nullptr;
    input->capacity = input->at = input->n = 0;
  }

  LeafWriter* leaves = static_cast<LeafWriter*>(palloc(sizeof(LeafWriter)));
  *leaves = LeafWriter();
  leaves->init(index, &directory, out.id, out.leaves, budget);
  // `from` follows the last entry written: its list may go on.
  if (from.key != kRosterKey) leaves->resume(from.key, list_length(index, out, from.key));
  bool exhausted = true;
  for (merger.refill(); exhausted && merger.n != 0; merger.refill()) {
    const EntrySlice piece = merger.next_piece();
    exhausted = leaves->add(piece.entries, piece.n);
    if (leaves->disordered()) merger.report_disorder(index);
  }
  leaves->finish();
  const uint32_t written = leaves->count();
  const Entry moved = exhausted ? kBeyondEntry : successor(leaves->last());  // a step writes a leaf at least

  // What the inputs give up by that.
  BlockList* lists = static_cast<BlockList*>(palloc0(sizeof(BlockList) * kMaxRuns));
  for (int i = 0; i < directory.nruns; ++i) {
    const RunSlot& run = directory.runs[i];
    if (run.unit != out.unit || run.state != kInput) continue;
    lists[i] = blocks_below(index, run, moved, run_hi(run) <= moved);
  }

  // At most the last inner page, a new one and the root change, and the meta page.
  uint32_t into_last = written;
  Buffer fresh = InvalidBuffer;
  if (out.height == 2) {
    into_last = room.last_inner == InvalidBlockNumber ? 0 : Min(written, kMaxChildren - room.inner_n);
    if (into_last < written) fresh = alloc_page(index, directory);
  }
  MetaChange change;
  change.buffer = ReadBuffer(index, kLshMetaBlock);
  LockBuffer(change.buffer, BUFFER_LOCK_EXCLUSIVE);
  locked_meta(index, change.buffer);
  Buffer root = InvalidBuffer;
  Buffer inner = InvalidBuffer;
  if (written != 0 && (out.height == 1 || fresh != InvalidBuffer)) {
    root = ReadBuffer(index, out.root);
    LockBuffer(root, BUFFER_LOCK_EXCLUSIVE);
  }
  if (out.height == 2 && into_last != 0) {
    inner = ReadBuffer(index, room.last_inner);
    LockBuffer(inner, BUFFER_LOCK_EXCLUSIVE);
  }
  change.start(index);
  LshMeta* meta = change.meta;
  RunSlot* run = find_run(meta, out.id);
  const Child* children = leaves->children();
  Page root_page = root == InvalidBuffer ? nullptr : GenericXLogRegisterBuffer(change.state, root, 0);
  if (out.height == 1) {
    for (uint32_t i = 0; i < written; ++i) add_child(root_page, children[i]);
  } else {
    if (inner != InvalidBuffer) {
      Page page = GenericXLogRegisterBuffer(change.state, inner, 0);
      for (uint32_t i = 0; i < into_last; ++i) add_child(page, children[i]);
    }
    if (fresh != InvalidBuffer) {
      Page page = GenericXLogRegisterBuffer(change.state, fresh, GENERIC_XLOG_FULL_IMAGE);
      init_inner(page, out.id, out.inners, 1);
      for (uint32_t i = into_last; i < written; ++i) add_child(page, children[i]);
      add_child(root_page, {BufferGetBlockNumber(fresh), children[into_last].first});
      ++run->inners;
    }
  }
  add_counts(run, leaves->counts());
  run->leaves += written;
  run->hi = pack_entry(moved);
  if (exhausted) run->state = kLive;
  if (exhausted && run->leaves == 0) remove_run(meta, out.id);
  for (int i = meta->nruns - 1; i >= 0; --i) {
    RunSlot& input = meta->runs[i];
    if (input.unit != out.unit || input.state != kInput) continue;
    if (run_hi(input) <= moved)
      remove_run(meta, input.id);
    else if (run_lo(input) < moved)
      input.lo = pack_entry(moved);
  }
  change.finish();
  for (Buffer buffer : {root, inner, fresh})
    if (buffer != InvalidBuffer) UnlockReleaseBuffer(buffer);

  FreedRange freed;
  for (int i = 0; i < directory.nruns; ++i)
    for (uint32_t b = 0; b < lists[i].n; ++b) freed.add(index, lists[i].blocks[b]);
  freed.publish(index);
}

}  // namespace

bool merge_step(Relation index, uint8_t unit, uint32_t budget) {
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  read_meta(index, directory);
  const RunSlot* out = nullptr;
  uint64_t least_id = ~uint64_t{0};
  for (int i = 0; i < directory->nruns; ++i) {
    const RunSlot& run = directory->runs[i];
    if (run.unit != unit || run.state == kBuilding) continue;
    if (run.state == kOutput) out = &run;
    least_id = Min(least_id, run.id);
  }
  if (out == nullptr) return true;  // finished by another
  const bool guarded = take_lock(index, IndexLock::vacuum, ShareLock, false);
  if (!guarded && least_id < directory->vac_horizon) return false;
  const OutputRoom room = room_of(index, *out);
  const uint32_t most = room.leaves(*out);
  bool moved = true;
  if (most == 0) {
    moved = directory->nruns < kMaxRuns;
    if (moved) begin_sibling(index, *directory, *out);
  } else {
    step_output(index, *directory, *out, room, Min(Min(Max(budget, 1u), kMaxBudget), most));
  }
  if (guarded) drop_lock(index, IndexLock::vacuum, ShareLock);
  return moved;
}

namespace {

double seconds_since(const instr_time& began) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  INSTR_TIME_SUBTRACT(now, began);
  return INSTR_TIME_GET_DOUBLE(now);
}

// Starts the merges that are due. Units whose runs a vacuum works on are left alone.
void start_due_merges(Relation index, bool for_vacuum) {
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  for (;;) {
    read_meta(index, directory);
    Unit units[kMaxRuns];
    const int n = units_of(*directory, units);
    const bool free_to_move = take_lock(index, IndexLock::vacuum, ShareLock, false);
    if (free_to_move) drop_lock(index, IndexLock::vacuum, ShareLock);
    const auto movable = [&](const Unit& u) {
      return free_to_move || u.least_id >= directory->vac_horizon;
    };
    // Runs that there will be when the merges at work have ended.
    int remaining = 0;
    for (int u = 0; u < n; ++u)
      remaining += units[u].merging && movable(units[u]) ? Min(units[u].full + 1, units[u].runs) : units[u].runs;
    uint8_t chosen[kMaxRuns];
    int nchosen = 0;
    if (directory->nruns + 2u < kMaxRuns) {
      for (int c = 0; c < 32 && nchosen == 0; ++c) {
        bool merging = false;
        for (int u = 0; u < n; ++u) merging |= units[u].merging && movable(units[u]) && class_of(units[u].most_rows) == c;
        if (merging) continue;
        for (int u = 0; u < n; ++u)
          if (!units[u].merging && movable(units[u]) && class_of(units[u].rows) == c) chosen[nchosen++] = units[u].number;
        const int fanout = c == 0 ? kMergeFanout : c == 1 ? kLargeMergeFanout : kLargestMergeFanout;
        nchosen = nchosen < fanout ? 0 : Min(nchosen, 2 * fanout);
      }
      if (nchosen == 0 && remaining >= (for_vacuum ? roomy(*directory) : kCrowded))
        nchosen = smallest_pair(units, n, movable, chosen);
    }
    if (nchosen == 0) return;
    if (start_merge(index, chosen, nchosen) < 0) return;
  }
}

// for_vacuum: merging is forced until a vacuum has room to begin, else in a crowded directory.
bool maintain_for(Relation index, bool wait, bool for_vacuum) {
  if (!take_lock(index, IndexLock::maintenance, ExclusiveLock, wait)) return false;
  instr_time began;
  INSTR_TIME_SET_CURRENT(began);
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh maintenance", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  read_meta(index, directory);
  drop_building(index, *directory);
  // A crowded directory keeps its last slots for the merges that make room.
  const uint32_t closed = directory->npending == 0 ? 0 : directory->npending - 1u;
  uint32_t flushed = 0;
  if (closed != 0 && directory->nruns < kCrowded) flushed = flush(index, closed);
  start_due_merges(index, for_vacuum);
  read_meta(index, directory);
  const uint32_t budget = Max(kStepBudget * flushed, kLeastBudget);
  Unit units[kMaxRuns];
  const int n = units_of(*directory, units);
  std::sort(units, units + n, [](const Unit& a, const Unit& b) { return a.most_rows < b.most_rows; });
  MemoryContext step = AllocSetContextCreate(context, "lsh merge step", ALLOCSET_DEFAULT_SIZES);
  // At least one step, whatever the clock says: a flush adds a run, and merges must keep up with flushes.
  bool stepped = false;
  for (int u = 0; u < n && (!stepped || seconds_since(began) < kMaintainSeconds); ++u) {
    if (!units[u].merging) continue;
    MemoryContextSwitchTo(step);
    stepped |= merge_step(index, units[u].number, budget);
    MemoryContextReset(step);
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  drop_lock(index, IndexLock::maintenance, ExclusiveLock);
  return true;
}

}  // namespace

bool maintain(Relation index, bool wait) { return maintain_for(index, wait, false); }

void check_room(Relation index) {
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  read_meta(index, directory);
  if (directory->npending == kMaxWaiting && directory->nruns >= kCrowded && !can_shrink(*directory))
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("index \"%s\" is full", RelationGetRelationName(index)),
                    errdetail("It has %d runs of at most %d, %d of them of " UINT64_FORMAT " pages, the most that one can have.",
                              directory->nruns, static_cast<int>(kMaxRuns), full_runs(*directory), kMaxLeaves),
                    errhint("Partition the table, or index fewer of its rows.")));
  pfree(directory);
}

uint64_t begin_vacuum(Relation index) {
  // A long vacuum freezes the runs that it finds: it leaves slots for those to come.
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  for (int round = 0; round < kMaxRounds; ++round) {
    read_meta(index, directory);
    if (directory->nruns <= roomy(*directory) || !can_shrink(*directory)) break;
    CHECK_FOR_INTERRUPTS();
    maintain_for(index, true, true);
  }
  take_lock(index, IndexLock::maintenance, ExclusiveLock, true);
  flush_all(index, true);
  MetaChange change;
  change.begin(index);
  const uint64_t horizon = change.meta->next_id;
  change.meta->vac_horizon = horizon;
  change.finish();
  drop_lock(index, IndexLock::maintenance, ExclusiveLock);
  return horizon;
}

}  // namespace neardup
