// Values by row number, within a limit of memory.
#pragma once

#include "pg/base/scratch_file.h"

namespace neardup {

// Values by row number: ids, documents. By-value ones stay in memory; others too until they outgrow their share, then
// in a temporary file.
struct IdStore {
  Oid type;
  Oid collation;
  int16 length;
  bool by_value;
  MemoryContext context;
  uint64 count;
  uint64 capacity;
  Datum* values;      // by value
  uint64* offsets;    // by reference: where each id begins
  char* bytes;        // by reference, in memory
  uint64 bytes_used;  // there, or in the file
  uint64 bytes_capacity;
  uint64 bytes_limit;
  ScratchFile scratch;  // by reference, all of them once they outgrow bytes_limit
  char* one;            // id that was read back
  uint64 one_capacity;
};

IdStore* make_ids(MemoryContext context, Oid type, Oid collation, uint64 bytes_limit);
void add_id(IdStore* ids, Datum id);
// Valid until the next call on the same store, and only for `row` < count.
Datum id_at(IdStore* ids, uint64 row);
// The same, but valid until the next call with the same `copies`, which holds nothing else.
Datum kept_id(IdStore* ids, uint64 row, MemoryContext copies);
void free_ids(IdStore* ids);

// The shares of maintenance_work_mem that one call gives to its ids and to the engine beside them, and to a sort, in
// kB.
uint64 ids_memory();
size_t engine_memory();
int sort_memory();

}  // namespace neardup
