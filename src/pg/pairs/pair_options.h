// The options of all_pairs() and related functions, and what they mean for the signatures that a query returns.
#pragma once

#include "core/exact/document_pairs.h"
#include "core/pairs/pair_search.h"
#include "pg/base/pg.h"
#include "pg/base/progress.h"
#include "pg/pairs/row_source.h"

namespace neardup {

enum class Verify : uint8_t { no, jaccard, edit_rate };

// The arguments that the functions share, checked.
struct PairOptions {
  Searching function;
  double threshold;  // as the caller gave it: of signatures, or of documents where they are verified by it
  Identical identical;
  Verify verify;
  bool own_bound;                          // verify_threshold was given: threshold is that of the signatures
  double verify_threshold;                 // of the documents
  const Interval* apart;                   // at_most_apart, or null
  const char* measure_name;                // as the caller gave it; null: he did not
  Measure measure = Measure::set_jaccard;  // of sets
};

Identical parse_identical(Datum value);

// Options of a function whose argument n is the threshold; an error where that is NULL.
PairOptions read_pair_options(FunctionCallInfo fcinfo, int n, Searching function);

// Arguments verify, verify_threshold and at_most_apart of a function, from the given one on. threshold and identical
// are set already.
void read_options(FunctionCallInfo fcinfo, int first, PairOptions* options);

// Argument n of a function, measure, with the threshold that it takes; before read_options(). containment: what
// 'containment' is there, a measure of the two rows of a pair in their order.
void read_measure(FunctionCallInfo fcinfo, int n, Measure containment, PairOptions* options);

// An error where the options do not fit what the query returns: measure is of sets, verify of signatures.
void check_measure(const PairOptions& options, const char* what, const SourceColumns& columns);

SourceWants source_wants(const PairOptions& options);

// Least similarity of signatures for pairs of the wanted similarity.
double signature_bound(const PairOptions& options, const SignatureShape& shape);

// The measure of the documents of such signatures, which a query returns.
DocumentMeasure document_measure(const PairOptions& options, const SignatureShape& shape, const RowSource& source);

}  // namespace neardup
