// The pairs of a sample by which forms are judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/stop.h"
#include "core/exact/document_pairs.h"

namespace neardup {

struct SamplePair {
  uint32_t a;  // documents by their numbers, a below b
  uint32_t b;
  double weight = 1;  // as many pairs as it stands for
  bool duplicate = false;
  bool strictly = false;    // a duplicate by a stricter condition, too
  bool generously = false;  // a duplicate, or nearly one
  double share = 1;         // its weight where the pairs of a family of documents count as one
  double family = 1;        // the shares of all pairs of its family together, those that it stands for among them
};

// Sums over the pairs that are duplicates.
struct PairTotals {
  uint64_t duplicates = 0;
  double weight = 0;
  double share = 0;
};
PairTotals sum_duplicates(const std::vector<SamplePair>& pairs) noexcept;

// Keeps the first of equal documents, in its place among the others, with its id. Returns how many are left.
size_t drop_copies(Document* documents, std::string_view* ids, size_t n);

// The condition of "generously": half of the text is the same.
inline constexpr double kGenerousSimilarity = 0.5;

// Judges pairs by s = 1 - 2 * edit_rate(), and by the numbers in the documents: a form that is filled in with other
// numbers is no copy. Numbers are runs of 0 to 9 without a letter beside them, with the signs . , / : - between two
// digits; they agree where at least half of the different ones are in both.
//   duplicate    s >= edit_similarity, and the numbers agree
//   strictly     s >= (1 + edit_similarity) / 2, and the numbers agree
//   generously   s >= kGenerousSimilarity
// edit_similarity: kGenerousSimilarity to 1. threads: 1..256.
void judge_by_edit_rate(const Document* documents, size_t n, double edit_similarity, unsigned threads, StopCheck* stop,
                        std::vector<SamplePair>* pairs);

}  // namespace neardup
