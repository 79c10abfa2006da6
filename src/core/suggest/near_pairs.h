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

// The number of pairs of n documents of so many bytes in all that are compared exactly, which takes time: fewer of long
// ones.
uint64_t most_compared_pairs(uint64_t bytes, uint64_t n) noexcept;

// A number in [0, 1) for documents a and b, from 0, that looks random and is the same in every call.
using PairChance = double (*)(uint32_t a, uint32_t b) noexcept;

// A byte for each pair of documents.
class NearPairs {
 public:
  // documents: at least 1. forms: how many will be added, at least 1.
  NearPairs(uint32_t documents, size_t forms);

  // Adds the pairs whose signatures of this form are at least form.near alike.
  void add_form(const Document* documents, const ShingleForm& form, const EngineOptions& options);

  // Pairs that were found by any form: all, in order, where there are at most `most`. Else a pair is kept with a chance
  // that grows with its similarity, and weighs as many as it stands for; some `most` of them are kept. Its share is its
  // weight divided by how many alike documents either document has (kAlike): the pairs of a family of documents that
  // are all alike count about as one. *count: how many were found.
  std::vector<SamplePair> thinned(uint64_t most, PairChance chance, StopCheck* stop, uint64_t* count) const;

  // Estimated similarity by any form.
  static constexpr double kAlike = 0.5;

 private:
  // The sum of a pair's estimates, and a bit that is set if one is at least kAlike. All 0 where no form found it.
  struct Cell {
    uint8_t alike : 1;
    uint8_t sum : 7;  // of all forms where they all say 1: kFullSum
  };
  static constexpr unsigned kFullSum = 126;

  template <typename F>
  void for_each(StopCheck* stop, F f) const;
  double affinity(Cell cell) const noexcept;
  std::vector<uint32_t> count_alike(StopCheck* stop) const;

  uint32_t documents_;
  unsigned forms_;
  std::vector<Cell> cells_;
};

}  // namespace neardup
