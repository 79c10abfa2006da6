// Near pairs of a sample against signatures compared one by one; and how some of them stand for all.
#include "core/suggest/near_pairs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

#include "core/signature/sign.h"

#include "test/reference/document_families.h"

namespace neardup::near_pairs_test {
namespace {

using reference::as_documents;
using reference::families;

constexpr uint32_t kNumPerm = 128;

struct Near {
  unsigned sum = 0;  // a form adds its estimate, in steps of 1 / 126 of all forms together
  bool alike = false;
};
using NearByDefinition = std::map<std::pair<uint32_t, uint32_t>, Near>;

NearByDefinition by_definition(const std::vector<Document>& documents, std::span<const ShingleForm> forms) {
  NearByDefinition near;
  for (const ShingleForm& form : forms) {
    std::vector<std::vector<uint32_t>> signatures;
    for (const Document& d : documents) {
      std::vector<uint32_t> components(kNumPerm);
      const MinhashParams params = document_params(form.unit, form.k, kNumPerm, 32, 0);
      if (!sign_document(params, d.bytes, d.size, nullptr, components.data())) components.clear();
      signatures.push_back(components);
    }
    for (uint32_t a = 0; a < documents.size(); ++a) {
      for (uint32_t b = a + 1; b < documents.size(); ++b) {
        uint32_t equal = 0;
        for (uint32_t i = 0; i < kNumPerm && !signatures[a].empty() && !signatures[b].empty(); ++i)
          equal += signatures[a][i] == signatures[b][i];
        if (equal < form.near * kNumPerm) continue;
        Near& pair = near[{a, b}];
        pair.sum += std::max<unsigned>(1, equal * 126 / kNumPerm / static_cast<unsigned>(forms.size()));
        pair.alike = pair.alike || equal >= kNumPerm / 2;
      }
    }
  }
  return near;
}

// The number of others that are alike by document, at least 1.
std::map<uint32_t, double> alike_counts(const NearByDefinition& near) {
  std::map<uint32_t, double> alike;
  for (const auto& [pair, n] : near) {
    alike[pair.first] += n.alike;
    alike[pair.second] += n.alike;
  }
  for (auto& [document, n] : alike) n = std::max(n, 1.0);
  return alike;
}

std::vector<std::string> some_texts() {
  std::vector<std::string> texts = families(11, 12, {0.02, 0.1, 0.3, 0.6});
  texts.insert(texts.begin() + 3, "...");  // without a word
  texts.emplace_back("");                  // without anything
  return texts;
}

NearPairs find_near_pairs(const std::vector<Document>& documents, std::span<const ShingleForm> forms) {
  NearPairs near(static_cast<uint32_t>(documents.size()), forms.size());
  for (const ShingleForm& form : forms) near.add_form(documents.data(), form, {});
  return near;
}

double never(uint32_t, uint32_t) noexcept { return 0.9999999; }
double always(uint32_t, uint32_t) noexcept { return 0; }
double by_hash(uint32_t a, uint32_t b) noexcept { return (a * 0x9E3779B1u ^ b * 0x85EBCA77u) / 4294967296.0; }

TEST(NearPairs, AllWhereThereAreFew) {
  const std::vector<std::string> texts = some_texts();
  const std::vector<Document> documents = as_documents(texts);
  const auto wanted = by_definition(documents, forms_for(0));
  uint64_t count = 0;
  const std::vector<SamplePair> all =
      find_near_pairs(documents, forms_for(0)).thinned(wanted.size(), never, nullptr, &count);
  EXPECT_EQ(count, wanted.size());
  ASSERT_EQ(all.size(), wanted.size());
  auto next = wanted.begin();
  std::map<uint32_t, double> alike = alike_counts(wanted);
  for (const SamplePair& p : all) {
    EXPECT_EQ(std::pair(p.a, p.b), next++->first);
    EXPECT_EQ(p.weight, 1);
    EXPECT_DOUBLE_EQ(p.share, 1 / alike[p.a] / alike[p.b]);
    EXPECT_FALSE(p.duplicate);
  }
}

TEST(NearPairs, OfTooManySomeStandForAll) {
  const std::vector<std::string> texts = some_texts();
  const std::vector<Document> documents = as_documents(texts);
  const std::span<const ShingleForm> forms = forms_for(0);
  const auto wanted = by_definition(documents, forms);
  std::map<uint32_t, double> alike = alike_counts(wanted);
  const auto affinity = [](const Near& n) { return std::pow(n.sum / 126.0, 3); };
  double total = 0;
  for (const auto& [pair, n] : wanted) total += affinity(n);
  const NearPairs near = find_near_pairs(documents, forms);
  constexpr uint64_t kMost = 20;
  uint64_t count = 0;
  const std::vector<SamplePair> weighed = near.thinned(kMost, always, nullptr, &count);
  EXPECT_EQ(count, wanted.size());
  ASSERT_EQ(weighed.size(), wanted.size());
  std::vector<double> stands_for;
  for (const SamplePair& p : weighed) {
    stands_for.push_back(std::max(1.0, total / (kMost * affinity(wanted.at({p.a, p.b})))));
    EXPECT_DOUBLE_EQ(p.weight, stands_for.back());
    EXPECT_DOUBLE_EQ(p.share, stands_for.back() / alike[p.a] / alike[p.b]);
  }
  for (const SamplePair& p : near.thinned(kMost, never, nullptr, &count)) EXPECT_EQ(p.weight, 1);
  size_t at = 0;
  const std::vector<SamplePair> kept = near.thinned(kMost, by_hash, nullptr, &count);
  for (size_t i = 0; i < weighed.size(); ++i) {
    const SamplePair& p = weighed[i];
    const bool is_kept = stands_for[i] == 1 || by_hash(p.a, p.b) < 1 / stands_for[i];
    if (!is_kept) continue;
    ASSERT_LT(at, kept.size());
    EXPECT_EQ(std::pair(kept[at].a, kept[at].b), std::pair(p.a, p.b));
    ++at;
  }
  EXPECT_EQ(at, kept.size());
  EXPECT_LE(kept.size(), 2 * kMost);
}

// Five documents that are all alike weigh together as two that are alike.
TEST(NearPairs, AFamilyWeighsAboutAsMuchAsAPair) {
  const std::vector<std::string> texts = families(5, 1, {0.02, 0.02, 0.02, 0.02});
  const ShingleForm words[] = {{Unit::word, 2, 0.2}};
  const std::vector<Document> documents = as_documents(texts);
  uint64_t count = 0;
  double share = 0;
  double square = 0;
  for (const SamplePair& p : find_near_pairs(documents, words).thinned(100, always, nullptr, &count)) {
    share += p.share;
    square += p.share * p.family;
  }
  EXPECT_EQ(count, 10u);
  EXPECT_DOUBLE_EQ(share, 10.0 / 16);
  EXPECT_DOUBLE_EQ(square, share * share);  // as of one pair of this weight
}

TEST(NearPairs, OfDocumentsWithoutShinglesNone) {
  const std::vector<std::string> texts = {"", ".", "-", "!"};
  uint64_t count = 1;
  const ShingleForm words[] = {{Unit::word, 3, 0.2}};
  EXPECT_TRUE(find_near_pairs(as_documents(texts), words).thinned(100, always, nullptr, &count).empty());
  EXPECT_EQ(count, 0u);
  EXPECT_TRUE(find_near_pairs(as_documents({"alone"}), words).thinned(100, always, nullptr, &count).empty());
}

TEST(NearPairs, FewerAreComparedOfLongDocuments) {
  EXPECT_EQ(most_compared_pairs(1000, 1000), 5000u);
  EXPECT_EQ(most_compared_pairs(2000 * 9999, 2000), 1500u);
  EXPECT_EQ(most_compared_pairs(20'000'000, 200), 300u);
}

}  // namespace
}  // namespace neardup::near_pairs_test
