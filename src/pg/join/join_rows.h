// What a similarity join keeps while it runs: the rows of both sides, and the engine that finds near ones.
#pragma once

#include "core/pairs/pair_collector.h"
#include "core/pairs/pair_search.h"
#include "pg/base/context.h"
#include "pg/join/join_condition.h"
#include "pg/pairs/signature.h"
#include "pg/query/id_store.h"

namespace neardup {

// The rows of one side, as minimal tuples.
struct JoinSide {
  IdStore* tuples;
  uint32* row_of;  // engine row -> row; null while each row has gone to the engine
  uint64 engine_rows;
  uint64 capacity;  // of row_of
};

struct JoinRows {
  MemoryContext context;
  SignatureType type;
  LshMeasure measure;
  double bound;
  bool no_pair;     // meets the condition: the bound is NULL, or beyond reach
  bool every_pair;  // the engine cannot tell: all pairs are to be checked
  bool is_self;     // the rows of the inner side are those of the outer one
  JoinSide outer;
  JoinSide inner;
  MemoryContext copies;  // of an outer row
  SignatureShape shape;
  Owned<PairSearch>* engine;        // null: no row has a signature
  Owned<PairCollector>* both_ways;  // of a self-join: each pair twice, and each row with itself
  bool searched;
  RowPair pairs[256];  // of the engine, by the numbers of rows
  size_t next;
  size_t count;
};

// context: of all that they hold; ended by its reset. bound: null where it is NULL.
JoinRows* begin_join_rows(MemoryContext context, LshMeasure measure, JoinBound bound_from, const double* bound,
                          bool is_self);
void end_join_rows(JoinRows* rows);

// The inner side; of a self-join the outer one.
JoinSide* inner_side(JoinRows* rows);

// Takes the next row of the outer side, then, after start_inner_rows(), of the inner side. value: null where it is
// NULL.
void add_join_row(JoinRows* rows, JoinSide* side, MinimalTuple tuple, const Datum* value);
void start_inner_rows(JoinRows* rows);

// Of the outer row, the next inner row that may match; false where there is none. Outer rows come in their order.
bool next_partner(JoinRows* rows, uint32 outer, uint64* inner);

// Passes over the rest of its partners.
void pass_partners(JoinRows* rows, uint32 outer);

// Valid until the next call.
MinimalTuple outer_tuple(JoinRows* rows, uint64 row);
MinimalTuple inner_tuple(JoinRows* rows, uint64 row);

}  // namespace neardup
