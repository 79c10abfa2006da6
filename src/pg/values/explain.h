// Why a pair of signatures is, or is not, found at a bound: what all forms of explain_pair() say.
#pragma once

#include "pg/values/ctph_value.h"

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

struct SimhashExplanation {
  bool similar;
  int hamming;
  double cosine;
  char verdict[128];
};

// distance: 0..64.
void explain_simhash_pair(uint64_t a, uint64_t b, double distance, SimhashExplanation* out);

struct CtphExplanation {
  bool comparable;      // else only the verdict is known
  bool by_score;        // found at the bound of the score
  bool by_rate;         // found at the bound of the edit rate
  uint64_t block_size;  // the smaller common one; 0: none
  int score;
  double edit_rate;
  char verdict[384];
};

// score: 0..100. rate: 0..1.
void explain_ctph_pair(const CtphView& a, const CtphView& b, double score, double rate, CtphExplanation* out);

}  // namespace neardup
