// Maintenance: when pending pages become runs and runs are merged, and the merge itself, step by step.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Adds free-standing work to an index that is not being scanned for it: flushes closed pending pages into a run and takes
// merge steps, for some 8 ms. False when another backend is at it (only without wait).
bool maintain(Relation index, bool wait);

// Reports an index without room for rows: nothing more can be flushed, and merging would not make its runs fewer.
void check_room(Relation index);

// Flushes all and fixes the horizon: runs with lower ids stay where they are while the caller holds the vacuum lock
// exclusively. Returns the horizon.
uint64_t begin_vacuum(Relation index);

// Starts merging these live units into one (all runs of each unit move). Under the maintenance lock. The unit, or -1: the
// directory is full.
int start_merge(Relation index, const uint8_t* units, int nunits);
// One step of the unit that is being merged: writes at most `budget` leaves. False when it cannot go on now: the vacuum
// lock is not to be had and the unit holds runs below the horizon, or the directory has no slot for a sibling.
bool merge_step(Relation index, uint8_t unit, uint32_t budget);

}  // namespace neardup
