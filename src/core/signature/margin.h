// The margin below a wanted similarity within which signatures must be searched, so that pairs that truly reach it are
// not missed.
#pragma once

#include <cstdint>

namespace neardup {

// Verification on documents may lose at most 1 - kVerifyRecall of the true pairs.
inline constexpr double kVerifyRecall = 0.999;

// The greatest m such that a pair of sets of Jaccard similarity >= jaccard has at least m equal components with
// probability >= recall, at least 1. Components agree with probability p = J, and for 8 bits by chance besides, and are
// at most as scattered as independent ones (Dahlgaard, Knudsen, Thorup, FOCS 2017, section 1), so
//   m = max { m : P(Binomial(num_perm, p) < m) <= 1 - recall }.
// jaccard and recall in (0, 1], else Error{invalid_argument}.
uint32_t matches_with_recall(double jaccard, double recall, uint32_t num_perm, uint32_t bits);

}  // namespace neardup
