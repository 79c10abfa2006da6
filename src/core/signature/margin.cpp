// See margin.h.
#include "core/signature/margin.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/message_text.h"

namespace neardup {

uint32_t matches_with_recall(double jaccard, double recall, uint32_t num_perm, uint32_t bits) {
  if (!(jaccard > 0 && jaccard <= 1))
    throw Error(Errc::invalid_argument, "jaccard must be above 0 and at most 1: " + number_text(jaccard));
  if (!(recall > 0 && recall <= 1))
    throw Error(Errc::invalid_argument, "recall must be above 0 and at most 1: " + number_text(recall));
  const double p = bits == 8 ? jaccard + (1 - jaccard) / 256 : jaccard;
  if (p >= 1) return num_perm;
  const double n = num_perm;
  const double all = std::lgamma(n + 1);
  double below = 0;  // P(Binomial < m)
  uint32_t m = 0;
  while (m < num_perm) {
    const double k = m;
    below += std::exp(all - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) + (n - k) * std::log1p(-p));
    if (below > 1 - recall) break;
    ++m;
  }
  return std::max(m, 1u);
}

}  // namespace neardup
