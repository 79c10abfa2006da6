// Whole documents and sets to the 32-bit components of their signature.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/signature/minhash_encode.h"
#include "core/document/shingle.h"
#include "core/signature/simhash.h"
#include "core/base/stop.h"

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
bool sign_document(const MinhashParams& params, const uint8_t* text, size_t size, StopCheck* stop, uint32_t* components);

// Signs a set given by its element hashes (element_hash() of text, the value itself of bigint). False when n = 0.
bool sign_set(const MinhashParams& params, const uint64_t* elements, size_t n, StopCheck* stop, uint32_t* components);

// Error{invalid_argument} for signatures of 8 bits.
void check_has_unions(const MinhashView& signature);

// The union of two comparable signatures, in the stored form. Error{incomparable}; Error{invalid_argument} for bits 8.
std::vector<uint8_t> union_of(const MinhashView& a, const MinhashView& b);

// The distinct shingle hashes of a document, ascending. counts: unless null, gets all of them with repeats, so that its
// result is that of simhash_document().
std::vector<uint64_t> distinct_shingles(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop,
                                        SimhashCounts* counts = nullptr);

// Sorts and drops repeats; polls stop (may be null) about every million comparisons.
template <typename T>
void sort_unique(std::vector<T>* values, StopCheck* stop) {
  uint32_t steps = 0;
  std::sort(values->begin(), values->end(), [&](const T& a, const T& b) {
    if ((++steps & 0xfffff) == 0 && stop != nullptr) stop->poll();
    return a < b;
  });
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

// Sizes of A, B and their intersection, for two ascending lists of distinct values.
struct Overlap {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t shared = 0;

  // |A n B| / |A u B|; 0 when both are empty: an empty set is similar to nothing.
  double jaccard() const noexcept {
    const uint64_t either = a + b - shared;
    return either == 0 ? 0.0 : static_cast<double>(shared) / static_cast<double>(either);
  }
};

template <typename T>
Overlap overlap(const std::vector<T>& a, const std::vector<T>& b) {
  Overlap o{a.size(), b.size(), 0};
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++o.shared;
      ++i;
      ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return o;
}

}  // namespace neardup
