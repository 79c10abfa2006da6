// See proposals.h.
#include "core/suggest/proposals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/signature/minhash.h"
#include "core/signature/minhash_encode.h"
#include "core/suggest/match_tail.h"

namespace neardup {
namespace {

constexpr int kLeastProposedPercent = 30;
constexpr int kMostProposedPercent = 99;
// F1 that is as good as the greatest.
constexpr double kAsGood = 0.005;
// A gain of F1. A smaller one on a sample is no reason to leave the default.
constexpr double kDefaultBonus = 0.05;

// The chance that as many components agree, by step of similarity and by their number.
using Tails = std::vector<std::vector<double>>;

Tails match_tails(uint32_t num_perm) {
  Tails tails;
  for (int step = 0; step <= SimilarityHistogram::kSimilaritySteps; ++step)
    tails.push_back(match_tail(num_perm, SimilarityHistogram::similarity(step)));
  return tails;
}

// The weight of pairs that a threshold finds, by one kind of weights.
struct Found {
  double duplicates = 0;
  double others = 0;
  double strictly = 0;
  double generously = 0;
  double duplicates_of_all = 0;

  double all() const noexcept { return duplicates + others; }
  double f1() const noexcept { return 2 * duplicates / (duplicates_of_all + all()); }
  double share(double weight) const noexcept { return all() > 0 ? std::min(weight / all(), 1.0) : 0; }
};

struct Rating {
  int percent;
  uint32_t need;  // components that have to agree
  Found pairs;
  Found families;
  double squares;
  double f1;

  const Found& worse() const noexcept { return families.f1() < pairs.f1() ? families : pairs; }
};

double weighted_sum(const double* weights, const Tails& tails, uint32_t need) {
  double sum = 0;
  for (size_t step = 0; step < tails.size(); ++step) sum += weights[step] * tails[step][need];
  return sum;
}

Found find(const SimilarityHistogram& histogram, double duplicates_of_all, const Tails& tails, uint32_t need) {
  return {weighted_sum(histogram.duplicates, tails, need), weighted_sum(histogram.others, tails, need),
          weighted_sum(histogram.strictly, tails, need), weighted_sum(histogram.generously, tails, need),
          duplicates_of_all};
}

Rating rate(const FormHistograms& histograms, const PairTotals& totals, uint32_t num_perm, const Tails& tails,
            int percent) {
  const uint32_t need = min_matches(percent / 100.0, false, num_perm, kProposedBits);
  Rating rating = {.percent = percent,
                   .need = need,
                   .pairs = find(histograms.pairs, totals.weight, tails, need),
                   .families = find(histograms.families, totals.share, tails, need),
                   .squares = weighted_sum(histograms.squares, tails, need),
                   .f1 = 0};
  rating.f1 = rating.worse().f1();
  return rating;
}

// Thresholds one after the other that are all as good as the best one.
struct Run {
  size_t first;
  size_t last;
  double best;
};

// The middle of the run with the greatest F1; the first of equal ones.
const Rating& best_rating(const std::vector<Rating>& ratings, double most) {
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
  return ratings[static_cast<size_t>(middle - kLeastProposedPercent)];
}

// An index has an entry a band, and as many bands as components may differ, and one more.
double bytes_per_row(uint32_t num_perm, uint32_t need) noexcept {
  constexpr double kProposedEntryBytes = 5.9;
  return static_cast<double>(sizeof(MinhashHeader) + num_perm * kProposedBits / 8) +
         rounded(kProposedEntryBytes * (num_perm + 1 - need), 0);
}

Proposal make_proposal(const Rating& rating, uint32_t form, uint32_t num_perm) noexcept {
  // as many independent pairs as give a mean of this variance (L. Kish, Survey Sampling, 1965)
  const double families = rating.squares > 0 ? rating.families.all() * rating.families.all() / rating.squares : 0;
  const auto interval = [&](const Found& found) {
    return Interval{share_interval(found.share(found.strictly), families).low,
                    share_interval(found.share(found.generously), families).high};
  };
  const Interval of_pairs = interval(rating.pairs);
  const Interval of_families = interval(rating.families);
  const Found& worse = rating.worse();
  return {.form = form,
          .num_perm = num_perm,
          .threshold = rating.percent / 100.0,
          .recall = worse.duplicates / worse.duplicates_of_all,
          .precision = worse.all() > 0 ? worse.duplicates / worse.all() : std::numeric_limits<double>::quiet_NaN(),
          .precision_low = std::min(of_pairs.low, of_families.low),
          .precision_high = std::max(of_pairs.high, of_families.high),
          .families = families,
          .is_default = form == kDefaultForm && num_perm == kDefaultNumPerm && rating.percent == kDefaultPercent,
          .f1 = rating.f1,
          .bytes_per_row = bytes_per_row(num_perm, rating.need)};
}

bool is_better(const Proposal& x, const Proposal& y) noexcept {
  const auto rank = [](const Proposal& p) {
    return std::make_tuple(-rounded(p.f1 + (p.is_default ? kDefaultBonus : 0), 2), p.bytes_per_row, p.form);
  };
  return rank(x) < rank(y);
}

}  // namespace

std::vector<Proposal> propose(std::span<const FormHistograms> histograms, const PairTotals& totals) {
  std::vector<Proposal> proposals;
  for (const uint32_t num_perm : kProposedNumPerm) {
    const Tails tails = match_tails(num_perm);
    for (uint32_t form = 0; form < histograms.size(); ++form) {
      std::vector<Rating> ratings;
      for (int percent = kLeastProposedPercent; percent <= kMostProposedPercent; ++percent)
        ratings.push_back(rate(histograms[form], totals, num_perm, tails, percent));
      const double most =
          std::ranges::max_element(ratings, [](const Rating& x, const Rating& y) { return x.f1 < y.f1; })->f1;
      if (most > 0) proposals.push_back(make_proposal(best_rating(ratings, most), form, num_perm));
      if (form == kDefaultForm && num_perm == kDefaultNumPerm)
        proposals.push_back(make_proposal(ratings[kDefaultPercent - kLeastProposedPercent], form, num_perm));
    }
  }
  std::ranges::sort(proposals, is_better);
  const auto same = [](const Proposal& x, const Proposal& y) { return x.is_default && y.is_default; };
  proposals.erase(std::unique(proposals.begin(), proposals.end(), same), proposals.end());
  return proposals;
}

Interval share_interval(double share, double n) noexcept {
  if (!(n > 0)) return {0, 1};
  constexpr double kNormalQuantile = 1.6448536269514722;  // 95 per cent
  constexpr double kSquare = kNormalQuantile * kNormalQuantile;
  const double middle = share + kSquare / (2 * n);
  const double half = kNormalQuantile * std::sqrt(share * (1 - share) / n + kSquare / (4 * n * n));
  const double scale = 1 + kSquare / n;
  return {std::max(0.0, (middle - half) / scale), std::min(1.0, (middle + half) / scale)};
}

double rounded(double value, int digits) noexcept {
  constexpr double kShort = 1e-12;
  const double scale = std::pow(10.0, digits);
  return std::floor(value * scale + 0.5 + kShort) / scale;
}

}  // namespace neardup
