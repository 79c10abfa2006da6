// Pending pages into runs. Under the maintenance lock.
#pragma once

#include "pg/lsh/lsh.h"
#include "pg/base/pg.h"

namespace neardup {

// Forgets runs whose flush did not end.
void drop_building(Relation index, const LshMeta& directory);
// A row with more keys than a pending page takes.
struct LargeRow {
  uint64_t tid;
  const uint64_t* keys;  // ascending
  uint32_t nkeys;
};
// Moves the first n pending pages, all closed, and this row, if there is one, into a new run. Returns the number of its
// leaves.
uint32_t flush(Relation index, uint32_t n, const LargeRow* large);
// Closes the open pending page and flushes all; in a crowded directory only if it has to be.
void flush_all(Relation index, bool even_crowded);

}  // namespace neardup
