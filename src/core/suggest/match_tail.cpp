// See match_tail.h.
#include "core/suggest/match_tail.h"

#include <algorithm>
#include <cmath>

namespace neardup {

std::vector<double> match_tail(uint32_t num_perm, double similarity) {
  // exp() of less is as good as nothing
  constexpr double kLeastLog = -700;
  std::vector<double> tail(num_perm + 1);
  if (similarity >= 1) std::fill(tail.begin(), tail.end(), 1.0);
  tail[0] = 1;
  if (similarity <= 0 || similarity >= 1) return tail;
  // Logarithms keep all factors in range; from the greatest m on, small tails are sums of small terms.
  const double n = num_perm;
  double log_term = n * std::log(similarity);
  double total = 0;
  for (uint32_t m = num_perm;; --m) {
    if (log_term > kLeastLog) total += std::exp(log_term);
    tail[m] = std::min(total, 1.0);
    if (m == 0) return tail;
    log_term += std::log(m * (1 - similarity) / ((n - m + 1) * similarity));
  }
}

}  // namespace neardup
