// Words one by one against the tokenizer of shingles, and lists of stop words.
#include "core/document/words.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/document/stopwords.h"

#include "test/reference/shingle_reference.h"
#include "test/unit/support.h"

namespace neardup::words_test {
namespace {

using test::Random;

std::vector<std::string> split_words(std::string_view text) {
  Words words(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  std::vector<std::string> out;
  for (std::string_view word; words.next(&word);) out.emplace_back(word);
  return out;
}

TEST(Words, AreTheShinglesOfOneWord) {
  Random random(11);
  for (int i = 0; i < 100; ++i) {
    std::string text = test::mixed_text(random, random() % 2000);
    ASSERT_EQ(split_words(text), reference::word_shingles(text, 1));
    // Cut anywhere: ill-formed sequences.
    text.resize(random() % (text.size() + 1));
    ASSERT_EQ(split_words(text), test::shingle_texts(Unit::word, 1, text));
  }
}

TEST(Words, FoldedWordsAreWhatWordsGives) {
  Random random(12);
  for (int i = 0; i < 25; ++i) {
    const std::string text = test::mixed_text(random, random() % 2000);
    for (const std::string& word : split_words(text)) {
      ASSERT_TRUE(is_folded_word(word)) << word;
      const auto hashes = test::shingle_hashes(Unit::word, 1, word);
      if (hashes.size() == 1) {
        ASSERT_EQ(word_shingle_hash(word), hashes[0]);
      }
    }
    // All stretches of it: one word, folded, or not.
    for (int j = 0; j < 20; ++j) {
      const size_t from = random() % (text.size() + 1);
      const std::string part = text.substr(from, random() % 12);
      if (is_folded_word(part) && part.find("ι") == std::string::npos) {
        ASSERT_EQ(split_words(part), std::vector<std::string>{part});
      }
    }
  }
  for (uint32_t c = 0; c < 0x20000; ++c)  // nothing is folded beyond
    if (classify(c).cls == WordClass::mark && classify(c).folded != c) {
      EXPECT_EQ(c, 0x345u);
    }
  const std::string odd = "中\u0345";  // what it becomes would be two words
  EXPECT_EQ(split_words(odd), std::vector<std::string>{"中ι"});
  EXPECT_EQ(word_shingle_hash("中ι"), test::shingle_hashes(Unit::word, 1, odd).at(0));
  for (const char* no : {"", "A", "a b", "中国", "中a", "a中", "a-", "\xff", "\xd0"})
    EXPECT_FALSE(is_folded_word(no)) << no;
}

TEST(Words, SingleWord) {
  EXPECT_EQ(single_word("  Straße! "), "straße");
  EXPECT_EQ(single_word(""), "");
  EXPECT_EQ(single_word(" - "), "");
  EXPECT_EQ(single_word("New York"), "");
  EXPECT_EQ(single_word("don't"), "");
  EXPECT_EQ(single_word("中"), "中");
  EXPECT_EQ(single_word("中国"), "");
}

TEST(Words, Stop) {
  struct Never final : StopCheck {
    bool should_stop() noexcept override { return true; }
  } stop;
  const std::string text(100000, ' ');
  Words words(reinterpret_cast<const uint8_t*>(text.data()), text.size(), &stop);
  std::string_view word;
  EXPECT_THROW(words.next(&word), Error);
}

TEST(StopWordLists, AreFoldedWordsInOrder) {
  for (const char* language : {"english", "ukrainian", "russian", "german", "french", "spanish"}) {
    const auto list = list_stopwords(language);
    EXPECT_GT(list.size(), 150u) << language;
    EXPECT_LT(list.size(), 500u) << language;
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
    EXPECT_EQ(std::adjacent_find(list.begin(), list.end()), list.end());
    for (const std::string_view word : list) EXPECT_EQ(single_word(word), word) << language;
  }
}

TEST(StopWordLists, Names) {
  for (const auto& [a, b] :
       {std::pair{"en", "English"}, {"UK", "ukrainian"}, {"ger", "de"}, {"fre", "fra"}, {" es ", "SPA"}})
    EXPECT_EQ(list_stopwords(a), list_stopwords(b));
  EXPECT_NE(list_stopwords("uk"), list_stopwords("ru"));
  for (const char* unknown : {"", "e", "klingon", "english french", "\xff"}) {
    try {
      list_stopwords(unknown);
      ADD_FAILURE() << unknown;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::invalid_argument);
      EXPECT_NE(e.detail().find("ukrainian (uk, ukr)"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace neardup::words_test
