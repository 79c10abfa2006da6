// Why a pair of signatures is, or is not, found at a threshold: what both forms of explain_pair() say.
#pragma once

#include "pg/values.h"

namespace neardup {

struct PairExplanation {
  bool comparable;  // else only the verdict is known
  bool similar;
  uint32_t matches;
  uint32_t needed;
  double jaccard;
  double standard_error;
  char verdict[512];
};

// threshold: above 0 and at most 1.
void explain_minhash_pair(const MinhashView& a, const MinhashView& b, double threshold, PairExplanation* out);

}  // namespace neardup
