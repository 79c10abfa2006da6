// Units of a directory, and which of them are merged next.
#pragma once

#include "pg/lsh/lsh.h"

namespace neardup {

// Runs of one number, which hold the same rows.
struct Unit {
  uint8_t number;
  bool merging;
  uint64_t rows;
  uint64_t size;       // in rows: kUsualEntries
  uint64_t most_size;  // of one run: the class of a unit that is being merged
  uint64_t least_id;
  uint64_t leaves;
  int runs;
  int full;  // of them, those that are as large as runs get: merging would write them again for nothing
};

// The directory's units, at most kMaxRuns. Returns how many.
int list_units(const LshMeta& meta, Unit* out);

int full_runs(const LshMeta& meta);
// Slots in use that a vacuum may begin with: half of those that full runs leave.
int roomy(const LshMeta& meta);

// True if maintenance can still make the runs fewer, now or when a vacuum has ended.
bool can_shrink(const LshMeta& meta);

// Numbers of the live units to merge next, at most kMaxRuns; returns how many, 0: none is due. vacuum_works: units that
// hold runs below its horizon are left alone. for_vacuum: merging is forced until a vacuum has room to begin, else in a
// crowded directory.
int units_due(const LshMeta& meta, bool vacuum_works, bool for_vacuum, uint8_t* chosen);

}  // namespace neardup
