// See exact_similarity.h.
#include "core/suggest/exact_similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace neardup {
namespace {

// Some of the pairs, with the documents that they need and no others.
struct Block {
  std::vector<Document> documents;
  std::unordered_map<uint32_t, uint32_t> number_of;  // by their numbers in the sample
  std::vector<DocumentPair> pairs;
  size_t bytes = 0;  // of shingles, at most

  uint32_t add(const Document* sample, uint32_t i) {
    const auto [at, is_new] = number_of.emplace(i, static_cast<uint32_t>(documents.size()));
    if (is_new) {
      documents.push_back(sample[i]);
      bytes += sample[i].size * sizeof(uint64_t);  // no more shingles than bytes
    }
    return at->second;
  }
};

size_t similarity_step(double similarity) noexcept {
  return static_cast<size_t>(std::nearbyint(SimilarityHistogram::kSimilaritySteps * similarity));
}

}  // namespace

void SimilarityHistogram::add(double similarity, const SamplePair& pair, double weight) noexcept {
  const size_t step = similarity_step(similarity);
  (pair.duplicate ? duplicates : others)[step] += weight;
  if (pair.strictly) strictly[step] += weight;
  if (pair.generously) generously[step] += weight;
}

void FormHistograms::add(double similarity, const SamplePair& pair) noexcept {
  pairs.add(similarity, pair, pair.weight);
  families.add(similarity, pair, pair.share);
  // A single pair that stands for many may weigh more than its family.
  squares[similarity_step(similarity)] += pair.share * std::max(pair.share, pair.family);
}

FormHistograms make_histograms(const std::vector<SamplePair>& pairs, const std::vector<float>& similarities) {
  FormHistograms histograms;
  for (size_t i = 0; i < pairs.size(); ++i) histograms.add(similarities[i], pairs[i]);
  return histograms;
}

std::vector<float> exact_similarities(const Document* documents, const std::vector<SamplePair>& pairs,
                                      const ShingleForm& form, size_t memory_limit, unsigned threads, StopCheck* stop) {
  // The comparer leaves out what is below a threshold: nothing but 0 here.
  const DocumentMeasure measure = {.kind = DocumentMeasure::Kind::jaccard,
                                   .unit = form.unit,
                                   .k = form.k,
                                   .threshold = std::numeric_limits<double>::min()};
  std::vector<float> similarities;
  similarities.reserve(pairs.size());
  for (size_t first = 0; first < pairs.size();) {
    Block block;
    size_t last = first;
    do {
      const SamplePair& pair = pairs[last++];
      const uint32_t a = block.add(documents, pair.a);
      block.pairs.push_back({a, block.add(documents, pair.b), 0});
    } while (last < pairs.size() && block.bytes < memory_limit);
    DocumentComparer(measure, threads, stop)
        .compare(block.documents.data(), block.documents.size(), block.pairs.data(), block.pairs.size());
    for (const DocumentPair& compared : block.pairs)
      similarities.push_back(std::isnan(compared.similarity) ? 0 : static_cast<float>(compared.similarity));
    first = last;
  }
  return similarities;
}

}  // namespace neardup
