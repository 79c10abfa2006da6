// Pairs of a sample by their exact Jaccard similarity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/suggest/sample_pairs.h"
#include "core/suggest/shingle_forms.h"

namespace neardup {

// Weights of pairs by similarity, in steps of 1 / kSimilaritySteps.
struct SimilarityHistogram {
  static constexpr int kSimilaritySteps = 200;
  static constexpr double similarity(int step) noexcept { return static_cast<double>(step) / kSimilaritySteps; }

  double duplicates[kSimilaritySteps + 1] = {};
  double others[kSimilaritySteps + 1] = {};
  double strictly[kSimilaritySteps + 1] = {};  // of the pairs of this judgement
  double generously[kSimilaritySteps + 1] = {};

  void add(double similarity, const SamplePair& pair, double weight) noexcept;
};

// The histograms of one form: with the weights of pairs, and with their shares of families.
struct FormHistograms {
  SimilarityHistogram pairs;
  SimilarityHistogram families;
  // Squares of the shares of families: summed over the pairs of one, the square of what it weighs.
  double squares[SimilarityHistogram::kSimilaritySteps + 1] = {};

  void add(double similarity, const SamplePair& pair) noexcept;
};

// The similarity of each pair, by one form of shingles. memory_limit: bytes for the shingles of documents; those of one
// pair at least are held. threads: 1..256.
std::vector<float> exact_similarities(const Document* documents, const std::vector<SamplePair>& pairs,
                                      const ShingleForm& form, size_t memory_limit, unsigned threads, StopCheck* stop);

// One similarity for each pair.
FormHistograms make_histograms(const std::vector<SamplePair>& pairs, const std::vector<float>& similarities);

}  // namespace neardup
