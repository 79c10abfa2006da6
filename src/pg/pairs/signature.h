// Signatures of any kind, and sets, as the pair engines take them: what they must have in common, and the engine for
// them.
#pragma once

#include "core/kinds/measure.h"
#include "core/pairs/clusters/cluster.h"
#include "core/pairs/pair_search.h"
#include "pg/base/pg.h"

namespace neardup {

// The types of the kinds: those that the calling function was created with, and PostgreSQL's bit. Of sets, which are
// arrays, none.
struct SignatureTypes {
  Oid oid[kKinds];
};
SignatureTypes function_signature_types(FunctionCallInfo fcinfo);

// One signature; points into its datum. Plain data.
struct Signature : AnyValue {
  Kind kind;
  bool is_empty;  // near nothing, itself included
  bool is_unfit;  // only where it was read quietly: no engine takes it
};

// value: detoasted here, in the current context. An error for a value that no engine takes.
void read_signature(Kind kind, Datum value, Signature* out);
// Does the same without that error.
void read_signature_quietly(Kind kind, Datum value, Signature* out);

// The parameters of a call's signatures: those of the first one.
struct SignatureShape {
  MinhashParams params() const { return header_params(header); }

  bool known;
  Kind kind;
  MinhashHeader header;  // of minhashes
  uint32_t length;       // of digests
  uint32_t code_bits;    // of bit codes
  Measure measure;       // of sets: the caller's
};

// Notes how the first signature was made. False when a later one was made otherwise and cannot be compared.
bool fits_shape(SignatureShape* shape, const Signature& signature);

// Raises the error for a signature that does not fit and is not unfit. which: names its row, as `the row with id 7`.
[[noreturn]] void refuse_shape(const SignatureShape& shape, const Signature& signature, const char* which);

// Both run in core code, for a known shape. threshold: least similarity, see pair_similarity().
PairSearch* make_pair_search(const SignatureShape& shape, double threshold, const EngineOptions& options);
Clusterer* make_clusterer(const SignatureShape& shape, Linkage linkage, double threshold, const EngineOptions& options);

// The similarity that a RowPair's value means: the estimated Jaccard similarity, 1 - distance / bits, 1 - edit rate, or
// the measure of two sets of these sizes.
double pair_similarity(const SignatureShape& shape, uint32_t value, uint32_t size_a, uint32_t size_b);

}  // namespace neardup
