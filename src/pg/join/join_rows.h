// What a similarity join keeps while it runs: the rows of both sides, and the engine that finds near ones.
#pragma once

#include "core/pairs/pair_search.h"
#include "pg/base/context.h"
#include "pg/join/join_condition.h"
#include "pg/pairs/signature.h"
#include "pg/query/id_store.h"

namespace neardup {

// Bytes that one node may hold: work_mem * hash_mem_multiplier.
size_t join_memory();

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
  JoinMeasure measure;
  double bound;
  bool bound_is_null;  // then no pair meets the condition
  bool every_pair;     // the engine cannot tell: all pairs are to be checked
  JoinSide outer;
  JoinSide inner;
  SignatureShape shape;
  Owned<PairSearch>* engine;  // null: no two rows have signatures
  bool searched;
  RowPair pairs[256];  // of the engine, by the numbers of rows
  size_t next;
  size_t count;
};

// context: of all that they hold; ended by its reset.
JoinRows* begin_join_rows(MemoryContext context, JoinMeasure measure, const double* bound);

// Takes the next row of the outer side, then, after start_inner_rows(), of the inner side. value: null where it is
// NULL.
void add_join_row(JoinRows* rows, JoinSide* side, MinimalTuple tuple, const Datum* value);
void start_inner_rows(JoinRows* rows);

// Of the outer row, the next inner row that may match; false where there is none. Outer rows come in their order.
bool next_partner(JoinRows* rows, uint32 outer, uint64* inner);

// Passes over the rest of its partners.
void pass_partners(JoinRows* rows, uint32 outer);

// Valid until the next call for this side.
MinimalTuple join_tuple(const JoinSide& side, uint64 row);

}  // namespace neardup
