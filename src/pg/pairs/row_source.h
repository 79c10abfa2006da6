// The rows of a caller's query for all_pairs() and its kin: ids of any ordered type, comparable signatures, and what
// else pairs are told by.
#pragma once

#include "pg/pairs/signature.h"
#include "pg/query/id_store.h"

#include "pg/base/pg.h"

namespace neardup {

// What a query's columns beyond id and signature are, by their names: position, or -1.
struct SourceColumns {
  int doc;     // text or bytea, to be verified
  int within;  // any ordered type: only rows with equal values are near
  int at;      // timestamptz, timestamp or date: only rows so near in time are near
};

// What the call can make use of.
struct SourceWants {
  const char* no_doc;   // null: the column doc is wanted; else why it is of no use
  const Interval* apart;  // at_most_apart, or null
  bool ordered;         // rows come in the order of the query, which matters
  bool keys;            // the columns after the id are keys of any type; there is no signature
};

// One query of the caller.
struct RowSource {
  const char* what;       // "query", "query_a", ... for messages
  const char* text;
  SignatureTypes types;
  Oid witness_type;       // of the result's ids; may be a domain; InvalidOid: of any type, and not kept
  Oid id_type;            // its base type
  Oid column_type;        // as the query gives it
  MemoryContext context;  // for what lives as long as the call
  MemoryContext row_context;
  SPIPlanPtr plan;
  IdStore* ids;
  char* last_id;          // of the row before, where ids are not by value
  uint64 last_capacity;
  bool sorted;            // ids came in strictly ascending order
  bool enough;            // set by on_row: no further row is wanted
  SignatureType type;     // of the second column
  SignatureShape shape;   // of all signatures so far
  FmgrInfo compare;       // of id_type
  SourceColumns columns;
  SourceWants wants;
  Oid doc_type;           // TEXTOID or BYTEAOID
  Oid within_type;
  Oid within_collation;
  Oid at_type;
};

// Checks that the text is one read-only statement that returns an id of the wanted type, a signature and nothing that is
// not known. SPI must be connected. what names the argument in messages.
void open_source(RowSource* source, const char* what, text* query, Oid id_type, const SignatureTypes& types,
                 const SourceWants& wants);

// How many rows the planner expects.
double estimated_rows(const RowSource& source);

// One row as the engines take it.
struct SourceRow {
  bool is_null;      // no signature
  bool alone;        // near nothing: no signature or that of nothing, or NULL in within, at or doc
  Signature signature;
  Datum value;       // the signature as it is stored
  Datum doc;         // may be a pointer into the TOAST table
  Datum within;
  int64 at;          // microseconds
  int64 until;       // at + at_most_apart
  const Datum* columns;  // where keys are wanted, all of the row's
  const bool* nulls;
};

// The columns of an open source.
TupleDesc columns_of(const RowSource& source);

// Runs the query under the caller's snapshot, with parallel workers where it allows them, and calls on_row(arg, row) for
// each row, after its id was kept and its signature was found to be like the others'. What a row points to lives until
// on_row returns.
void read_rows(RowSource* source, void (*on_row)(void* arg, const SourceRow& row), void* arg);

// After the last row: rank[row] = position of the row's id in ascending order, or null when rows came in order; the
// ids are then kept in that order. Raises an error on duplicates.
uint32* rank_rows(RowSource* source);
// Only checks for duplicates; ids stay in the order in which they came.
void check_unique(RowSource* source);

// Type of the ids: bigint, or that of the witness in argument 0 when the function takes one.
Oid id_type_of(FunctionCallInfo fcinfo, bool witness);

}  // namespace neardup
