// Pairs of a sample for people to judge: those on both sides of a threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/suggest/sample_pairs.h"

namespace neardup {

// The pairs whose similarity is nearest to the threshold, up to `each` on either side, by their places among the pairs;
// the most similar first. No document comes twice, so that a family does not hide the others. One similarity for each
// pair; pairs of similarity 0 are left out.
std::vector<size_t> pairs_around(double threshold, size_t each, const std::vector<SamplePair>& pairs,
                                 const std::vector<float>& similarities);

}  // namespace neardup
