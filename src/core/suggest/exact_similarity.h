// Pairs of a sample by their exact Jaccard similarity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/suggest/sample_pairs.h"
#include "core/suggest/shingle_forms.h"

namespace neardup {

// Weights of pairs by similarity, in steps of 1 / kSteps.
struct SimilarityHistogram {
  static constexpr int kSteps = 200;
  static constexpr double similarity(int step) noexcept { return static_cast<double>(step) / kSteps; }

  double duplicates[kSteps + 1] = {};
  double others[kSteps + 1] = {};

  void add(double similarity, const SamplePair& pair) noexcept;
};

// Of one form of shingles. memory_limit: bytes for the shingles of documents; those of one pair at least are held.
// threads: 1..256.
SimilarityHistogram exact_similarities(const Document* documents, const std::vector<SamplePair>& pairs,
                                       const ShingleForm& form, size_t memory_limit, unsigned threads, StopCheck* stop);

}  // namespace neardup
