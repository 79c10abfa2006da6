// Pairs of a sample: what makes a duplicate, equal documents, forms of shingles, exact similarities.
#include "core/suggest/sample_pairs.h"

#include <gtest/gtest.h>
#include <random>

#include "core/exact/edit_distance.h"
#include "core/exact/shingle_set.h"
#include "core/suggest/exact_similarity.h"
#include "core/suggest/shingle_forms.h"

#include "test/reference/document_families.h"

namespace neardup::sample_pairs_test {
namespace {

using reference::as_documents;
using reference::families;

TEST(SamplePairs, Totals) {
  const PairTotals totals =
      sum_duplicates({{0, 1, 2.5, true, false, false, 0.25}, {0, 2, 7, false}, {1, 2, 1, true, false, false, 0.5}});
  EXPECT_EQ(totals.duplicates, 2u);
  EXPECT_EQ(totals.weight, 3.5);
  EXPECT_EQ(totals.share, 0.75);
}

TEST(SamplePairs, OfEqualDocumentsTheFirstStays) {
  const std::vector<std::string> texts = {"b", "a", "b", "", "a", "c", ""};
  std::vector<Document> documents = as_documents(texts);
  std::vector<std::string_view> ids = {"1", "2", "3", "4", "5", "6", "7"};
  ASSERT_EQ(drop_copies(documents.data(), ids.data(), documents.size()), 4u);
  std::string left;
  for (size_t i = 0; i < 4; ++i)
    left += std::string(ids[i]) + std::string(documents[i].bytes, documents[i].bytes + documents[i].size) + ".";
  EXPECT_EQ(left, "1b.2a.4.6c.");
}

TEST(SamplePairs, DuplicatesByEditRate) {
  const std::vector<std::string> texts = families(1, 6, {0.05, 0.1, 0.2, 0.4});
  const std::vector<Document> documents = as_documents(texts);
  std::vector<SamplePair> pairs;
  for (uint32_t a = 0; a < documents.size(); ++a)
    for (uint32_t b = a + 1; b < documents.size(); ++b) pairs.push_back({a, b});
  for (const double least : {0.5, 0.8, 0.9, 1.0}) {
    judge_by_edit_rate(documents.data(), documents.size(), least, 2, nullptr, &pairs);
    for (const SamplePair& p : pairs) {
      const Document& a = documents[p.a];
      const Document& b = documents[p.b];
      const double rate = *edit_rate(Unit::character, a.bytes, a.size, b.bytes, b.size);
      const double similarity = 1 - 2 * rate + 1e-9;
      EXPECT_EQ(p.duplicate, similarity >= least) << p.a << " and " << p.b << " at " << least;
      EXPECT_EQ(p.strictly, similarity >= (1 + least) / 2) << p.a << " and " << p.b << " at " << least;
      EXPECT_EQ(p.generously, similarity >= 0.5) << p.a << " and " << p.b;
    }
  }
}

// 1 - 2 * 0.1 is a little below 0.8 in float8.
TEST(SamplePairs, TheRateThatIsAskedForBelongsToIt) {
  const std::vector<std::string> texts = {"aaaaaaaaab", "aaaaaaaaac", "aaaaaaaabb", "aaaaaaaacc"};
  const std::vector<Document> documents = as_documents(texts);
  std::vector<SamplePair> pairs = {{0, 1}, {2, 3}};
  judge_by_edit_rate(documents.data(), documents.size(), 0.8, 1, nullptr, &pairs);
  EXPECT_TRUE(pairs[0].duplicate);  // 1 of 20
  EXPECT_TRUE(pairs[1].duplicate);  // 2 of 20
  judge_by_edit_rate(documents.data(), documents.size(), 0.81, 1, nullptr, &pairs);
  EXPECT_TRUE(pairs[0].duplicate);
  EXPECT_FALSE(pairs[1].duplicate);
}

// A form that is filled in with other numbers is no copy: at least half of the different numbers have to be in both.
TEST(SamplePairs, NumbersHaveToAgree) {
  const std::string report = "The Treasury said that its balances at the Federal Reserve rose to ";
  const std::vector<std::string> texts = {report + "3.254 billion dollars", report + "4.602 billion dollars",
                                          report + "3.254 billion dlrs",    report + "3.254 and 7 billion dollars",
                                          report + "some billion dollars",  report + "many billion dollars"};
  const std::vector<Document> documents = as_documents(texts);
  std::vector<SamplePair> pairs = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {4, 5}};
  judge_by_edit_rate(documents.data(), documents.size(), 0.8, 1, nullptr, &pairs);
  const bool duplicate[] = {false, true, true, false, true};  // 0 of 2, 1 of 1, 1 of 2, 0 of 1 numbers, none at all
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(pairs[i].duplicate, duplicate[i]) << i;
    EXPECT_EQ(pairs[i].strictly, duplicate[i]) << i;
    EXPECT_TRUE(pairs[i].generously) << i;
  }
}

double unspaced(const std::vector<std::string>& texts) {
  const std::vector<Document> documents = as_documents(texts);
  return unspaced_share(documents.data(), documents.size(), nullptr);
}

TEST(ShingleForms, ShareOfLettersWithoutSpaces) {
  EXPECT_EQ(unspaced({}), 0);
  EXPECT_EQ(unspaced({"...", " "}), 0);
  EXPECT_EQ(unspaced({"a few words in English", "und drei auf Deutsch"}), 0);
  EXPECT_EQ(unspaced({"\u4e2d\u6587\u5b57"}), 1);
  EXPECT_EQ(unspaced({"abc", "\u4e2d"}), 0.25);
  EXPECT_EQ(unspaced({"\u4e2d\u0301"}), 1);  // with a mark
  EXPECT_EQ(unspaced({"\u00e9"}), 0);        // one letter of two bytes
  EXPECT_EQ(unspaced({"\u0e01\u0e02\u0e03"}), unspaced({"\u0e01\u0e02\u0e03\u0e04"}));
}

// The first 1,000 characters of the first 200 documents.
TEST(ShingleForms, OnlyBeginningsAreLookedAt) {
  std::string long_text;
  for (int i = 0; i < 1000; ++i) long_text += "\u4e2d";
  EXPECT_EQ(unspaced({long_text + std::string(5000, 'a')}), 1);
  std::vector<std::string> texts(200, "\u4e2d");
  texts.emplace_back(5000, 'a');
  EXPECT_EQ(unspaced(texts), 1);
}

TEST(ShingleForms, CharactersAloneWithoutSpaces) {
  EXPECT_EQ(forms_for(0.5).size(), 6u);
  EXPECT_EQ(forms_for(0.5)[0].unit, Unit::word);
  EXPECT_EQ(forms_for(0.51).size(), 5u);
  for (const ShingleForm& form : forms_for(1).subspan(1)) EXPECT_EQ(form.unit, Unit::character);
  for (const double share : {0.0, 1.0}) {
    EXPECT_EQ(forms_for(share)[0].unit, Unit::word) << "the default comes first";
    EXPECT_EQ(forms_for(share)[0].k, 3);
  }
}

SimilarityHistogram by_definition(const std::vector<Document>& documents, const std::vector<SamplePair>& pairs,
                                  const ShingleForm& form) {
  SimilarityHistogram histogram;
  const auto row_shingles = [&](uint32_t i) {
    return distinct_shingles(form.unit, form.k, documents[i].bytes, documents[i].size, nullptr);
  };
  for (const SamplePair& p : pairs) histogram.add(overlap(row_shingles(p.a), row_shingles(p.b)).jaccard(), p, p.weight);
  return histogram;
}

TEST(ExactSimilarity, WhateverTheMemory) {
  std::vector<std::string> texts = families(2, 8, {0.05, 0.2, 0.5});
  texts.insert(texts.end(), {"", "...", "..."});
  const std::vector<Document> documents = as_documents(texts);
  std::mt19937 random(3);
  std::vector<SamplePair> pairs;
  for (uint32_t a = 0; a < documents.size(); ++a)
    for (uint32_t b = a + 1; b < documents.size(); ++b)
      if (random() % 3 == 0) pairs.push_back({a, b, 1.0 + random() % 4, random() % 2 == 0});
  pairs.push_back({static_cast<uint32_t>(texts.size() - 3), static_cast<uint32_t>(texts.size() - 2)});
  for (const ShingleForm& form : forms_for(0)) {
    const SimilarityHistogram wanted = by_definition(documents, pairs, form);
    for (const size_t memory : {size_t{0}, size_t{20000}, SIZE_MAX}) {
      for (const unsigned threads : {1u, 3u}) {
        const SimilarityHistogram got =
            make_histograms(pairs, exact_similarities(documents.data(), pairs, form, memory, threads, nullptr)).pairs;
        for (int step = 0; step <= SimilarityHistogram::kSimilaritySteps; ++step) {
          EXPECT_EQ(got.duplicates[step], wanted.duplicates[step]) << step;
          EXPECT_EQ(got.others[step], wanted.others[step]) << step;
        }
      }
    }
  }
}

TEST(ExactSimilarity, StepsOfAHalfPercent) {
  SimilarityHistogram histogram;
  histogram.add(0, {0, 1, 3, true}, 3);
  histogram.add(1, {0, 1, 2, false}, 2);
  histogram.add(0.3349, {0, 1, 1, true}, 1);
  histogram.add(0.3351, {0, 1, 1, true}, 1);
  histogram.add(0.3376, {0, 1, 1, true}, 1);
  EXPECT_EQ(histogram.duplicates[0], 3);
  EXPECT_EQ(histogram.others[200], 2);
  EXPECT_EQ(histogram.duplicates[67], 2);
  EXPECT_EQ(histogram.duplicates[68], 1);
  EXPECT_EQ(SimilarityHistogram::similarity(67), 0.335);
}

}  // namespace
}  // namespace neardup::sample_pairs_test
