// I-Match against the obvious version: lexicons, terms, fingerprints, variants; limits and refusals.
#include "core/signature/i_match.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "core/base/hash.h"

#include "test/reference/i_match_reference.h"
#include "test/unit/support.h"

namespace neardup::i_match_test {
namespace {

using test::Random;

constexpr size_t kMemory = 16 << 20;

const uint8_t* bytes(const std::string& s) { return reinterpret_cast<const uint8_t*>(s.data()); }

std::vector<unsigned char> plain(const Fingerprint& f) { return {f.begin(), f.end()}; }

std::vector<std::string> random_texts(Random& random, size_t n) {
  std::vector<std::string> out;
  for (size_t i = 0; i < n; ++i) {
    std::string text = i % 5 == 0 ? test::mixed_text(random, random() % 400) : std::string();
    for (uint64_t w = random() % 60; w > 0; --w) text += " W" + std::to_string(random() % (1 + random() % 200));
    out.push_back(text);
  }
  return out;
}

Errc error_code(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "no error";
  return Errc::cancelled;
}

TEST(TermCounts, AddUpWhateverTheMemory) {
  Random random(3);
  const auto texts = random_texts(random, 120);
  const auto want = reference::lexicon(texts);
  for (const size_t memory : {size_t{0}, size_t{20000}, kMemory}) {
    std::map<std::string, int64_t> got;
    TermCounts counts(memory);
    int handed_over = 0;
    const auto hand_over = [&] {
      ++handed_over;
      for (size_t i = 0; i < counts.size(); ++i) got[std::string(counts.word(i))] += counts.count(i);
      counts.clear();
      ASSERT_EQ(counts.size(), 0u);
    };
    for (const std::string& t : texts) {
      counts.add_document(bytes(t), t.size(), nullptr);
      if (counts.full()) hand_over();
    }
    hand_over();
    ASSERT_EQ(counts.documents(), texts.size());
    ASSERT_EQ(got.size(), want.size());
    for (const auto& [word, row] : want) ASSERT_EQ(got[word], row.frequency) << word;
    EXPECT_EQ(handed_over > 1, memory < kMemory);
  }
}

TEST(IMatch, EqualsTheReference) {
  Random random(4);
  for (int round = 0; round < 12; ++round) {
    const auto texts = random_texts(random, 1 + random() % 80);
    const auto rows = reference::lexicon(texts);
    const double n = static_cast<double>(texts.size());
    const double low = static_cast<double>(random() % 50) / 100 + 0.001;
    const double high = low + static_cast<double>(random() % 50) / 100;
    Lexicon lexicon(low, high, kMemory);
    for (const auto& [word, row] : rows) lexicon.add(word, row.frequency, row.idf);
    try {
      lexicon.finish();
    } catch (const Error&) {
      EXPECT_EQ(lexicon.terms(), 0u);
      continue;
    }
    EXPECT_EQ(lexicon.rows(), rows.size());
    for (const std::string& t : texts) {
      const auto want = reference::i_match_terms(t, rows, n, low, high);
      const auto terms = terms_in(lexicon, bytes(t), t.size(), nullptr);
      ASSERT_EQ(terms.size(), want.size());
      ASSERT_TRUE(std::is_sorted(terms.begin(), terms.end()));
      if (want.empty()) {
        EXPECT_TRUE(i_match_fingerprints(terms, 3, 0.5).empty());
        continue;
      }
      ASSERT_EQ(plain(i_match_fingerprint(terms)), reference::i_match_hash(want, 0));
      // A variant is the fingerprint under a lexicon that lacks some terms, whatever the document.
      const double share = static_cast<double>(1 + random() % 100) / 100;
      std::vector<std::vector<unsigned char>> bag{reference::i_match_hash(want, 0)};
      for (uint64_t v = 1; v <= 5; ++v) {
        std::set<std::string> kept;
        for (const std::string& w : want)
          if (std::ldexp(static_cast<double>(mix64(reference::word_hash(w) ^ 1 ^ mix64(kVariantSalt + v)) >> 11), -53) <
              share)
            kept.insert(w);
        if (!kept.empty()) bag.push_back(reference::i_match_hash(kept, v));
      }
      const auto got = i_match_fingerprints(terms, 5, share);
      ASSERT_EQ(got.size(), bag.size());
      for (size_t i = 0; i < bag.size(); ++i) ASSERT_EQ(plain(got[i]), bag[i]) << i;
    }
  }
}

TEST(IMatch, BoundsAreIncluded) {
  // 4 documents: in 1, 2, 4 of them.
  const auto terms = [](double low, double high) {
    Lexicon lexicon(low, high, kMemory);
    lexicon.add("one", 1, std::log(4.0));
    lexicon.add("two", 2, std::log(2.0));
    lexicon.add("four", 4, 0);
    return lexicon.terms();
  };
  EXPECT_EQ(terms(0, 1), 3u);
  EXPECT_EQ(terms(0, 0), 1u);
  EXPECT_EQ(terms(0.5, 0.5), 1u);
  EXPECT_EQ(terms(1, 1), 1u);
  EXPECT_EQ(terms(0.51, 0.99), 0u);
  EXPECT_EQ(normalised_idf(0, 1), 0);  // the only document's
}

TEST(IMatch, RepeatsAndOrderDoNotMatter) {
  Lexicon lexicon(0, 1, kMemory);
  for (int i = 0; i < 50000; ++i) lexicon.add("w" + std::to_string(i), 1 + i % 7, 1.0);
  lexicon.finish();
  std::string a, b;
  for (int i = 0; i < 60000; ++i) a += "w" + std::to_string(i % 30000) + " ";
  for (int i = 29999; i >= 0; --i) b += "unknown W" + std::to_string(i) + ",";
  const auto terms = terms_in(lexicon, bytes(a), a.size(), nullptr);
  EXPECT_EQ(terms.size(), 30000u);
  EXPECT_EQ(terms, terms_in(lexicon, bytes(b), b.size(), nullptr));
  EXPECT_LE(lexicon.memory(), 50000u * 8 * 4);
}

TEST(IMatch, Refuses) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [low, high] :
       {std::pair{-0.1, 1.0}, {0.0, 1.1}, {0.6, 0.5}, {nan, 1.0}, {0.0, nan}, {0.0, infinity}})
    EXPECT_EQ(error_code([&, l = low, h = high] { check_idf_range(l, h); }), Errc::invalid_argument);
  check_idf_range(0, 1);
  check_idf_range(1, 1);
  for (const int64_t v : {-1, 0, 65}) EXPECT_EQ(error_code([&] { check_variants(v); }), Errc::invalid_argument);
  for (const double s : {0.0, -1.0, 1.01, nan}) EXPECT_EQ(error_code([&] { check_share(s); }), Errc::invalid_argument);

  Lexicon lexicon(0.2, 0.9, kMemory);
  EXPECT_EQ(error_code([&] { lexicon.finish(); }), Errc::invalid_argument);
  for (const char* term : {"", "Upper", "two words", "a-b", "don't", " a", "\xff", "Ü"})
    EXPECT_EQ(error_code([&] { lexicon.add(term, 2, 1); }), Errc::invalid_argument) << term;
  EXPECT_EQ(error_code([&] { lexicon.add("a", 0, 1); }), Errc::invalid_argument);
  EXPECT_EQ(error_code([&] { lexicon.add("a", 2, -1); }), Errc::invalid_argument);
  EXPECT_EQ(error_code([&] { lexicon.add("a", 2, nan); }), Errc::invalid_argument);
  EXPECT_EQ(error_code([&] { lexicon.add("a", 2, infinity); }), Errc::invalid_argument);
  lexicon.add("rare", 1, 9);
  EXPECT_EQ(error_code([&] { lexicon.finish(); }), Errc::invalid_argument);
  lexicon.add("über", 2, 1);
  lexicon.finish();
  EXPECT_EQ(error_code([&] { lexicon.add("über", 2, 1); }), Errc::invalid_argument);
}

TEST(IMatch, MemoryLimit) {
  Lexicon lexicon(0, 1, 100000);
  EXPECT_EQ(error_code([&] {
              for (int i = 0; i < 20000; ++i) {
                lexicon.add(std::to_string(i), 2, 1);
                ASSERT_LE(lexicon.memory(), 100000u);
              }
            }),
            Errc::out_of_budget);
  EXPECT_GT(lexicon.terms(), 3000u);
}

}  // namespace
}  // namespace neardup::i_match_test
