// See row_builder.h.
#include "pg/lsh/write/row_builder.h"
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/stored_keys.h"

namespace neardup {

void init_builder(Builder* b, BuildShared* shared, int number, Relation index, size_t memory) {
  memset(b, 0, sizeof *b);
  b->shared = shared;
  b->number = number;
  b->context = CurrentMemoryContext;
  b->row_context = AllocSetContextCreate(CurrentMemoryContext, "lsh build row", ALLOCSET_DEFAULT_SIZES);
  b->detoast = TupleDescAttr(RelationGetDescr(index), value_column(index))->attlen == -1;
  // A part is for what grows with the chunk elsewhere, in the allocator above all.
  b->chunk = make_owned<EntryChunk>(CurrentMemoryContext,
                                    [memory](PgStop*, PgTempFiles*) { return new EntryChunk(memory - memory / 16); });
  b->block = static_cast<Entry*>(palloc(sizeof(Entry) * Builder::kBlockEntries));
}

void chunk_file_name(char (&name)[32], int number) { snprintf(name, sizeof name, "lsh.%d", number); }

void sort_chunk(Builder* b) {
  call_core([b] {
    Poller poller(b->chunk->stop);
    b->chunk->object->sort(poller);
  });
}

void spill(Builder* b) {
  sort_chunk(b);
  MemoryContext old = MemoryContextSwitchTo(b->context);
  if (b->writer == nullptr) {
    char name[32];
    chunk_file_name(name, b->number);
    b->file = b->shares_files ? create_shared_file(&b->shared->files, name) : BufFileCreateTemp(false);
    b->writer = static_cast<ChunkWriter*>(palloc(sizeof(ChunkWriter)));
    b->writer->init(b->file);
  }
  write_chunk(b, b->writer);
  b->writer->end_chunk();
  b->chunk->object->clear();
  MemoryContextSwitchTo(old);
}

namespace {

// Leaves out the rows taken so far: others were made by other parameters, and these are dead.
void forget_rows(Builder* b) {
  b->skipped |= b->rows != 0;
  b->chunk->object->clear();
  if (b->writer != nullptr) b->writer->forget_chunks();
  b->rows = 0;
  b->entries = 0;
}

void adopt_binding(Builder* b) {
  BuildShared* shared = b->shared;
  if (b->binding != 0) forget_rows(b);
  SpinLockAcquire(&shared->mutex);
  b->binding = shared->binding;
  b->confirmed = shared->confirmed;
  b->config = shared->config;
  SpinLockRelease(&shared->mutex);
}

// Binds the parameters to this value's, in place of binding number `old`, unless another was faster.
void replace_binding(Builder* b, Relation index, Datum value, uint32 old, bool alive) {
  BuildShared* shared = b->shared;
  LshConfig config = shared->start.unbound;
  bind_config(index, value, &config);
  SpinLockAcquire(&shared->mutex);
  if (shared->binding == old && (old == 0 || !shared->confirmed)) {
    shared->binding = old + 1;
    shared->confirmed = alive;
    shared->config = config;
  }
  SpinLockRelease(&shared->mutex);
}

// True if the row is to be indexed. An error for a live row that was made by other parameters than another one.
bool accept(Builder* b, Relation index, Datum value, bool alive) {
  BuildShared* shared = b->shared;
  const bool several = value_column(index) != 0;
  for (;;) {
    if (b->binding != shared->binding) adopt_binding(b);
    if (b->binding == 0 && !alive && several && !shared->start.dead_may_bind) {
      b->skipped = true;
      return false;
    }
    if (b->binding == 0) {
      replace_binding(b, index, value, 0, alive || shared->start.dead_may_bind);
      continue;
    }
    const bool match = value_matches(index, value, &b->config);
    if (match && (!alive || b->confirmed)) return true;
    if (!match && !alive) {
      b->skipped = true;
      return false;
    }
    SpinLockAcquire(&shared->mutex);
    const bool current = shared->binding == b->binding;
    if (current && match) shared->confirmed = true;
    if (current) b->confirmed = shared->confirmed;
    SpinLockRelease(&shared->mutex);
    if (!current) continue;
    if (match) return true;
    if (b->confirmed) {
      check_value(index, value, &b->config);
      elog(ERROR, "the operator class of index \"%s\" contradicts itself", RelationGetRelationName(index));
    }
    replace_binding(b, index, value, b->binding, true);
  }
}

void add_row(Builder* b, uint64_t tid, const StoredKeys& keys) {
  while (!b->chunk->object->add(tid, keys.keys, keys.n)) {
    bool grown = false;
    call_core([&] {
      Poller poller(b->chunk->stop);
      grown = b->chunk->object->grow(keys.n, poller);
    });
    if (!grown) spill(b);
  }
  b->rows += 1;
  b->entries += keys.n + 1;
}

}  // namespace

void build_row(Relation index, ItemPointer tid, Datum* values, bool* nulls, bool alive, void* state) {
  Builder* b = static_cast<Builder*>(state);
  const int column = value_column(index);
  if (column == 0 && nulls[0]) return;
  MemoryContext old = MemoryContextSwitchTo(b->row_context);
  if (b->detoast && !nulls[column]) values[column] = PointerGetDatum(PG_DETOAST_DATUM(values[column]));
  IndexedRow row;
  indexed_row(index, values, nulls, &row);
  // Unsorted: the sort and the packer see to that.
  if (!row.has_value || accept(b, index, row.value, alive))
    add_row(b, pack_tid(*tid), unsorted_keys(index, row, &b->config));
  MemoryContextSwitchTo(old);
  MemoryContextReset(b->row_context);
}

void end_rows(Builder* b) {
  if (b->binding != b->shared->binding && b->binding != 0) forget_rows(b);
}

}  // namespace neardup
