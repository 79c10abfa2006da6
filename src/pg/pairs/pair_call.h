// One call that searches pairs: its options, the rows of one or two queries, the search as a whole or group by group, and
// the pairs in order, verified where that is wanted.
#pragma once

#include "core/exact/document_pairs.h"
#include "core/pairs/pair_collector.h"
#include "core/pairs/pair_search.h"
#include "pg/base/context.h"
#include "pg/base/progress.h"
#include "pg/pairs/row_source.h"
#include "pg/base/stages.h"

namespace neardup {

struct Copies;
struct Verifier;

enum class Verify : uint8_t { no, jaccard, edit_rate };

// The arguments that the functions share, checked.
struct PairOptions {
  double threshold;         // as the caller gave it: of signatures, or of documents where they are verified by it
  Identical identical;
  Verify verify;
  bool own_bound;           // verify_threshold was given: threshold is that of the signatures
  double verify_threshold;  // of the documents
  const Interval* apart;    // at_most_apart, or null
};

// Arguments verify, verify_threshold and at_most_apart of a function, from the given one on. threshold and identical are
// set already.
void read_options(FunctionCallInfo fcinfo, int first, PairOptions* options);
SourceWants wants_of(const PairOptions& options);

// One of the call's queries.
struct Side {
  RowSource source;
  uint32* row_of;         // engine row -> row of the query; null while every row has gone to the engine
  uint64 engine_rows;
  uint64 capacity;
  Tuplesortstate* sort;   // rows by (within, at, row), where they are searched group by group
  TupleDesc sort_desc;
  TupleTableSlot* sort_slot;
  IdStore* docs;
  uint32* rank;           // row -> what pairs are told by; null: the row itself
  uint32* row_of_rank;    // the reverse
};

struct PairCall {
  Searching function;
  PairOptions options;
  SignatureShape shape;
  double bound;                 // least similarity of signatures
  DocumentMeasure measure;
  bool two_sets;
  bool swapped;                 // query_b is read first: its rows are set A of the engine
  bool by_id;                   // pairs are told by the ranks of ids, else by rows
  Side a;
  Side b;
  Stages stages;
  Owned<PairSearch>* engine;    // of all rows
  Owned<PairCollector>* pairs;  // of all groups
  uint64 left_out;              // as SearchStats
  RowPair* batch;
  double* similarity;           // of the batch
  size_t batch_size;
  size_t batch_at;
  Copies* copies;               // may be null: rows that repeat earlier ones are noted there and not searched
  // May be null: whether what takes the pairs still wants this one; those that it does not want are not verified.
  bool (*wants)(void* arg, const RowPair& pair);
  void* wants_arg;
  Verifier* verifier;           // null until the first pair is verified
  uint64 verified;
  uint64 pairs_told;
  void (*on_null)(void* arg, bool is_null);  // may be null: called for each row of A, with whether it has no signature
  void* on_null_arg;
  MemoryContext context;
};

// query_b null: one set. SPI must be connected. by_id: pairs are in the order of the ids, each (lesser, greater); else
// of the rows as they came, and ids stay in that order.
void begin_pairs(PairCall* call, const char* what, text* query, text* query_b, Oid id_type, const SignatureTypes& types,
                 bool by_id);

// The next pair in ascending (a, b), a and b in call->a.source.ids (with two sets: b in those of call->b); false at the
// end.
bool next_pair(PairCall* call, RowPair* pair, double* similarity);

// Tells what was left out, and frees all but the ids.
void end_pairs(PairCall* call);

Identical parse_identical(Datum value);

}  // namespace neardup
