// Signatures and thresholds that find the duplicates of a sample best.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/suggest/exact_similarity.h"

namespace neardup {

inline constexpr uint32_t kProposedNumPerm[] = {64, 128, 256};
inline constexpr uint32_t kProposedBits = 16;

struct Proposal {
  uint32_t form;  // which of the histograms
  uint32_t num_perm;
  double threshold;
  double recall;     // expected share of duplicates that are found
  double precision;  // expected share of duplicates in what is found
  double f1;
  double bytes_per_row;  // of a signature and its entries in an index
};

// For each form and num_perm the threshold in hundredths, 0.30 to 0.99, of the greatest F1: from the middle of those
// that are as good. histograms: one a form; duplicate_weight: of all pairs that are duplicates. Best first, of equally
// good ones the smaller first. None of a form that finds nothing.
std::vector<Proposal> propose(std::span<const SimilarityHistogram> histograms, double duplicate_weight);

// Rounded to so many digits after the point, halves upwards; those also that the nearest float8 falls short of.
double rounded(double value, int digits) noexcept;

}  // namespace neardup
