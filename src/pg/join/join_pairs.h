// The pairs of rows that may match, in the order of the outer rows.
#pragma once

#include "pg/join/join_rows.h"

namespace neardup {

// The value of a kept row, in memory that lives until the next call; false where it is NULL.
struct RowValues {
  void* of;
  bool (*value)(void* of, JoinSide* side, uint64 row, Datum* value);
};

// Both sides must have been read to the end.
void find_join_pairs(JoinRows* rows, const RowValues& values);
// The next partner is that of the first outer row again.
void rewind_join_pairs(JoinRows* rows);

// The next outer row from this one on: of all that are kept, or of those that may match; false at the end.
bool next_outer(JoinRows* rows, uint64 from, uint64* outer);
// The next inner row that may match this outer row; false where there is none.
bool next_partner(JoinRows* rows, uint64 outer, uint64* inner);
// Passes over the rest of its partners.
void pass_partners(JoinRows* rows, uint64 outer);

SearchStats join_stats(const JoinRows* rows);

}  // namespace neardup
