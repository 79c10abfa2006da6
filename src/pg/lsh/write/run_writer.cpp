// See run_writer.h.
#include "pg/lsh/write/run_writer.h"
#include "pg/lsh/store/lsh_page.h"

extern "C" {
#include "access/xloginsert.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"
}

namespace neardup {

void FreedRange::add(Relation index, BlockNumber block) {
  RecordFreeIndexPage(index, block);
  if (least == InvalidBlockNumber || block < least) least = block;
  if (block > most) most = block;
}

void FreedRange::publish(Relation index) const {
  if (least != InvalidBlockNumber) FreeSpaceMapVacuumRange(index, least, most + 1);
}

void finish_new_page(Relation index, Buffer buffer, const PGAlignedBlock* image) {
  START_CRIT_SECTION();
  memcpy(BufferGetPage(buffer), image->data, BLCKSZ);
  MarkBufferDirty(buffer);
  if (RelationNeedsWAL(index)) log_newpage_buffer(buffer, true);
  END_CRIT_SECTION();
}

void LeafWriter::write_leaf() {
  CHECK_FOR_INTERRUPTS();
  PGAlignedBlock image;
  Page page = reinterpret_cast<Page>(image.data);
  init_lsh_page(page, kLeafPage, owner_, ordinal_++);
  children_[n_].first = packer_->first();
  reinterpret_cast<PageHeader>(page)->pd_lower += static_cast<LocationIndex>(packer_->write(page_body(page)));
  Buffer buffer = alloc_page(index_, *directory_);
  finish_new_page(index_, buffer, &image);
  children_[n_++].block = BufferGetBlockNumber(buffer);
  UnlockReleaseBuffer(buffer);
}

void add_child(Page page, const Child& child) {
  InnerPage* inner = static_cast<InnerPage*>(page_body(page));
  inner->child[inner->n] = child.block;
  inner->first[inner->n] = pack_entry(child.first);
  ++inner->n;
  reinterpret_cast<PageHeader>(page)->pd_lower += static_cast<LocationIndex>(sizeof(PackedEntry));
}

void init_inner(Page page, uint64_t owner, uint32_t ordinal, uint16_t level) {
  init_lsh_page(page, kInnerPage, owner, ordinal);
  InnerPage* inner = static_cast<InnerPage*>(page_body(page));
  inner->n = 0;
  inner->level = level;
  inner->pad = 0;
}

uint8_t free_unit(const LshMeta& meta) {
  bool used[256] = {};
  for (int i = 0; i < meta.nruns; ++i) used[meta.runs[i].unit] = true;
  for (int unit = 0;; ++unit)
    if (!used[unit]) return static_cast<uint8_t>(unit);
}

void remove_run(LshMeta* meta, uint64_t id) {
  for (int i = 0; i < meta->nruns; ++i) {
    if (meta->runs[i].id != id) continue;
    memmove(&meta->runs[i], &meta->runs[i + 1], sizeof(RunSlot) * (meta->nruns - i - 1));
    --meta->nruns;
    memset(&meta->runs[meta->nruns], 0, sizeof(RunSlot));
    return;
  }
}

RunSlot* add_run(LshMeta* meta, RunState state) {
  if (meta->nruns >= kMaxRuns) elog(ERROR, "the directory of an lsh index is full");
  RunSlot* run = &meta->runs[meta->nruns++];
  memset(run, 0, sizeof *run);
  run->id = meta->next_id++;
  run->state = state;
  run->height = 1;
  run->lo = pack_entry(kLeastEntry);
  run->hi = pack_entry(state == kLive ? kBeyondEntry : kLeastEntry);
  return run;
}

}  // namespace neardup
