// Signatures of any type, and sets, as the pair engines take them: what they must have in common, and the engine for
// them.
#pragma once

#include "core/pairs/clusters/cluster.h"
#include "core/signature/bit_code.h"
#include "core/signature/ctph.h"
#include "core/signature/minhash_encode.h"
#include "core/pairs/pair_search.h"
#include "core/pairs/sets/set_bound.h"
#include "pg/base/pg.h"

namespace neardup {

// A set of integers, int[] or bigint[], has no type of its own.
enum class SignatureType : uint8_t { minhash, simhash, ctph, bits, set };
constexpr int kSignatureTypes = 4;

// The types that the calling function was created with, and PostgreSQL's bit.
struct SignatureTypes {
  Oid oid[kSignatureTypes];
};
SignatureTypes signature_types_of(FunctionCallInfo fcinfo);
const char* type_name(SignatureType type) noexcept;

// One signature; points into its datum. Plain data.
struct Signature {
  SignatureType type;
  bool empty;  // a minhash of nothing, or an empty set: near nothing, itself included
  MinhashParams params;
  const void* components;
  uint64_t bits;
  CtphView digest;
  BitCode code;
  const int64_t* elements;  // of a set, ascending
  size_t size;
  // Only where it was read quietly: a set with a NULL element, a bit string of fewer than 64 or more than 4096 bits.
  bool is_unfit;
};

// value: detoasted here, in the current context.
void read_signature(SignatureType type, Datum value, Signature* out);
// The same without an error for a value that no engine takes: it is_unfit.
void read_signature_quietly(SignatureType type, Datum value, Signature* out);

// How the signatures of a call were made: as the first of them.
struct SignatureShape {
  bool known;
  SignatureType type;
  MinhashParams params;
  uint32_t length;     // of digests
  uint32_t code_bits;  // of bit codes
  SetMeasure measure;  // of sets: the caller's
};

// Notes how the first signature was made. False when a later one was made otherwise and cannot be compared.
bool fits_shape(SignatureShape* shape, const Signature& signature);

// Raises the error for a signature that does not fit. which: names its row, as `the row with id 7`.
[[noreturn]] void refuse_shape(const SignatureShape& shape, const Signature& signature, const char* which);

// In core code: the engine for a known shape, and a row for it. threshold: least similarity, see similarity_of().
PairSearch* make_pair_search(const SignatureShape& shape, double threshold, const EngineOptions& options);
// Returns whether the row may have pairs: false where that is known at once.
bool add_row(PairSearch* search, const Signature& signature);
Clusterer* make_clusterer(const SignatureShape& shape, Linkage linkage, double threshold, const EngineOptions& options);
void add_row(Clusterer* clusterer, const Signature& signature);

// What a RowPair's value means: the estimated Jaccard similarity, 1 - distance / bits, 1 - edit rate, or the measure of
// two sets of these sizes.
double similarity_of(const SignatureShape& shape, uint32_t value, uint32_t size_a, uint32_t size_b);

}  // namespace neardup
