// Flushing: the rows of closed pending pages become a sorted run.
#include <algorithm>

#include "pg/lsh/write/run_writer.h"
#include "pg/lsh/store/run_reader.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/write/lsh_flush.h"

namespace neardup {
namespace {

// Stable, by the 40 bits of the key: 4 digits of 10 bits. The result is in `a`.
void sort_by_key(Entry* a, Entry* scratch, size_t n) {
  constexpr unsigned kKeyDigitBits = 10;
  constexpr unsigned kKeyDigits = 1u << kKeyDigitBits;
  for (unsigned pass = 0; pass < kKeyBits / kKeyDigitBits; ++pass) {
    size_t count[kKeyDigits] = {};
    const unsigned shift = pass * kKeyDigitBits;
    for (size_t i = 0; i < n; ++i) ++count[a[i].key >> shift & (kKeyDigits - 1)];
    size_t before = 0;
    for (size_t& c : count) {
      const size_t here = c;
      c = before;
      before += here;
    }
    for (size_t i = 0; i < n; ++i) scratch[count[a[i].key >> shift & (kKeyDigits - 1)]++] = a[i];
    std::swap(a, scratch);
  }
}

struct Gathered {
  PendingRowView* rows;
  uint32_t nrows;
  uint32_t capacity;
  uint64_t nkeys;
};

void gather_row(const PendingRowView& row, Gathered* out) {
  if (out->nrows == out->capacity) {
    out->capacity = Max(1024, 2 * out->capacity);
    const Size bytes = sizeof(PendingRowView) * out->capacity;
    out->rows = static_cast<PendingRowView*>(out->rows == nullptr ? palloc(bytes) : repalloc(out->rows, bytes));
  }
  out->rows[out->nrows++] = row;
  out->nkeys += row.nkeys;
}

// The row in the form that it would have in a pending page.
void gather_large_row(const LargeRow& row, Gathered* out) {
  auto* keys = static_cast<uint8_t*>(palloc(kPendingKeyBytes * row.nkeys));
  for (uint32_t i = 0; i < row.nkeys; ++i) put_pending_key(row.keys[i], keys + kPendingKeyBytes * i);
  gather_row({row.tid, keys, row.nkeys}, out);
}

void gather_page(Relation index, const PendingSlot& slot, Gathered* out) {
  Buffer buffer;
  if (lock_page(index, slot.block, slot.id, kPendingPage, nullptr, &buffer) != PageState::good)
    report_corrupt(index, slot.block, "a pending page is not there");
  PGAlignedBlock* copy = static_cast<PGAlignedBlock*>(scratch_alloc(sizeof(PGAlignedBlock)));
  memcpy(copy->data, BufferGetPage(buffer), BLCKSZ);
  UnlockReleaseBuffer(buffer);
  PendingReader reader;
  reader.open(reinterpret_cast<Page>(copy->data));
  PendingRowView row;
  while (reader.next(index, slot.block, &row)) gather_row(row, out);
}

struct SortedEntries {
  Entry* entries;
  size_t n;
};

SortedEntries sort_entries(const Gathered& gathered) {
  std::sort(gathered.rows, gathered.rows + gathered.nrows,
            [](const PendingRowView& a, const PendingRowView& b) { return a.tid < b.tid; });
  const size_t total = gathered.nrows + gathered.nkeys;
  Entry* entries = static_cast<Entry*>(scratch_alloc(sizeof(Entry) * Max(total, 1)));
  Entry* scratch = static_cast<Entry*>(scratch_alloc(sizeof(Entry) * Max(total, 1)));
  size_t at = 0;
  for (uint32_t i = 0; i < gathered.nrows; ++i) {
    const PendingRowView& row = gathered.rows[i];
    entries[at++] = {kRosterKey, row.tid};
    for (uint32_t k = 0; k < row.nkeys; ++k) entries[at++] = {pending_key(row.keys, k), row.tid};
  }
  sort_by_key(entries, scratch, total);
  return {entries, total};
}

// Draws the id of a run that is being built, the last one of the directory that is read then: from now on its pages are
// not free.
void begin_run(Relation index, LshMeta* directory) {
  MetaChange change;
  change.begin(index);
  add_run(change.meta, kBuilding)->unit = free_unit(*change.meta);
  change.finish();
  read_meta(index, directory);
}

const LeafWriter* write_leaves(Relation index, const LshMeta& directory, uint64_t id, const SortedEntries& sorted) {
  LeafWriter* leaves = static_cast<LeafWriter*>(palloc(sizeof(LeafWriter)));
  *leaves = LeafWriter();
  leaves->init(index, &directory, id, 0, kMaxChildren);
  // A TID may come twice: its first row died, unseen by the vacuum that freed it.
  if (!leaves->add(sorted.entries, sorted.n))
    elog(ERROR, "a flush of index \"%s\" does not fit", RelationGetRelationName(index));
  leaves->finish();
  return leaves;
}

BlockNumber write_root(Relation index, const LshMeta& directory, uint64_t id, const LeafWriter& leaves) {
  PGAlignedBlock image;
  Page page = reinterpret_cast<Page>(image.data);
  init_inner(page, id, 0, 1);
  for (uint32_t i = 0; i < leaves.count(); ++i) add_child(page, leaves.children()[i]);
  Buffer root = alloc_page(index, directory);
  finish_new_page(index, root, &image);
  const BlockNumber block = BufferGetBlockNumber(root);
  UnlockReleaseBuffer(root);
  return block;
}

// Makes the run live, and takes the first n pending pages, whose rows it has, off the directory.
void link_run(Relation index, const LshMeta& directory, uint32_t n, const RunSlot& built, BlockNumber root,
              const LeafWriter& leaves) {
  MetaChange change;
  change.begin(index);
  LshMeta* meta = change.meta;
  RunSlot* run = find_run(meta, built.id);
  if (run == nullptr || meta->npending < n || (n != 0 && meta->pending[n - 1].id != directory.pending[n - 1].id))
    elog(ERROR, "the directory of index \"%s\" changed under the maintenance lock", RelationGetRelationName(index));
  run->state = kLive;
  run->hi = pack_entry(kBeyondEntry);
  add_counts(run, leaves.counts());
  run->root = root;
  run->leaves = leaves.count();
  run->inners = 0;
  run->unit = built.unit;
  memmove(meta->pending, meta->pending + n, sizeof(PendingSlot) * (meta->npending - n));
  meta->npending = static_cast<uint16_t>(meta->npending - n);
  memset(meta->pending + meta->npending, 0, sizeof(PendingSlot) * n);
  change.finish();
}

void free_pending(Relation index, const LshMeta& directory, uint32_t n) {
  FreedRange freed;
  for (uint32_t i = 0; i < n; ++i) freed.add(index, directory.pending[i].block);
  freed.publish(index);
}

}  // namespace

void drop_building(Relation index, const LshMeta& directory) {
  bool any = false;
  for (int i = 0; i < directory.nruns; ++i) any |= directory.runs[i].state == kBuilding;
  if (!any) return;
  MetaChange change;
  change.begin(index);
  for (int i = change.meta->nruns - 1; i >= 0; --i)
    if (change.meta->runs[i].state == kBuilding) remove_run(change.meta, change.meta->runs[i].id);
  change.finish();
}

uint32_t flush(Relation index, uint32_t n, const LargeRow* large) {
  if (n == 0 && large == nullptr) return 0;
  scratch_begin();
  LshMeta* directory = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  begin_run(index, directory);
  const RunSlot& built = directory->runs[directory->nruns - 1];
  Gathered gathered{};
  for (uint32_t i = 0; i < n; ++i) {
    CHECK_FOR_INTERRUPTS();
    gather_page(index, directory->pending[i], &gathered);
  }
  if (large != nullptr) gather_large_row(*large, &gathered);
  const LeafWriter* leaves = write_leaves(index, *directory, built.id, sort_entries(gathered));
  const BlockNumber root = write_root(index, *directory, built.id, *leaves);
  link_run(index, *directory, n, built, root, *leaves);
  free_pending(index, *directory, n);
  return leaves->count();
}

void flush_all(Relation index, bool even_crowded) {
  LshMeta* directory = copy_meta(index);
  drop_building(index, *directory);
  read_meta(index, directory);
  if (directory->npending == 0 || (!even_crowded && directory->nruns >= kCrowded)) return;
  // Close the tail. An inserter may add another meanwhile, which then stays.
  const PendingSlot tail = directory->pending[directory->npending - 1];
  Buffer buffer = read_linked(index, tail.block);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  Page page = BufferGetPage(buffer);
  if (!is_page_of_owner(page, tail.id, kPendingPage)) report_corrupt(index, tail.block, "a pending page is not there");
  if (page_tail(page)->kind == kPendingPage) {
    GenericXLogState* state = GenericXLogStart(index);
    page_tail(GenericXLogRegisterBuffer(state, buffer, 0))->kind = kPendingPage | kClosed;
    GenericXLogFinish(state);
  }
  UnlockReleaseBuffer(buffer);
  flush(index, directory->npending, nullptr);
}

}  // namespace neardup
