// The rows of a caller's query for all_pairs() and its kin: ids of any ordered type, comparable signatures, and what
// else pairs need; or ids and keys.
#pragma once

#include "pg/pairs/row_columns.h"
#include "pg/pairs/signature.h"
#include "pg/query/id_store.h"
#include "pg/query/read_query.h"

#include "pg/base/pg.h"

namespace neardup {

// One query of the caller.
struct RowSource {
  const char* what;  // "query", "query_a", ... for messages
  const char* text;
  SPIPlanPtr plan;
  SourceWants wants;
  SourceColumns columns;
  SignatureShape shape;   // of all signatures so far
  MemoryContext context;  // for what lives as long as the call
  MemoryContext row_context;

  IdStore* ids;      // null: not kept
  FmgrInfo compare;  // of their type
  bool sorted;       // they came in strictly ascending order
  char* last_id;     // of the row before, where ids are not by value
  uint64 last_capacity;
};

// Checks that the text is one statement that only reads, and its columns: see check_columns(). SPI must be connected.
// what names the argument in messages.
void open_source(RowSource* source, const char* what, text* query, Oid id_type, const SignatureTypes& types,
                 const SourceWants& wants);

// The planner's estimate.
double estimated_rows(const RowSource& source);

// The columns of an open source.
TupleDesc result_columns(const RowSource& source);

// One row as the engines take it.
struct SourceRow {
  // Where rows have sets; 0: no set.
  size_t set_size() const { return is_null ? 0 : signature.set.n; }

  bool is_null;  // no signature
  bool alone;    // near nothing: no signature or that of nothing, or NULL in within, at or doc
  Signature signature;
  Datum value;  // the signature as it is stored
  Datum doc;    // may be a pointer into the TOAST table
  Datum within;
  int64 at;     // microseconds
  int64 until;  // at + at_most_apart
};

// One row where keys are wanted: all its columns, the id too.
struct KeyRow {
  const Datum* columns;
  const bool* nulls;
};

// The row in a slot, after its id was kept and its signature was found to be like the others'.
SourceRow read_row(RowSource* source, TupleTableSlot* slot);
KeyRow read_key_row(RowSource* source, TupleTableSlot* slot);

// Runs the query under the caller's snapshot, with parallel workers where it allows them, and calls take(slot) for each
// row until it returns false. It runs in the memory context of one row.
template <typename Take>
void for_each_row(RowSource* source, Take take) {
  for_each_row(source->plan, [&](TupleTableSlot* slot) {
    MemoryContext old = MemoryContextSwitchTo(source->row_context);
    const bool more = take(slot);
    MemoryContextSwitchTo(old);
    MemoryContextReset(source->row_context);
    return more;
  });
}

// Calls on_row(row) for each row. What a row points to lives until on_row returns.
template <typename OnRow>
void read_rows(RowSource* source, OnRow on_row) {
  for_each_row(source, [&](TupleTableSlot* slot) {
    on_row(read_row(source, slot));
    return true;
  });
}

// The same where keys are wanted, until on_row(row) returns false.
template <typename OnRow>
void read_key_rows(RowSource* source, OnRow on_row) {
  for_each_row(source, [&](TupleTableSlot* slot) { return on_row(read_key_row(source, slot)); });
}

// Called after the last row: rank[row] = position of the row's id in ascending order, or null when rows came in order;
// the ids are then kept in that order. Raises an error on duplicates.
uint32* rank_rows(RowSource* source);
// Raises an error on duplicates; ids stay in the order in which they came.
void check_unique(RowSource* source);

// Type of the ids: bigint, or that of the witness in argument 0 when the function takes one.
Oid wanted_id_type(FunctionCallInfo fcinfo, bool witness);

}  // namespace neardup
