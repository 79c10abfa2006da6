// Pending pages into runs. Under the maintenance lock.
#pragma once

#include "pg/lsh/lsh.h"
#include "pg/base/pg.h"

namespace neardup {

// Forgets runs whose flush did not end.
void drop_building(Relation index, const LshMeta& directory);
// Moves the first n pending pages, all closed, into a new run. Returns the number of its leaves.
uint32_t flush(Relation index, uint32_t n);
// Closes the open pending page and flushes all; in a crowded directory only if it has to be.
void flush_all(Relation index, bool even_crowded);

}  // namespace neardup
