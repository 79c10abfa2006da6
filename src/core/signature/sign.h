// Whole documents and sets to the 32-bit components of their signature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/document/shingle.h"
#include "core/signature/minhash_encode.h"

namespace neardup {

// Parameters of a document's signature. Error{invalid_argument} for k, num_perm or bits out of range.
MinhashParams document_params(Unit unit, int64_t k, int64_t num_perm, int64_t bits, int64_t seed);
// The same for a set (kind text_set, bigint_set or imported).
MinhashParams set_params(MinhashKind kind, int64_t num_perm, int64_t bits, int64_t seed);

// Error{unsupported} where words are cut by rules that this library lacks: a newer one made the signature.
void check_tokenizer(const MinhashParams& params);

// Signs a document of the params' kind; false when it is empty. Error{unsupported} as check_tokenizer().
// components: params.num_perm values.
// Constant memory beyond 512 bytes per component. stop may be null.
bool sign_document(const MinhashParams& params, const uint8_t* text, size_t size, StopCheck* stop,
                   uint32_t* components);

// Signs a set given by its element hashes (element_hash() of text, the value itself of bigint). False when n = 0.
bool sign_set(const MinhashParams& params, const uint64_t* elements, size_t n, StopCheck* stop, uint32_t* components);

// Error{invalid_argument} for signatures of 8 bits.
void check_has_unions(const MinhashView& signature);

// The union of two comparable signatures, in the stored form. Error{incomparable}; Error{invalid_argument} for bits 8.
std::vector<uint8_t> unite_minhashes(const MinhashView& a, const MinhashView& b);

}  // namespace neardup
