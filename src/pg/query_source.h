// The rows of a caller's query for all_pairs() and its kin: ids of any ordered type, and comparable signatures.
#pragma once

#include "pg/signature.h"

#include "pg/pg.h"

namespace neardup {

// Ids by row number. By-value ids stay in memory; others too until they outgrow their share, then in a temporary file.
struct IdStore {
  Oid type;
  Oid collation;
  int16 length;
  bool by_value;
  MemoryContext context;
  uint64 count;
  uint64 capacity;
  Datum* values;      // by value
  uint64* offsets;    // by reference: where each id begins
  char* bytes;        // by reference, in memory
  uint64 bytes_used;
  uint64 bytes_capacity;
  uint64 bytes_limit;
  BufFile* file;      // by reference, beyond bytes_limit
  uint64 file_position;
  char* scratch;      // one id read back from the file
  uint64 scratch_capacity;
};

IdStore* make_ids(MemoryContext context, Oid type, Oid collation, uint64 bytes_limit);
void add_id(IdStore* ids, Datum id);
// Valid until the next call on the same store, and only for `row` < count.
Datum id_at(IdStore* ids, uint64 row);
void free_ids(IdStore* ids);

// One query of the caller, opened as a cursor.
struct RowSource {
  const char* what;       // "query", "query_a", ... for messages
  const char* text;
  SignatureTypes types;
  Oid witness_type;       // of the result's ids; may be a domain
  Oid id_type;            // its base type
  Oid column_type;        // as the query gives it
  MemoryContext context;  // for what lives as long as the call
  Portal portal;
  IdStore* ids;
  bool sorted;            // ids came in strictly ascending order
  bool unique;            // duplicates have been ruled out
  SignatureType type;     // of the second column
  SignatureShape shape;   // of all signatures so far
  FmgrInfo compare;       // of id_type
};

// Checks that the text is one read-only statement that returns an id of the wanted type and a signature, and opens it
// under the caller's snapshot. SPI must be connected. what names the argument in messages; shape is that of another
// query's signatures which these must be like.
void open_source(RowSource* source, const char* what, text* query, Oid id_type, const SignatureTypes& types,
                 const SignatureShape& shape = {});

// One row as the engines take it.
struct SourceRow {
  bool is_null;  // no signature
  Signature signature;
};

// Fetches the next rows (at most ~1000), keeps their ids, checks that signatures are alike, and fills rows[]; *n = 0
// at the end. What rows point to lives until the next call.
constexpr int kFetch = 1000;
void fetch_rows(RowSource* source, SourceRow* rows, int* n);

// After the last row: rank[row] = position of the row's id in ascending order, or null when rows came in order; the
// ids are then kept in that order. Raises an error on duplicates.
uint32* rank_rows(RowSource* source);
// Only checks for duplicates; ids stay in the order in which they came.
void check_unique(RowSource* source);

void close_source(RowSource* source);

// Argument n of a function that is not strict; an error that names it where it is NULL.
Datum argument(FunctionCallInfo fcinfo, int n, const char* name);

// Type of the ids: bigint, or that of the witness in argument 0 when the function takes one.
Oid id_type_of(FunctionCallInfo fcinfo, bool witness);

// What is left for the engine when ids take a part of maintenance_work_mem.
size_t engine_memory();
uint64 ids_memory();

}  // namespace neardup
