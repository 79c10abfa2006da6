// See proposals.h.
#include "core/suggest/proposals.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/signature/minhash.h"
#include "core/signature/minhash_encode.h"
#include "core/suggest/match_tail.h"

namespace neardup {
namespace {

constexpr int kLeastPercent = 30;
constexpr int kMostPercent = 99;
// F1 that is as good as the greatest.
constexpr double kAsGood = 0.005;

// By step of similarity, by number of components: the chance that as many agree.
using Tails = std::vector<std::vector<double>>;

Tails tails_of(uint32_t num_perm) {
  Tails tails;
  for (int step = 0; step <= SimilarityHistogram::kSteps; ++step)
    tails.push_back(match_tail(num_perm, SimilarityHistogram::similarity(step)));
  return tails;
}

// What a threshold finds.
struct Rating {
  int percent;
  uint32_t need;  // components that have to agree
  double duplicates;
  double others;
  double f1;
};

Rating rate(const SimilarityHistogram& histogram, double duplicate_weight, uint32_t num_perm, const Tails& tails,
            int percent) {
  Rating rating = {percent, min_matches(percent / 100.0, false, num_perm, kProposedBits), 0, 0, 0};
  for (size_t step = 0; step < tails.size(); ++step) {
    rating.duplicates += histogram.duplicates[step] * tails[step][rating.need];
    rating.others += histogram.others[step] * tails[step][rating.need];
  }
  rating.f1 = 2 * rating.duplicates / (duplicate_weight + rating.duplicates + rating.others);
  return rating;
}

// Thresholds one after the other that are all as good as the best one.
struct Run {
  size_t first;
  size_t last;
  double best;
};

// The middle of the run with the greatest F1; the first of equal ones.
const Rating& best_of(const std::vector<Rating>& ratings, double most) {
  Run best = {0, 0, -1};
  for (size_t i = 0; i < ratings.size();) {
    if (ratings[i].f1 < most - kAsGood) {
      ++i;
      continue;
    }
    Run run = {i, i, 0};
    for (; i < ratings.size() && ratings[i].f1 >= most - kAsGood; ++i) {
      run.last = i;
      run.best = std::max(run.best, ratings[i].f1);
    }
    if (run.best > best.best) best = run;
  }
  const int middle = (ratings[best.first].percent + ratings[best.last].percent + 1) / 2;
  return ratings[static_cast<size_t>(middle - kLeastPercent)];
}

// An index has an entry a band, and as many bands as components may differ, and one more.
double bytes_per_row(uint32_t num_perm, uint32_t need) noexcept {
  constexpr double kEntryBytes = 5.9;
  return static_cast<double>(sizeof(MinhashHeader) + num_perm * kProposedBits / 8) +
         rounded(kEntryBytes * (num_perm + 1 - need), 0);
}

Proposal proposal_of(const Rating& rating, uint32_t form, uint32_t num_perm, double duplicate_weight) noexcept {
  const double found = rating.duplicates + rating.others;
  return {.form = form,
          .num_perm = num_perm,
          .threshold = rating.percent / 100.0,
          .recall = rating.duplicates / duplicate_weight,
          .precision = found > 0 ? rating.duplicates / found : 0,
          .f1 = rating.f1,
          .bytes_per_row = bytes_per_row(num_perm, rating.need)};
}

}  // namespace

std::vector<Proposal> propose(std::span<const SimilarityHistogram> histograms, double duplicate_weight) {
  std::vector<Proposal> proposals;
  for (const uint32_t num_perm : kProposedNumPerm) {
    const Tails tails = tails_of(num_perm);
    for (uint32_t form = 0; form < histograms.size(); ++form) {
      std::vector<Rating> ratings;
      for (int percent = kLeastPercent; percent <= kMostPercent; ++percent)
        ratings.push_back(rate(histograms[form], duplicate_weight, num_perm, tails, percent));
      const double most =
          std::ranges::max_element(ratings, [](const Rating& x, const Rating& y) { return x.f1 < y.f1; })->f1;
      if (most > 0) proposals.push_back(proposal_of(best_of(ratings, most), form, num_perm, duplicate_weight));
    }
  }
  std::ranges::sort(proposals, {},
                    [](const Proposal& p) { return std::make_tuple(-rounded(p.f1, 2), p.bytes_per_row, p.form); });
  return proposals;
}

double rounded(double value, int digits) noexcept {
  constexpr double kShort = 1e-12;
  const double scale = std::pow(10.0, digits);
  return std::floor(value * scale + 0.5 + kShort) / scale;
}

}  // namespace neardup
