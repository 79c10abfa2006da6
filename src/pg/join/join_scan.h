// The executor's node of a similarity join.
#pragma once

#include "pg/join/join_pairs.h"
#include "pg/join/join_keys.h"

extern "C" {
#include "executor/executor.h"
}

namespace neardup {

struct JoinState {
  CustomScanState scan;
  JoinSearch search;
  int outer_columns;
  int inner_columns;
  ExprState* outer_value;
  ExprState* inner_value;
  KeyHasher* outer_keys;  // null: rows are not grouped
  KeyHasher* inner_keys;
  ExprState* bound;
  ExprState* conditions;       // under which rows match
  TupleTableSlot* outer_slot;  // of kept rows
  TupleTableSlot* inner_slot;
  MemoryContext context;  // of:
  JoinRows* rows;         // null: not read yet

  // Where the node is: at this outer row, which has met a partner or not.
  uint64 outer;
  bool is_open;
  bool has_matched;

  // EXPLAIN shows these numbers of the last run.
  uint64 outer_read;
  uint64 inner_read;
  SearchStats stats;
};

// Keeps for EXPLAIN what has been done so far.
void note_work(JoinState* join);

}  // namespace neardup
