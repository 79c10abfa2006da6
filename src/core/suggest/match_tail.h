// The chance that enough components of two signatures agree.
#pragma once

#include <cstdint>
#include <vector>

namespace neardup {

// P(Binomial(num_perm, similarity) >= m) for m = 0 .. num_perm: components agree each with probability `similarity`.
// num_perm 1..4096, similarity 0..1. Relative error below 1e-9 where it is above 1e-300.
std::vector<double> match_tail(uint32_t num_perm, double similarity);

}  // namespace neardup
