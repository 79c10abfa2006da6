// The pairs of a sample by which forms are judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/exact/document_pairs.h"

namespace neardup {

struct SamplePair {
  uint32_t a;  // documents by their numbers, a below b
  uint32_t b;
  double weight = 1;  // as many pairs as it stands for
  bool duplicate = false;
};

struct PairTotals {
  uint64_t duplicates = 0;
  double duplicate_weight = 0;
};
PairTotals totals_of(const std::vector<SamplePair>& pairs) noexcept;

// Of equal documents the first is kept, in its place among the others. Returns how many are left.
size_t drop_copies(Document* documents, size_t n);

// Duplicates are those with 1 - 2 * edit_rate() >= edit_similarity, which is 0..1. threads: 1..256.
void judge_by_edit_rate(const Document* documents, size_t n, double edit_similarity, unsigned threads, StopCheck* stop,
                        std::vector<SamplePair>* pairs);

}  // namespace neardup
