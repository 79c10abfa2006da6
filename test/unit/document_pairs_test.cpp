// Pairs of documents as they are verified, and the margin with which signatures are searched for them.
#include "core/exact/document_pairs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "core/exact/edit_distance.h"
#include "core/exact/shingle_set.h"
#include "core/signature/margin.h"
#include "core/signature/minhash.h"
#include "core/signature/sign.h"

namespace neardup::document_pairs_test {
namespace {

std::vector<std::string> documents(size_t n, std::mt19937& rng) {
  std::vector<std::string> out;
  for (size_t i = 0; i < n; ++i) {
    std::string text = i % 3 == 0 || out.empty() ? "" : out[rng() % out.size()];
    if (text.empty()) {
      for (size_t words = rng() % 60; words > 0; --words) text += "w" + std::to_string(rng() % 40) + " ";
    } else {
      text[rng() % text.size()] = 'x';
    }
    out.push_back(text);
  }
  return out;
}

std::vector<Document> views(const std::vector<std::string>& texts) {
  std::vector<Document> out;
  for (const std::string& t : texts) out.push_back({reinterpret_cast<const uint8_t*>(t.data()), t.size()});
  return out;
}

std::vector<DocumentPair> every_pair(size_t n) {
  std::vector<DocumentPair> out;
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = i; j < n; ++j) out.push_back({i, j, -1});
  return out;
}

TEST(CompareDocuments, EqualsOnePairAtATime) {
  std::mt19937 rng(1);
  const std::vector<std::string> texts = documents(60, rng);
  const std::vector<Document> docs = views(texts);
  size_t near = 0;
  size_t far = 0;
  for (const DocumentMeasure& m : {DocumentMeasure{DocumentMeasure::Kind::jaccard, Unit::word, 3, 0.5},
                                   {DocumentMeasure::Kind::jaccard, Unit::character, 5, 1},
                                   {DocumentMeasure::Kind::edit_rate, Unit::character, 0, 0.9},
                                   {DocumentMeasure::Kind::edit_rate, Unit::byte, 0, 0.01}}) {
    for (const unsigned threads : {1u, 3u}) {
      std::vector<DocumentPair> pairs = every_pair(docs.size());
      DocumentComparer comparer(m, threads, nullptr);
      // Half of the documents first, then all; and once more from the start.
      std::vector<DocumentPair> some = every_pair(docs.size() / 2);
      comparer.compare(docs.data(), docs.size() / 2, some.data(), some.size());
      comparer.compare(docs.data(), docs.size(), pairs.data(), pairs.size());
      for (const DocumentPair& p : some) {
        const size_t at = p.a * docs.size() - p.a * (p.a + 1) / 2 + p.b;
        ASSERT_TRUE(p.similarity == pairs[at].similarity ||
                    (std::isnan(p.similarity) && std::isnan(pairs[at].similarity)));
      }
      EXPECT_EQ(comparer.held() > 0, m.kind == DocumentMeasure::Kind::jaccard);
      comparer.clear();
      EXPECT_EQ(comparer.held(), 0u);
      comparer.compare(docs.data(), docs.size(), pairs.data(), pairs.size());
      for (const DocumentPair& p : pairs) {
        const Document& a = docs[p.a];
        const Document& b = docs[p.b];
        const double want = m.kind == DocumentMeasure::Kind::jaccard
                                ? overlap(distinct_shingles(m.unit, m.k, a.bytes, a.size, nullptr),
                                          distinct_shingles(m.unit, m.k, b.bytes, b.size, nullptr))
                                      .jaccard()
                                : 1 - *edit_rate(m.unit, a.bytes, a.size, b.bytes, b.size);
        if (want >= m.threshold) {
          ASSERT_EQ(p.similarity, want);
          ++near;
        } else {
          ASSERT_TRUE(std::isnan(p.similarity)) << p.similarity << " for " << want;
          ++far;
        }
      }
    }
  }
  EXPECT_GT(near, 500u);
  EXPECT_GT(far, 500u);
}

struct Always final : StopCheck {
  bool should_stop() noexcept override { return true; }
};

TEST(CompareDocuments, CanBeCancelled) {
  const std::vector<std::string> texts{std::string(4000000, 'a'), std::string(4000000, 'b')};
  const std::vector<Document> docs = views(texts);
  Always stop;
  for (const unsigned threads : {1u, 2u}) {
    for (const auto kind : {DocumentMeasure::Kind::jaccard, DocumentMeasure::Kind::edit_rate}) {
      std::vector<DocumentPair> pairs(50, DocumentPair{0, 1, 0});
      try {
        DocumentComparer({kind, Unit::character, 5, 0.01}, threads, &stop)
            .compare(docs.data(), docs.size(), pairs.data(), pairs.size());
        FAIL() << "not cancelled";
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::cancelled);
      }
    }
  }
}

class Counting final : public StopCheck {
 public:
  bool should_stop() noexcept override {
    ++asked;
    return false;
  }
  int asked = 0;
};

// Some 50 ms of work, in documents of which each takes less than a millisecond.
TEST(CompareDocuments, ManyShortDocumentsAskWhetherToStop) {
  const std::vector<std::string> texts(2000, std::string(1000, 'x'));
  const std::vector<Document> docs = views(texts);
  Counting stop;
  DocumentComparer({DocumentMeasure::Kind::jaccard, Unit::character, 5, 0.5}, 1, &stop)
      .compare(docs.data(), docs.size(), nullptr, 0);
  EXPECT_GT(stop.asked, 50);
}

// The table of docs/algorithms.md.
TEST(Margin, IsTheBinomialQuantile) {
  EXPECT_EQ(matches_with_recall(0.5, 0.99, 128, 32), 51u);
  EXPECT_EQ(matches_with_recall(0.7, 0.99, 128, 32), 77u);
  EXPECT_EQ(matches_with_recall(0.8, 0.99, 128, 32), 91u);
  EXPECT_EQ(matches_with_recall(0.9, 0.99, 128, 32), 107u);
  EXPECT_EQ(matches_with_recall(0.95, 0.99, 128, 32), 115u);
  EXPECT_EQ(matches_with_recall(0.5, 0.999, 128, 32), 47u);
  EXPECT_EQ(matches_with_recall(0.8, 0.999, 128, 16), 88u);
  EXPECT_EQ(matches_with_recall(0.95, 0.999, 128, 32), 113u);
  EXPECT_EQ(matches_with_recall(1, 0.999, 128, 8), 128u);
  EXPECT_EQ(matches_with_recall(0.001, 0.999, 16, 32), 1u);
  for (const double bad : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_THROW(matches_with_recall(bad, 0.9, 128, 32), Error);
    EXPECT_THROW(matches_with_recall(0.9, bad, 128, 32), Error);
  }
}

// The quantile against the sum of exact probabilities, by Pascal's triangle.
TEST(Margin, HoldsForEverySize) {
  for (const uint32_t n : {16u, 100u, 256u}) {
    for (const double j : {0.1, 0.5, 0.83, 0.99}) {
      std::vector<long double> chance(n + 1);  // of m equal components
      chance[0] = 1;
      for (uint32_t i = 0; i < n; ++i)
        for (uint32_t m = i + 1;; --m) {
          chance[m] = chance[m] * (1 - static_cast<long double>(j)) + (m > 0 ? chance[m - 1] * j : 0);
          if (m == 0) break;
        }
      for (const double recall : {0.9, 0.999}) {
        const uint32_t need = matches_with_recall(j, recall, n, 32);
        long double below = 0;
        for (uint32_t m = 0; m < need; ++m) below += chance[m];
        if (need > 1) {
          EXPECT_LE(below, 1 - recall + 1e-12);
        }
        EXPECT_GT(below + chance[need], 1 - recall - 1e-12);
      }
    }
  }
}

// A search for what the margin says must ask for exactly that many.
TEST(Margin, SurvivesTheWayThroughAThreshold) {
  for (const uint32_t bits : {8u, 16u, 32u}) {
    for (const uint32_t n : {16u, 100u, 128u, 1024u}) {
      for (uint32_t m = bits == 8 ? n / 16 + 1 : 1; m <= n; ++m)
        ASSERT_EQ(min_matches(estimate_jaccard(m, n, bits), false, n, bits), m);
    }
  }
}

}  // namespace
}  // namespace neardup::document_pairs_test
