// Taking the rows of an index build: parameters that all processes agree on, keys, sorted chunks.
#pragma once

#include "core/lsh/entry_sort.h"
#include "pg/base/context.h"
#include "pg/lsh/write/build_chunks.h"

extern "C" {
#include "storage/condition_variable.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
}

namespace neardup {

// The result of one process.
struct BuildShare {
  uint32 binding;  // the number of the parameters that its rows were made by
  uint32 nchunks;
  uint64 blocks;  // of its file
  uint64 entries;
  double rows;

  // True if the rows count in a build that ended with parameters number `last`. Rows of binding 0 have no values at
  // all.
  bool holds(uint32 last) const { return binding == last || binding == 0; }
};

// The parameters and rules of a build before its scan.
struct BuildStart {
  LshConfig unbound;  // flags alone
  bool bound;         // to the parameters of a live row, in config
  LshConfig config;
  bool dead_may_bind;
  bool concurrent;
};

// The shared state of a build's processes; of a serial build, in local memory.
struct BuildShared {
  // Does not change.
  Oid heap;
  Oid index;
  BuildStart start;
  int requested;  // processes that maintenance_work_mem is shared by, the leader included
  decltype(pgstat_get_my_query_id()) query_id;
  SharedFileSet files;
  ConditionVariable done;

  slock_t mutex;  // for what follows
  // The parameters are those of the first row; in an index of several columns, where rows without a value are taken
  // too, those of the first live one, so that no row is ever forgotten. While no live row was made by them, one that
  // was made by others replaces them: the rows before it are dead, and all who could still see them are kept from using
  // the index. That is not done where an index is built again: there the scan begins with the parameters of a live row,
  // and where no live row has a value, the first dead one decides.
  volatile uint32 binding;  // 0: none yet; grows with each replacement. Read without the mutex, too
  bool confirmed;           // a live row was made by them
  LshConfig config;
  int ndone;
  double heap_rows;
  bool broken_hot_chain;
  BuildShare shares[FLEXIBLE_ARRAY_MEMBER];  // 0: the leader; then the workers. Behind it the parallel scan
};

struct Builder {
  static constexpr size_t kBlockEntries = 256;

  BuildShared* shared;
  int number;         // of its share
  bool shares_files;  // others read its chunks
  MemoryContext context;
  MemoryContext row_context;
  bool detoast;
  Owned<EntryChunk>* chunk;
  ChunkWriter* writer;  // null before the first chunk was written
  BufFile* file;
  Entry* block;

  // These are of the rows taken so far.
  uint32 binding;
  bool confirmed;
  LshConfig config;
  double rows;
  uint64 entries;
  bool skipped;  // dead rows made by other parameters
};

// In the current memory context, all of it. memory: bytes, for the chunk.
void init_builder(Builder* b, BuildShared* shared, int number, Relation index, size_t memory);

// Takes a row of the scan; state: the Builder. An IndexBuildCallback.
void build_row(Relation index, ItemPointer tid, Datum* values, bool* nulls, bool alive, void* state);

// At the end of the scan: leaves out rows made by parameters that were replaced.
void end_rows(Builder* b);

// Sorts the rows that are in memory, for write_chunk().
void sort_chunk(Builder* b);

template <class Out>
void write_chunk(Builder* b, Out* out) {
  while (const size_t n = b->chunk->object->read(b->block, Builder::kBlockEntries)) out->add(b->block, n);
}

// Sorts them and writes them as a chunk.
void spill(Builder* b);

void chunk_file_name(char (&name)[32], int number);

}  // namespace neardup
