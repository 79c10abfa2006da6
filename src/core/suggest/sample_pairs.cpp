// See sample_pairs.h.
#include "core/suggest/sample_pairs.h"

#include <cmath>
#include <string_view>
#include <unordered_set>

namespace neardup {

PairTotals totals_of(const std::vector<SamplePair>& pairs) noexcept {
  PairTotals totals;
  for (const SamplePair& pair : pairs) {
    if (!pair.duplicate) continue;
    ++totals.duplicates;
    totals.duplicate_weight += pair.weight;
  }
  return totals;
}

size_t drop_copies(Document* documents, size_t n) {
  std::unordered_set<std::string_view> seen;
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    const Document document = documents[i];
    if (seen.emplace(reinterpret_cast<const char*>(document.bytes), document.size).second) documents[kept++] = document;
  }
  return kept;
}

void judge_by_edit_rate(const Document* documents, size_t n, double edit_similarity, unsigned threads, StopCheck* stop,
                        std::vector<SamplePair>* pairs) {
  // The rate that is asked for belongs to it, also where rounding has made it a little less.
  constexpr double kTolerance = 1e-9;
  const DocumentMeasure measure = {.kind = DocumentMeasure::Kind::edit_rate,
                                   .unit = Unit::character,
                                   .threshold = 1 - ((1 - edit_similarity) / 2 + kTolerance)};
  std::vector<DocumentPair> compared;
  compared.reserve(pairs->size());
  for (const SamplePair& pair : *pairs) compared.push_back({pair.a, pair.b, 0});
  DocumentComparer(measure, threads, stop).compare(documents, n, compared.data(), compared.size());
  for (size_t i = 0; i < compared.size(); ++i) (*pairs)[i].duplicate = !std::isnan(compared[i].similarity);
}

}  // namespace neardup
