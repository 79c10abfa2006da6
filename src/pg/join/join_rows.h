// The state of a similarity join while it runs: the rows of both sides, and the engine that finds near ones.
#pragma once

#include "core/pairs/pair_collector.h"
#include "core/pairs/pair_search.h"
#include "pg/base/context.h"
#include "pg/join/join_condition.h"
#include "pg/join/tuple_store.h"
#include "pg/pairs/signature.h"

namespace neardup {

struct JoinSearch {
  // True if the engine finds a pair of rows of one table both ways by itself.
  bool is_directed() const { return neardup::is_directed(measure); }

  Measure measure;
  JoinBound bound_from;
  const double* bound;  // null: it is NULL
  JoinType type;
  bool is_self;       // the rows of the inner side are those of the outer one
  bool omits_itself;  // of a self-join: no row matches itself
  bool is_grouped;    // only rows of one group match
  bool inner_first;   // the inner side is read first
};

// The rows of one side. They have the numbers of their tuples.
struct JoinSide {
  TupleStore* tuples;  // of rows that may match, or of all
  bool keeps_all;
  uint64 read;
  uint32* row_of;  // engine row -> row; null while they are the same
  uint64 engine_rows;
  uint64 capacity;               // of row_of
  Owned<PairCollector>* groups;  // (group, row) of those that are of one; null where there are none
};

// The groups that may occur among some rows: a bit for each, by the first bits of the group.
struct GroupBits {
  uint64* words;
  int shift;

  void add(uint32 group) { words[group >> shift >> 6] |= uint64{1} << (group >> shift & 63); }
  bool has(uint32 group) const { return (words[group >> shift >> 6] >> (group >> shift & 63) & 1) != 0; }
};

struct JoinRows {
  MemoryContext context;
  JoinSearch search;
  Kind kind;
  bool no_pair;     // meets the condition: the bound is NULL, or beyond reach
  bool every_pair;  // the engine cannot tell: all pairs are to be checked
  JoinSide outer;
  JoinSide inner;  // of a self-join nothing
  TupleBuffer outer_buffer;
  TupleBuffer inner_buffer;
  SignatureShape shape;
  GroupBits first_groups;       // of the side that is read first
  bool at_second;               // the other side is being read
  Owned<PairSearch>* engine;    // null: no row has a signature, or rows are searched by groups
  Owned<PairCollector>* pairs;  // of rows, in order; null where the engine has them so
  SearchStats group_stats;      // of the engines of all groups
  RowPair batch[256];           // of pairs, by the numbers of rows
  size_t next;
  size_t count;
  bool at_end;
  uint64 next_inner;  // where all pairs are checked
};

// context: of all that they hold; ended by its reset.
JoinRows* begin_join_rows(MemoryContext context, const JoinSearch& search);
void end_join_rows(JoinRows* rows);

// The inner side; of a self-join the outer one.
JoinSide* inner_side(JoinRows* rows);

// Takes the next row of the side that is read first, then, after start_second_side(), of the other one. value: null
// where it is NULL.
void add_join_row(JoinRows* rows, JoinSide* side, TupleTableSlot* slot, const Datum* value);
// The same where rows are grouped. group: null where the row is of none.
void add_grouped_row(JoinRows* rows, JoinSide* side, TupleTableSlot* slot, const uint32* group);
void start_second_side(JoinRows* rows);

// The engine for signatures of this shape.
Owned<PairSearch>* make_join_engine(const JoinRows* rows, MemoryContext context, SignatureShape shape);
// A collector for rows->pairs.
Owned<PairCollector>* make_pair_collector(const JoinRows* rows);

// A row that is kept; valid until the next call.
MinimalTuple outer_tuple(JoinRows* rows, uint64 row);
MinimalTuple inner_tuple(JoinRows* rows, uint64 row);

}  // namespace neardup
