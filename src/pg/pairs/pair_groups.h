// Searches among rows that only some others may be near: rows with equal keys (within), rows near in time (at).
#pragma once

#include "core/pairs/pair_collector.h"
#include "pg/pairs/pair_rows.h"

namespace neardup {

// Searches the sorted rows of both sides, and ends their sorts. Returns the pairs; *left_out: as SearchStats.
Owned<PairCollector>* search_groups(PairRows* rows, uint64* left_out);

}  // namespace neardup
