// Pairs where only rows of one group match: rows with equal keys.
#pragma once

#include "pg/join/join_pairs.h"

namespace neardup {

// Fills rows->pairs: of each group the near pairs that the engine finds, or all, where it cannot tell. Where all are
// too many, every_pair is set instead.
void search_join_groups(JoinRows* rows, const RowValues& values);

}  // namespace neardup
