// Maintenance: when pending pages become runs, and when runs are merged.
#pragma once

#include "pg/base/pg.h"
#include "pg/lsh/write/lsh_flush.h"

namespace neardup {

// Flushes closed pending pages into a run and takes merge steps, for about 8 ms. False when another backend is at it
// (only without wait).
bool maintain(Relation index, bool wait);

// Adds a row that is too large for a pending page: a flush takes it.
void insert_large_row(Relation index, const LargeRow& row);

// Reports an index without room for rows: nothing more can be flushed, and merging would not make its runs fewer.
void check_room(Relation index);

// Flushes all and fixes the horizon: runs with lower ids stay where they are while the caller holds the vacuum lock
// exclusively. Returns the horizon.
uint64_t begin_vacuum(Relation index);

}  // namespace neardup
