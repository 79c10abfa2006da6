// Merging runs in steps, each one atomic change of the directory. Under the maintenance lock.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

inline constexpr uint32_t kLeastBudget = 48;  // leaves of a step

// Starts merging these live units into one (all runs of each unit move). The unit, or -1: the directory is full.
int start_merge(Relation index, const uint8_t* units, int nunits);
// One step of the unit that is being merged: writes at most `budget` leaves. False when it cannot go on now: the vacuum
// lock is not to be had and the unit holds runs below the horizon, or the directory has no slot for a sibling.
bool merge_step(Relation index, uint8_t unit, uint32_t budget);

}  // namespace neardup
