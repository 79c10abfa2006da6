// Proposals against ratings by the definition.
#include "core/suggest/proposals.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "core/signature/minhash.h"
#include "core/suggest/match_tail.h"

namespace neardup::proposals_test {
namespace {

struct Expected {
  double recall;
  double precision;
  double f1;
};

// Where each pair is a family of its own.
std::vector<FormHistograms> alone(std::span<const SimilarityHistogram> histograms) {
  std::vector<FormHistograms> forms;
  for (const SimilarityHistogram& histogram : histograms) forms.push_back({histogram, histogram});
  return forms;
}

// Without the default, which is not chosen.
std::vector<Proposal> chosen(std::span<const SimilarityHistogram> histograms, double duplicates) {
  std::vector<Proposal> proposals = propose(alone(histograms), {0, duplicates, duplicates});
  std::erase_if(proposals, [](const Proposal& p) { return p.is_default; });
  return proposals;
}

// The recall and precision that a threshold gives for pairs of these similarities.
Expected rated(const SimilarityHistogram& histogram, uint32_t num_perm, double threshold) {
  double duplicates = 0;
  double found = 0;
  double found_duplicates = 0;
  for (int step = 0; step <= SimilarityHistogram::kSimilaritySteps; ++step) {
    const double chance = match_tail(num_perm, step / 200.0)[min_matches(threshold, false, num_perm, 16)];
    duplicates += histogram.duplicates[step];
    found_duplicates += histogram.duplicates[step] * chance;
    found += (histogram.duplicates[step] + histogram.others[step]) * chance;
  }
  const double recall = found_duplicates / duplicates;
  const double precision = found_duplicates / found;
  return {recall, precision, 2 * recall * precision / (recall + precision)};
}

SimilarityHistogram random_histogram(uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> near(0.75, 0.12);
  std::normal_distribution<double> far(0.45, 0.15);
  SimilarityHistogram histogram;
  for (int i = 0; i < 500; ++i) {
    histogram.add(std::clamp(near(random), 0.0, 1.0), {0, 1, 1, true}, 1);
    histogram.add(std::clamp(far(random), 0.0, 1.0), {0, 1, 2, false}, 2);
  }
  return histogram;
}

TEST(Proposals, NoThresholdIsBetter) {
  const SimilarityHistogram histogram = random_histogram(1);
  const std::vector<Proposal> proposals = chosen({&histogram, 1}, 500);
  ASSERT_EQ(proposals.size(), 3u);
  for (const Proposal& p : proposals) {
    const Expected here = rated(histogram, p.num_perm, p.threshold);
    EXPECT_NEAR(p.recall, here.recall, 1e-9);
    EXPECT_NEAR(p.precision, here.precision, 1e-9);
    EXPECT_NEAR(p.f1, here.f1, 1e-9);
    for (int percent = 30; percent < 100; ++percent)
      EXPECT_LE(rated(histogram, p.num_perm, percent / 100.0).f1, p.f1 + 0.005) << percent;
  }
}

TEST(Proposals, BestFirst) {
  std::vector<SimilarityHistogram> histograms;
  for (uint32_t seed = 2; seed < 8; ++seed) histograms.push_back(random_histogram(seed));
  const std::vector<Proposal> proposals = chosen(histograms, 500);
  EXPECT_EQ(proposals.size(), 18u);
  for (size_t i = 1; i < proposals.size(); ++i) {
    const Proposal& a = proposals[i - 1];
    const Proposal& b = proposals[i];
    EXPECT_GE(rounded(a.f1, 2), rounded(b.f1, 2));
    if (rounded(a.f1, 2) == rounded(b.f1, 2)) {
      EXPECT_LT(std::pair(a.bytes_per_row, a.form), std::pair(b.bytes_per_row, b.form));
    }
  }
}

void expect_threshold(const Proposal& p, uint32_t num_perm, double threshold) {
  EXPECT_EQ(p.num_perm, num_perm);
  EXPECT_EQ(p.threshold, threshold);
}

// A clean cut between 0.5 and 0.9: all thresholds between are as good, and the middle is taken.
TEST(Proposals, MiddleOfThoseThatAreAsGood) {
  SimilarityHistogram histogram;
  histogram.duplicates[180] = 100;
  histogram.others[100] = 100;
  const std::vector<Proposal> proposals = chosen({&histogram, 1}, 100);
  ASSERT_EQ(proposals.size(), 3u);
  expect_threshold(proposals[0], 64, 0.73);
  expect_threshold(proposals[1], 128, 0.72);
  expect_threshold(proposals[2], 256, 0.72);
  EXPECT_NEAR(proposals[0].recall, 0.9999616316280124, 1e-12);
  EXPECT_NEAR(proposals[0].precision, 0.9998865673242691, 1e-12);
  EXPECT_NEAR(proposals[0].f1, 0.9999240980673715, 1e-12);
}

// Low thresholds find all duplicates and the others, high ones half of the duplicates and no other. Both are as good
// but for a little; between is nothing good.
TEST(Proposals, OfTwoRunsTheBetter) {
  SimilarityHistogram histogram;
  histogram.duplicates[190] = 50;
  histogram.duplicates[140] = 50;
  const auto threshold_of_256 = [&](double others) {
    histogram.others[165] = others;
    const std::vector<Proposal> proposals = chosen({&histogram, 1}, 100);
    return std::ranges::find(proposals, 256u, &Proposal::num_perm)->threshold;
  };
  EXPECT_EQ(threshold_of_256(98), 0.47);
  EXPECT_EQ(threshold_of_256(102), 0.9);
}

struct Golden {
  uint32_t form;
  uint32_t num_perm;
  double threshold;
  double recall;
  double precision;
  double f1;
  double bytes_per_row;
};

// The SQL of 0.2.0 proposes the same for two forms without a clean cut.
TEST(Proposals, EqualThoseOf020) {
  std::vector<SimilarityHistogram> histograms(2);
  double weight = 0;
  for (int form = 0; form < 2; ++form) {
    for (int step = 0; step <= 200; step += 5) {
      const double duplicates = step < 190 ? std::max(0, step - 100 - 10 * form) : 20;
      histograms[form].duplicates[step] = duplicates;
      histograms[form].others[step] = std::max(0, 125 - step - 5 * form);
      if (form == 0) weight += duplicates;
    }
  }
  ASSERT_EQ(weight, 825);
  const Golden golden[] = {
      {0, 256, 0.56, 0.9782602653672652, 0.9756611962233168, 0.9769590021791342, 1195},
      {0, 128, 0.56, 0.975204263958269, 0.9699371341194226, 0.9725635677689117, 608},
      {0, 64, 0.57, 0.9602420045768693, 0.9685457548731663, 0.9643760052158485, 309},
      {1, 128, 0.57, 0.7924503361790435, 0.9834188644803427, 0.8776666766594071, 602},
      {1, 256, 0.57, 0.7950047138919812, 0.9890441514012603, 0.8814722263586141, 1183},
      {1, 64, 0.57, 0.785945246814666, 0.9767821960737461, 0.871033496726414, 309},
  };
  const std::vector<Proposal> proposals = chosen(histograms, weight);
  ASSERT_EQ(proposals.size(), std::size(golden));
  for (size_t i = 0; i < proposals.size(); ++i) {
    EXPECT_EQ(proposals[i].form, golden[i].form);
    expect_threshold(proposals[i], golden[i].num_perm, golden[i].threshold);
    EXPECT_NEAR(proposals[i].recall, golden[i].recall, 1e-12);
    EXPECT_NEAR(proposals[i].precision, golden[i].precision, 1e-12);
    EXPECT_NEAR(proposals[i].f1, golden[i].f1, 1e-12);
    EXPECT_EQ(proposals[i].bytes_per_row, golden[i].bytes_per_row);
  }
}

// 16 bytes, two for each component, and 5.9 for each of the bands.
TEST(Proposals, BytesOfARow) {
  SimilarityHistogram histogram;
  histogram.duplicates[200] = 1;
  const std::vector<Proposal> proposals = chosen({&histogram, 1}, 1);
  ASSERT_EQ(proposals.size(), 3u);
  for (const Proposal& p : proposals) {
    EXPECT_EQ(p.threshold, 0.65);
    const double bands = p.num_perm + 1.0 - min_matches(0.65, false, p.num_perm, 16);
    EXPECT_EQ(p.bytes_per_row, 16 + 2 * p.num_perm + std::round(5.9 * bands));
  }
}

TEST(Proposals, NoneOfAFormThatFindsNothing) {
  std::vector<SimilarityHistogram> histograms(2);
  histograms[0].others[150] = 5;
  histograms[0].duplicates[0] = 5;
  histograms[1].duplicates[190] = 5;
  const std::vector<Proposal> proposals = chosen(histograms, 5);
  ASSERT_EQ(proposals.size(), 3u);
  for (const Proposal& p : proposals) EXPECT_EQ(p.form, 1u);
}

// Words with k = 3 at 0.8 find all and some others; another form finds all and fewer others.
TEST(Proposals, TheDefaultIsLeftForMuchBetterOnesOnly) {
  std::vector<SimilarityHistogram> histograms(2);
  for (SimilarityHistogram& histogram : histograms) histogram.duplicates[200] = 100;
  for (const auto& [others, is_first] : {std::pair{8.0, true}, std::pair{20.0, false}}) {
    histograms[0].others[200] = others;
    const std::vector<Proposal> proposals = propose(alone(histograms), {100, 100, 100});
    EXPECT_EQ(proposals[0].is_default, is_first) << others;
  }
}

TEST(Proposals, TheDefaultIsAlwaysThere) {
  std::vector<SimilarityHistogram> histograms = {random_histogram(9), random_histogram(10)};
  const std::vector<Proposal> proposals = propose(alone(histograms), {0, 500, 500});
  ASSERT_EQ(proposals.size(), 7u);
  const auto found = std::ranges::find(proposals, true, &Proposal::is_default);
  ASSERT_NE(found, proposals.end());
  EXPECT_EQ(found->form, 0u);
  expect_threshold(*found, 128, 0.8);
  EXPECT_NEAR(found->f1, rated(histograms[0], 128, 0.8).f1, 1e-9);
  histograms[0] = {};
  histograms[0].duplicates[0] = 5;
  const std::vector<Proposal> of_other = propose(alone(histograms), {0, 500, 500});
  const auto nothing = std::ranges::find(of_other, true, &Proposal::is_default);
  ASSERT_NE(nothing, of_other.end());
  EXPECT_EQ(nothing - of_other.begin(), 3);  // behind the three of the other form
  EXPECT_TRUE(std::isnan(nothing->precision));
  EXPECT_EQ(nothing->precision_low, 0);
  EXPECT_EQ(nothing->precision_high, 1);
}

// 40 pairs of weight 1 and 10 of weight 4 say as much as (80 * 80) / (40 + 160) = 32.
TEST(Proposals, PrecisionLiesBetweenTheJudgements) {
  FormHistograms form;
  for (int i = 0; i < 40; ++i) form.add(1, {0, 1, 1, i < 30, i < 20, i < 36});
  for (int i = 0; i < 10; ++i) form.add(1, {0, 1, 4, true, false, true, 4, 1});
  const std::vector<Proposal> proposals = propose({&form, 1}, {40, 70, 70});
  ASSERT_FALSE(proposals.empty());
  for (const Proposal& p : proposals) {
    EXPECT_NEAR(p.precision, 70.0 / 80, 1e-12);
    EXPECT_NEAR(p.families, 32, 1e-9);
    EXPECT_NEAR(p.precision_low, share_interval(20.0 / 80, 32).low, 1e-12);
    EXPECT_NEAR(p.precision_high, share_interval(76.0 / 80, 32).high, 1e-12);
  }
}

// A family of 100 pairs that are none, beside 50 that are: by families 50 of 51 are right, by pairs 50 of 150. And the
// other way round.
TEST(Proposals, OfPairsAndFamiliesTheWorseCounts) {
  for (const bool large : {false, true}) {
    FormHistograms form;
    for (int i = 0; i < 100; ++i) form.add(1, {0, 1, 1, large, large, large, 0.01, 1});
    for (int i = 0; i < 50; ++i) form.add(1, {2, 3, 1, !large, !large, !large});
    const std::vector<Proposal> proposals =
        propose({&form, 1}, large ? PairTotals{100, 100, 1} : PairTotals{50, 50, 50});
    ASSERT_FALSE(proposals.empty());
    for (const Proposal& p : proposals) {
      EXPECT_NEAR(p.precision, large ? 1.0 / 51 : 50.0 / 150, 1e-12);
      EXPECT_NEAR(p.families, 51, 1e-9);
      EXPECT_NEAR(p.precision_low, share_interval(p.precision, 51).low, 1e-12);
      EXPECT_NEAR(p.precision_high, share_interval(large ? 100.0 / 150 : 50.0 / 51, 51).high, 1e-12);
    }
  }
}

// Wilson's interval: R's prop.test(.., conf.level = 0.9, correct = FALSE).
TEST(Proposals, IntervalOfAShare) {
  const Interval half = share_interval(0.5, 10);
  EXPECT_NEAR(half.low, 0.2693, 5e-5);
  EXPECT_NEAR(half.high, 0.7307, 5e-5);
  const Interval all = share_interval(1, 20);
  EXPECT_NEAR(all.low, 0.8808, 5e-5);
  EXPECT_EQ(all.high, 1);
  EXPECT_EQ(share_interval(0, 0).low, 0);
  EXPECT_EQ(share_interval(0, 0).high, 1);
}

TEST(Proposals, HalvesAreRoundedUpwards) {
  EXPECT_EQ(rounded(0.985, 2), 0.99);
  EXPECT_EQ(rounded(1.005, 2), 1.01);
  EXPECT_EQ(rounded(0.9844999, 3), 0.984);
  EXPECT_EQ(rounded(12.25, 1), 12.3);
  EXPECT_EQ(rounded(0, 3), 0);
  EXPECT_EQ(rounded(29.5, 0), 30);
}

}  // namespace
}  // namespace neardup::proposals_test
