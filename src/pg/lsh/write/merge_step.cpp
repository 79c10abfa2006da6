// See merge_step.h.
#include <algorithm>

#include "core/lsh/entry_sort.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/run_reader.h"
#include "pg/lsh/write/merge_inputs.h"
#include "pg/lsh/write/merge_step.h"
#include "pg/lsh/write/run_writer.h"

namespace neardup {
namespace {

constexpr uint32_t kMaxBudget = kMaxChildren * 3 / 4;   // of one inner page: a step begins one new inner at most
constexpr uint32_t kFlatLeaves = kMaxChildren * 3 / 4;  // estimated leaves from which on an output gets inner pages

// The room for leaves that the output has, and where the next goes.
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

uint32_t read_children(Relation index, const RunSlot& run, BlockNumber block, uint16_t level, BlockNumber* last) {
  Buffer buffer;
  if (lock_page(index, block, run.id, kInnerPage, nullptr, &buffer) != PageState::good)
    report_corrupt(index, block, "an inner page of a run is not there");
  const InnerPage* inner = open_inner(index, buffer, level);
  const uint32_t n = inner->n;
  if (n != 0) *last = inner->child[n - 1];
  UnlockReleaseBuffer(buffer);
  return n;
}

OutputRoom output_room(Relation index, const RunSlot& out) {
  OutputRoom room{0, InvalidBlockNumber, 0};
  BlockNumber last = InvalidBlockNumber;
  room.root_n = read_children(index, out, out.root, out.height, &last);
  if (out.height == 2 && room.root_n != 0) {
    room.last_inner = last;
    room.inner_n = read_children(index, out, room.last_inner, 1, &last);
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

Buffer lock_exclusively(Relation index, BlockNumber block) {
  Buffer buffer = read_linked(index, block);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  return buffer;
}

void add_children(Page page, const Child* children, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) add_child(page, children[i]);
}

// A step: the next leaves of the output are written, then linked by one change of the directory, in which the inputs
// give up what was read of them.
class MergeStep {
 public:
  // out: in the directory, and output_room() it.
  MergeStep(Relation index, const LshMeta& directory, const RunSlot& out, const OutputRoom& room)
      : index_(index), directory_(directory), out_(out), room_(room) {}

  // budget: leaves; at most as many as there is room for.
  void run(uint32_t budget) {
    write_leaves(budget);
    find_freed();
    link();
    give_back_freed();
  }

 private:
  bool is_input(const RunSlot& run) const { return run.unit == out_.unit && run.state == kInput; }

  void write_leaves(uint32_t budget);
  void find_freed();
  void link();
  void choose_pages();
  void lock_pages();
  void link_leaves(GenericXLogState* state, RunSlot* run) const;
  void move_bounds(LshMeta* meta, RunSlot* run) const;
  void give_back_freed() const;

  Relation index_;
  const LshMeta& directory_;
  const RunSlot& out_;
  const OutputRoom& room_;

  LeafWriter* leaves_ = nullptr;
  bool exhausted_ = true;       // the inputs have nothing left
  Entry moved_{};               // the entry after the last one written: what lies below is the output's now
  BlockList* freed_ = nullptr;  // of each run of the directory

  // The pages that change besides the meta page: at most the last inner page, a new one and the root.
  uint32_t into_last_ = 0;  // leaves that go to the last inner page
  Buffer last_inner_ = InvalidBuffer;
  Buffer new_inner_ = InvalidBuffer;
  Buffer root_ = InvalidBuffer;
};

void MergeStep::write_leaves(uint32_t budget) {
  scratch_begin();
  const Entry from = run_hi(out_);
  MergeInputs inputs;
  inputs.init();
  for (int i = 0; i < directory_.nruns; ++i) {
    const RunSlot& run = directory_.runs[i];
    if (is_input(run)) inputs.add(index_, run, std::max(run_lo(run), from));
  }
  leaves_ = static_cast<LeafWriter*>(palloc(sizeof(LeafWriter)));
  *leaves_ = LeafWriter();
  leaves_->init(index_, &directory_, out_.id, out_.leaves, budget);
  // `from` follows the last entry written: its list may go on.
  if (from.key != kRosterKey) leaves_->resume(from.key, key_list_length(index_, out_, from.key));
  while (exhausted_ && inputs.read_on()) {
    const EntrySlice piece = inputs.next_piece();
    exhausted_ = leaves_->add(piece.entries, piece.n);
    if (leaves_->disordered()) inputs.report_disorder();
  }
  leaves_->finish();
  moved_ = exhausted_ ? kBeyondEntry : successor(leaves_->last());  // a step writes a leaf at least
}

void MergeStep::find_freed() {
  freed_ = static_cast<BlockList*>(palloc0(sizeof(BlockList) * kMaxRuns));
  for (int i = 0; i < directory_.nruns; ++i) {
    const RunSlot& run = directory_.runs[i];
    if (is_input(run)) freed_[i] = blocks_below(index_, run, moved_, run_hi(run) <= moved_);
  }
}

void MergeStep::link() {
  choose_pages();
  MetaChange change;
  change.lock(index_);
  lock_pages();
  change.start(index_);
  RunSlot* run = find_run(change.meta, out_.id);
  link_leaves(change.state, run);
  move_bounds(change.meta, run);
  change.finish();
  for (Buffer buffer : {root_, last_inner_, new_inner_})
    if (buffer != InvalidBuffer) UnlockReleaseBuffer(buffer);
}

void MergeStep::choose_pages() {
  if (out_.height == 1) return;
  if (room_.last_inner != InvalidBlockNumber) into_last_ = Min(leaves_->count(), kMaxChildren - room_.inner_n);
  if (into_last_ < leaves_->count()) new_inner_ = alloc_page(index_, directory_);
}

void MergeStep::lock_pages() {
  const bool changes_root = out_.height == 1 ? leaves_->count() != 0 : new_inner_ != InvalidBuffer;
  if (changes_root) root_ = lock_exclusively(index_, out_.root);
  if (into_last_ != 0) last_inner_ = lock_exclusively(index_, room_.last_inner);
}

void MergeStep::link_leaves(GenericXLogState* state, RunSlot* run) const {
  const Child* children = leaves_->children();
  const uint32_t written = leaves_->count();
  Page root = root_ == InvalidBuffer ? nullptr : GenericXLogRegisterBuffer(state, root_, 0);
  if (out_.height == 1) {
    add_children(root, children, written);
    return;
  }
  if (last_inner_ != InvalidBuffer)
    add_children(GenericXLogRegisterBuffer(state, last_inner_, 0), children, into_last_);
  if (new_inner_ == InvalidBuffer) return;
  Page page = GenericXLogRegisterBuffer(state, new_inner_, GENERIC_XLOG_FULL_IMAGE);
  init_inner(page, out_.id, out_.inners, 1);
  add_children(page, children + into_last_, written - into_last_);
  add_child(root, {BufferGetBlockNumber(new_inner_), children[into_last_].first});
  ++run->inners;
}

void MergeStep::move_bounds(LshMeta* meta, RunSlot* run) const {
  add_counts(run, leaves_->counts());
  run->leaves += leaves_->count();
  run->hi = pack_entry(moved_);
  if (exhausted_) run->state = kLive;
  if (exhausted_ && run->leaves == 0) remove_run(meta, out_.id);
  for (int i = meta->nruns - 1; i >= 0; --i) {
    RunSlot& input = meta->runs[i];
    if (!is_input(input)) continue;
    if (run_hi(input) <= moved_)
      remove_run(meta, input.id);
    else if (run_lo(input) < moved_)
      input.lo = pack_entry(moved_);
  }
}

void MergeStep::give_back_freed() const {
  FreedRange range;
  for (int i = 0; i < directory_.nruns; ++i)
    for (uint32_t b = 0; b < freed_[i].n; ++b) range.add(index_, freed_[i].blocks[b]);
  range.publish(index_);
}

}  // namespace

int start_merge(Relation index, const uint8_t* units, int nunits) {
  const LshMeta* directory = copy_meta(index);
  const auto among = [&](uint8_t unit) { return std::find(units, units + nunits, unit) != units + nunits; };
  uint64_t leaves = 0;
  int inputs = 0;
  for (int i = 0; i < directory->nruns; ++i) {
    const RunSlot& run = directory->runs[i];
    if (run.state == kBuilding || !among(run.unit)) continue;
    if (run.state != kLive)
      elog(ERROR, "unit %u of index \"%s\" is being merged", run.unit, RelationGetRelationName(index));
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

bool merge_step(Relation index, uint8_t unit, uint32_t budget) {
  const LshMeta* directory = copy_meta(index);
  const RunSlot* out = nullptr;
  uint64_t least_id = ~uint64_t{0};
  for (int i = 0; i < directory->nruns; ++i) {
    const RunSlot& run = directory->runs[i];
    if (run.unit != unit || run.state == kBuilding) continue;
    if (run.state == kOutput) out = &run;
    least_id = Min(least_id, run.id);
  }
  if (out == nullptr) return true;  // finished by another
  const bool guarded = acquire_lock(index, IndexLock::vacuum, ShareLock, false);
  if (!guarded && least_id < directory->vac_horizon) return false;
  const OutputRoom room = output_room(index, *out);
  const uint32_t most = room.leaves(*out);
  bool moved = true;
  if (most == 0) {
    moved = directory->nruns < kMaxRuns;
    if (moved) begin_sibling(index, *directory, *out);
  } else {
    MergeStep(index, *directory, *out, room).run(Min(Min(Max(budget, 1u), kMaxBudget), most));
  }
  if (guarded) release_lock(index, IndexLock::vacuum, ShareLock);
  return moved;
}

}  // namespace neardup
