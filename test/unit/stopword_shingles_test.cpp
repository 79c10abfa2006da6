// Shingles behind stop words against the definition, and their signature against that of the set.
#include "core/signature/stopword_shingles.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/document/shingle.h"
#include "core/document/stopwords.h"
#include "core/signature/sign.h"

#include "test/reference/stopword_reference.h"
#include "test/unit/support.h"

namespace neardup::stopword_shingles_test {
namespace {

using test::Random;

const uint8_t* bytes(const std::string& s) { return reinterpret_cast<const uint8_t*>(s.data()); }

StopWords stop_set(const std::vector<std::string>& words) {
  StopWords out;
  for (const std::string& w : words) out.add_folded(w);
  return out;
}

std::vector<std::string> kept_shingles(const StopWords& stop_words, int following, const std::string& text) {
  StopwordShingles shingles(stop_words, following, bytes(text), text.size());
  std::vector<std::string> out;
  for (std::string s; shingles.next(&s);) out.push_back(s);
  return out;
}

StopWords english() {
  StopWords out;
  for (const std::string_view w : list_stopwords("en")) out.add(w);
  return out;
}

TEST(StopwordShingles, ByHand) {
  const StopWords en = english();
  EXPECT_EQ(kept_shingles(en, 2, "Buy Ariel"), std::vector<std::string>{});
  EXPECT_EQ(kept_shingles(en, 2, "I recommend that you buy Ariel for your laundry"),
            (std::vector<std::string>{"i recommend that", "that you buy", "you buy ariel", "for your laundry"}));
  EXPECT_EQ(kept_shingles(en, 1, "The The end"), (std::vector<std::string>{"the the", "the end"}));
  EXPECT_EQ(kept_shingles(en, 16, "the end"), std::vector<std::string>{});
  EXPECT_EQ(kept_shingles(en, 2, ""), std::vector<std::string>{});
  EXPECT_EQ(kept_shingles(stop_set({"на"}), 1, "Кіт на даху. На даху"),
            (std::vector<std::string>{"на даху", "на даху"}));
}

TEST(StopwordShingles, EqualTheReference) {
  Random random(5);
  for (int i = 0; i < 80; ++i) {
    const std::string text = test::mixed_text(random, 1 + random() % 1500);
    std::vector<std::string> words = distinct_words(bytes(text), text.size(), nullptr);
    std::shuffle(words.begin(), words.end(), random);
    words.resize(words.size() / (1 + random() % 6));
    const StopWords stop_words = stop_set(words);
    const int following = 1 + static_cast<int>(random() % 16);
    const auto want = reference::stopword_shingles(text, words, static_cast<size_t>(following));
    ASSERT_EQ(kept_shingles(stop_words, following, text), want);

    const MinhashParams params = set_params(MinhashKind::text_set, 64, 32, 7);
    std::vector<uint64_t> hashes;
    for (const std::string& s : want) hashes.push_back(element_hash(s.data(), s.size()));
    std::vector<uint32_t> a(64, 0), b(64, 0);
    const bool any = sign_stopword_shingles(params, stop_words, following, bytes(text), text.size(), nullptr, a.data());
    ASSERT_EQ(any, !want.empty());
    ASSERT_EQ(sign_set(params, hashes.data(), hashes.size(), nullptr, b.data()), any);
    if (any) {
      ASSERT_EQ(a, b);
    }
  }
}

TEST(StopwordShingles, DistinctWords) {
  const std::string text = "b A a; B c";
  EXPECT_EQ(distinct_words(bytes(text), text.size(), nullptr), (std::vector<std::string>{"b", "a", "c"}));
}

TEST(StopwordShingles, Refuses) {
  StopWords stop_words;
  for (const char* bad : {"", " ", "two words", "don't", "'"}) EXPECT_THROW(stop_words.add(bad), Error) << bad;
  EXPECT_TRUE(stop_words.empty());
  EXPECT_THROW(check_following(0), Error);
  EXPECT_THROW(check_following(17), Error);
  EXPECT_THROW(kept_shingles(english(), 0, "a"), Error);
}

}  // namespace
}  // namespace neardup::stopword_shingles_test
