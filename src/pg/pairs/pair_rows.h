// The rows of one or two queries, read for a search of pairs: into an engine as they come, or sorted, where they are
// searched group by group.
#pragma once

#include "core/exact/document_pairs.h"
#include "core/pairs/pair_search.h"
#include "pg/base/context.h"
#include "pg/base/progress.h"
#include "pg/pairs/pair_options.h"
#include "pg/pairs/row_notes.h"
#include "pg/pairs/row_source.h"
#include "pg/pairs/sorted_rows.h"

namespace neardup {

struct Copies;

// The queries of a call.
struct PairQueries {
  const char* what;  // names the first query in messages
  text* query;
  text* query_b;  // null: one set
  Oid id_type;
  SignatureTypes types;
  bool by_id;  // pairs name rows by the ranks of their ids, each (lesser, greater); else by their numbers, in their
               // order
};

// One query, argument n of a function; an error that names it where it is NULL.
PairQueries query_argument(FunctionCallInfo fcinfo, int n, const char* name);

// The rows of one query.
struct PairSide {
  RowSource source;
  uint32* row_of;  // engine row -> row of the query; null while every row has gone to the engine
  uint64 engine_rows;
  uint64 capacity;      // of row_of
  RowSort sort;         // where rows are searched group by group
  IdStore* docs;        // null: they are not compared
  SetSizes sizes;       // of sets, by what pairs name rows by
  uint32* rank;         // row -> what pairs name it by; null: its number
  uint32* row_of_rank;  // the reverse, for docs
};

// The rows of a call.
struct PairRows {
  PairOptions options;
  MemoryContext context;
  Stages stages;
  bool two_sets;
  bool swapped;  // query_b is read first: its rows are set A of the engine
  PairSide a;
  PairSide b;                 // of two sets
  SignatureShape shape;       // of all signatures; what follows is known with it
  double bound;               // least similarity of signatures
  DocumentMeasure measure;    // where documents are compared
  Owned<PairSearch>* engine;  // has all rows; null: there is no signature, or rows are searched group by group
  Copies* copies;             // may be null: rows that repeat earlier ones are noted there and not searched
  NullRows* nulls;            // may be null: what rows have no signature is noted there

  // Where the second row of a pair is.
  const PairSide& second() const { return two_sets ? b : a; }
};

// Opens the queries and reads their rows. What the caller wants is set in `rows` already: options, copies, nulls. SPI
// must be connected.
void read_pair_rows(PairRows* rows, const PairQueries& queries);

// Frees all but the ids.
void free_pair_rows(PairRows* rows);

}  // namespace neardup
