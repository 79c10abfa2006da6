// Pairs where only rows of one group match: rows with equal keys.
#pragma once

#include "pg/join/join_pairs.h"

namespace neardup {

// Into rows->pairs. Where rows of a group have signatures that cannot be compared, every_pair is set instead.
void search_join_groups(JoinRows* rows, const RowValues& values);

}  // namespace neardup
