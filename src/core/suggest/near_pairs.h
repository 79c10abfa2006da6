// The near pairs of a sample, as signatures of several forms find them; of too many, some that stand for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/exact/document_pairs.h"
#include "core/pairs/pair_search.h"
#include "core/suggest/sample_pairs.h"
#include "core/suggest/shingle_forms.h"

namespace neardup {

// How many pairs of n documents of so many bytes in all are compared exactly, which takes time: fewer of long ones.
uint64_t most_compared_pairs(uint64_t bytes, uint64_t n) noexcept;

// A number in [0, 1) for documents a and b, from 0, that looks random and is the same in every call.
using PairChance = double (*)(uint32_t a, uint32_t b) noexcept;

// Two bytes for each pair of documents.
class NearPairs {
 public:
  // documents: at least 1.
  explicit NearPairs(uint32_t documents);

  // Adds the pairs whose signatures of this form are at least form.near alike.
  void add_form(const Document* documents, const ShingleForm& form, const EngineOptions& options);

  // Of those that were found by any form, all in order where there are at most `most`. Else a pair is kept with a
  // chance that grows with its similarity, and weighs as many as it stands for; some `most` of them are kept. *count:
  // how many were found.
  std::vector<SamplePair> thinned(uint64_t most, PairChance chance, StopCheck* stop, uint64_t* count) const;

 private:
  template <typename F>
  void for_each(StopCheck* stop, F f) const;
  double affinity(uint16_t matches) const noexcept;

  uint32_t documents_;
  uint32_t forms_ = 0;
  std::vector<uint16_t> matches_;  // equal components, the sum over all forms that found the pair
};

}  // namespace neardup
