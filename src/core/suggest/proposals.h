// Signatures and thresholds that find the duplicates of a sample best.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/suggest/exact_similarity.h"

namespace neardup {

inline constexpr uint32_t kProposedNumPerm[] = {64, 128, 256};
inline constexpr uint32_t kProposedBits = 16;

// The defaults of signatures and searches: words with k = 3, which are the first form.
inline constexpr uint32_t kDefaultForm = 0;
inline constexpr uint32_t kDefaultNumPerm = 128;
inline constexpr int kDefaultPercent = 80;

// Expected. Recall and precision are computed twice: of pairs, and of families of documents (SamplePair::share), since
// one large family may hide all others, or many small ones a large one. What is stated is of the two the worse by F1.
struct Proposal {
  uint32_t form;  // which of the histograms
  uint32_t num_perm;
  double threshold;
  double recall;     // share of duplicates that are found
  double precision;  // share of duplicates in what is found; NaN where nothing is found
  // The precision lies between these. At the lower end only duplicates by the strict condition count, at the upper end
  // those by the generous one, and each is the end of an interval that holds with 90 per cent.
  double precision_low;
  double precision_high;
  double families;  // about so many different pairs are found, each family once
  bool is_default;
  double f1;
  double bytes_per_row;  // of a signature and its entries in an index
};

// For each form and num_perm the threshold in hundredths, 0.30 to 0.99, of the greatest F1: from the middle of those
// that are as good; none of a form that finds nothing. Beside these the default. histograms: one a form, the default
// first; totals: of all pairs. In the order of F1 rounded to two digits, the greatest first, of equal ones the smaller
// first; for this order the F1 of the default is raised by 0.05.
std::vector<Proposal> propose(std::span<const FormHistograms> histograms, const PairTotals& totals);

struct Interval {
  double low;
  double high;
};

// The interval of a share that was seen in a sample of so many: 90 per cent (E. B. Wilson, 1927; n need not be whole).
// 0 to 1 for n = 0.
Interval share_interval(double share, double n) noexcept;

// Rounded to so many digits after the point, halves upwards; those also that the nearest float8 falls short of.
double rounded(double value, int digits) noexcept;

}  // namespace neardup
