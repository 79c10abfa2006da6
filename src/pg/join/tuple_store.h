// Rows by number, as minimal tuples: in memory up to a limit, the later ones in a temporary file.
#pragma once

#include "pg/base/scratch_file.h"

extern "C" {
#include "executor/tuptable.h"
}

namespace neardup {

struct TupleStore {
  MemoryContext context;
  uint64 count;
  MinimalTuple* held;  // the first rows
  uint64 num_held;
  uint64 held_capacity;
  uint64 bytes_held;
  char* chunk;  // where the next tuple goes
  Size chunk_left;
  Size chunk_bytes;
  ScratchFile scratch;  // without a file while all rows are held
  uint64* offsets;
  uint64 offsets_capacity;
};

// The memory that a tuple is read back into; zeroed before its first use.
struct TupleBuffer {
  char* bytes;
  uint64 capacity;
};

TupleStore* make_tuples(MemoryContext parent);
void free_tuples(TupleStore* store);

// limit: of bytes in memory.
void add_tuple(TupleStore* store, TupleTableSlot* slot, uint64 limit);

// Valid until the next call with this buffer. row: below count.
MinimalTuple tuple_at(TupleStore* store, uint64 row, TupleBuffer* buffer);

}  // namespace neardup
