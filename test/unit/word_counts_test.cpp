// Counts of words and of pairs of words, and the rows that follow: by example, and the same as the obvious version
// under every limit of memory.
#include "core/word_model/word_counts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "core/word_model/word_pairs.h"

#include "test/reference/cut_short.h"
#include "test/reference/stdio_temp_file.h"
#include "test/reference/word_reference.h"
#include "test/unit/support.h"

namespace neardup::word_counts_test {
namespace {

using reference::FixedRow;
using reference::StdioTempFiles;
using reference::WordModel;

// Documents of both kinds.
struct Corpus {
  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> arrays;

  std::vector<reference::Document> places() const {
    std::vector<reference::Document> out;
    for (const std::string& t : texts) out.push_back(reference::place_words(t));
    for (const auto& a : arrays) out.push_back(reference::place_words(a));
    return out;
  }
  void add_to(WordCounts* counts) const {
    for (const std::string& t : texts) {
      const test::Exact exact(t);
      counts->add_document(exact.data(), exact.size());
    }
    for (const auto& a : arrays) {
      counts->begin_words();
      for (const std::string& word : a) counts->add_word(word);
    }
  }
};

struct Setting {
  std::set<std::string> stop_words;
  size_t vocabulary = 1000;
  uint32_t features = 1000;
  int window = 3;
  bool by_position = true;
  bool sentences = true;
  uint32_t discount = 0;
  size_t memory = SIZE_MAX;
};

struct Result {
  std::vector<std::pair<std::string, uint64_t>> words;
  std::vector<FixedRow> rows;
  uint64_t documents, places, pairs, spilled;
  size_t peak;
  uint32_t features;
};

Result counted(const Corpus& corpus, const Setting& setting, TempFileFactory* files, StopCheck* stop = nullptr) {
  WordCountOptions options;
  options.window = setting.window;
  options.by_position = setting.by_position;
  options.sentences = setting.sentences;
  options.discount = setting.discount;
  options.memory_limit = setting.memory;
  options.files = files;
  options.stop = stop;
  WordCounts counts(options);
  corpus.add_to(&counts);
  Result out;
  std::vector<uint32_t> chosen;
  // As a caller does who does not know how many stop words are among them.
  for (size_t most = setting.vocabulary;; most = 2 * most + 10) {
    const size_t n = counts.choose(most);
    EXPECT_LE(n, most);
    chosen.clear();
    for (uint32_t i = 0; i < n && chosen.size() < setting.vocabulary; ++i)
      if (setting.stop_words.count(std::string(counts.word(i))) == 0) chosen.push_back(i);
    if (chosen.size() == setting.vocabulary || n < most) break;
  }
  for (const uint32_t i : chosen) out.words.emplace_back(counts.word(i), counts.frequency(i));
  counts.count(chosen.data(), chosen.size(), setting.features);
  for (WordRow row; counts.next_row(&row);) {
    FixedRow fixed;
    for (size_t i = 0; i < row.size; ++i) {
      EXPECT_TRUE(row.features[i] < counts.features() && (i == 0 || row.features[i] > row.features[i - 1]));
      fixed[row.features[i]] = row.values[i];
    }
    out.rows.push_back(fixed);
  }
  WordRow row;
  EXPECT_FALSE(counts.next_row(&row));
  // The words are there to the end.
  for (size_t i = 0; i < chosen.size(); ++i) EXPECT_EQ(counts.word(chosen[i]), out.words[i].first);
  out.documents = counts.documents();
  out.places = counts.places();
  out.pairs = counts.pairs();
  out.spilled = counts.spilled_bytes();
  out.peak = counts.peak_bytes();
  out.features = counts.features();
  return out;
}

WordModel expected(const Corpus& corpus, const Setting& s) {
  WordModel m = reference::count_model(corpus.places(), s.stop_words, s.vocabulary, s.features, s.window, s.by_position,
                                       s.sentences);
  m.discount = s.discount;
  return m;
}

void expect_same(const Result& got, const WordModel& want, const std::vector<FixedRow>& rows, const Corpus& corpus) {
  ASSERT_EQ(got.words, want.words);
  ASSERT_EQ(got.rows.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(got.rows[i], rows[i]) << want.words[i].first;
  EXPECT_EQ(got.pairs, want.pairs);
  EXPECT_EQ(got.features, want.contexts * (want.by_position ? 2 * static_cast<uint32_t>(want.window) : 1));
  EXPECT_EQ(got.documents, corpus.texts.size() + corpus.arrays.size());
}

void expect_same(const Result& got, const WordModel& want, const Corpus& corpus) {
  expect_same(got, want, fixed_rows(want), corpus);
  size_t places = 0;
  for (const auto& d : corpus.places()) places += d.size();
  EXPECT_EQ(got.places, places);
}

// Words of Zipf's kind: w<n>, spelt in letters.
std::string word(uint64_t n) {
  std::string out;
  for (uint64_t h = n * 0x9e3779b97f4a7c15ULL >> 40 | 1; h > 0; h /= 26) out += static_cast<char>('a' + h % 26);
  for (; n > 0; n /= 26) out += static_cast<char>('a' + n % 26);
  return out;
}

uint64_t zipf(test::Random& random, uint64_t words) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<uint64_t>(std::exp(u * std::log(static_cast<double>(words)))) - 1;
}

Corpus some_corpus(uint64_t seed, size_t places, uint64_t words) {
  test::Random random(seed);
  Corpus out;
  while (places > 0) {
    const size_t n = std::min<size_t>(places, 1 + random() % 400);
    places -= n;
    if (random() % 4 == 0) {
      std::vector<std::string> array;
      for (size_t i = 0; i < n; ++i) {
        const uint64_t kind = random() % 100;
        array.push_back(kind == 0   ? ""
                        : kind == 1 ? std::string(1000 + random() % 60, 'x')
                        : kind == 2 ? "Two Words, 12"
                                    : word(zipf(random, words)));
      }
      out.arrays.push_back(array);
      continue;
    }
    std::string text;
    for (size_t i = 0; i < n; ++i) {
      const uint64_t kind = random() % 100;
      text += kind == 0   ? "1999"
              : kind == 1 ? "x_"
              : kind == 2 ? std::string(1000 + random() % 60, 'y')
                          : word(zipf(random, words));
      text += kind < 90 ? " " : kind < 94 ? ". T" : kind < 96 ? "! " : kind < 98 ? "\n\n" : ", ";
    }
    out.texts.push_back(text);
  }
  return out;
}

TEST(WordCounts, BlackCat) {
  Corpus corpus;
  corpus.texts = {"I have a black cat"};
  Setting setting;
  setting.stop_words = {"a"};
  const WordModel m = expected(corpus, setting);
  // The order is that of bytes: black 0, cat 1, have 2, i 3.
  const std::map<std::tuple<uint32_t, int, uint32_t>, uint64_t> want = {
      {{3, 1, 2}, 1},  {{2, -1, 3}, 1}, {{3, 3, 0}, 1},  {{0, -3, 3}, 1}, {{2, 2, 0}, 1},
      {{0, -2, 2}, 1}, {{2, 3, 1}, 1},  {{1, -3, 2}, 1}, {{0, 1, 1}, 1},  {{1, -1, 0}, 1}};
  EXPECT_EQ(m.triples, want);
  const Result got = counted(corpus, setting, nullptr);
  expect_same(got, m, corpus);
  EXPECT_EQ(got.words,
            (std::vector<std::pair<std::string, uint64_t>>{{"black", 1}, {"cat", 1}, {"have", 1}, {"i", 1}}));
  // |*,1,*| is 2: each word and relation has been seen once of twice. |*,2,*| is 1: no information. |*,3,*| is 2.
  EXPECT_EQ(got.rows[3], (FixedRow{{2 * 6 + 3, 710}, {0 * 6 + 5, 710}}));
  EXPECT_EQ(got.rows[2], (FixedRow{{3 * 6 + 2, 710}, {1 * 6 + 5, 710}}));
  EXPECT_EQ(got.rows[0], (FixedRow{{1 * 6 + 3, 710}, {3 * 6 + 0, 710}}));
  EXPECT_EQ(got.rows[1], (FixedRow{{0 * 6 + 2, 710}, {2 * 6 + 0, 710}}));
  EXPECT_EQ(got.pairs, 5u);
}

TEST(WordCounts, WindowsAndSentences) {
  Corpus corpus;
  corpus.texts = {"one two. Three 4 five", "six", "", "5 6", "seven seven"};
  corpus.arrays = {{"eight. Nine", "ten"}, {}, {"", "x", "", "y", ""}};
  for (const bool sentences : {true, false})
    for (const bool by_position : {true, false})
      for (int window = 1; window <= 16; ++window) {
        Setting setting;
        setting.window = window;
        setting.sentences = sentences;
        setting.by_position = by_position;
        const WordModel want = expected(corpus, setting);
        if (window == 1) {
          EXPECT_EQ(want.pairs, sentences ? 3u : 4u);
        }
        expect_same(counted(corpus, setting, nullptr), want, corpus);
      }
  Setting setting;
  setting.window = 0;
  EXPECT_THROW(counted(corpus, setting, nullptr), Error);
  setting.window = 17;
  EXPECT_THROW(counted(corpus, setting, nullptr), Error);
  setting.window = 1;
  setting.discount = 1000;
  EXPECT_THROW(counted(corpus, setting, nullptr), Error);
}

TEST(WordCounts, NothingToCount) {
  for (const size_t vocabulary : {0u, 5u}) {
    Setting setting;
    setting.vocabulary = vocabulary;
    Corpus corpus;
    expect_same(counted(corpus, setting, nullptr), expected(corpus, setting), corpus);
    corpus.texts = {"1 2 3", "alone"};
    expect_same(counted(corpus, setting, nullptr), expected(corpus, setting), corpus);
  }
}

TEST(WordCounts, EqualsTheReference) {
  test::Random random(7);
  for (int i = 0; i < 40; ++i) {
    const Corpus corpus = some_corpus(random(), 300 + random() % 700, 5 + random() % 400);
    Setting setting;
    setting.vocabulary = 1 + random() % 300;
    setting.features = static_cast<uint32_t>(1 + random() % (setting.vocabulary + 3));
    setting.window = static_cast<int>(1 + random() % 16);
    setting.by_position = random() % 2;
    setting.sentences = random() % 2;
    setting.discount = random() % 2 ? static_cast<uint32_t>(random() % 1000) : 0;
    for (int s = 0; s < 5; ++s) setting.stop_words.insert(word(s * s));
    StdioTempFiles files;
    setting.memory = i % 2 ? SIZE_MAX : 0;
    expect_same(counted(corpus, setting, i % 3 ? &files : nullptr), expected(corpus, setting), corpus);
    EXPECT_EQ(files.open, 0);
  }
}

// Little memory: many epochs of the lexicon, chunks of pairs, merges in several passes.
TEST(WordCounts, AnyLimitOfMemory) {
  const Corpus corpus = some_corpus(1, 14000, 9000);
  Setting setting;
  setting.vocabulary = 700;
  setting.features = 500;
  for (const bool by_position : {true, false}) {
    setting.by_position = by_position;
    const WordModel want = expected(corpus, setting);
    const std::vector<FixedRow> rows = fixed_rows(want);
    uint64_t spilled_before = UINT64_MAX;
    for (const size_t memory : {size_t{0}, size_t{100000}, size_t{300000}, size_t{1} << 20, size_t{64} << 20}) {
      SCOPED_TRACE(memory);
      StdioTempFiles files;
      setting.memory = memory;
      const Result got = counted(corpus, setting, &files);
      expect_same(got, want, rows, corpus);
      EXPECT_EQ(files.open, 0);
      EXPECT_LE(got.spilled, spilled_before);
      spilled_before = got.spilled;
      EXPECT_EQ(got.spilled == 0, memory >= size_t{1} << 20);
      // Words and counts of the vocabulary are kept in any case.
      const size_t kept = 700 * (24 + 16 + 8 + 6 * 8 + 8) + 501 * 6 * 5 + 501 * 6 * 6 + 30000;
      EXPECT_LE(got.peak, std::max(memory, kLeastMemory) + kept);
    }
  }
}

// Every word once: numbers, epochs, and ties in the order of bytes.
TEST(WordCounts, ManyDifferentWords) {
  Corpus corpus;
  std::vector<std::string> array;
  for (uint64_t i = 0; i < 5000; ++i) array.push_back(word(i % 4000));
  corpus.arrays = {array};
  Setting setting;
  for (const size_t vocabulary : {10u, 999u, 1000u, 1001u, 3999u, 4000u, 50000u}) {
    setting.vocabulary = vocabulary;
    setting.features = 20;
    setting.window = 1;
    setting.memory = 0;
    StdioTempFiles files;
    expect_same(counted(corpus, setting, &files), expected(corpus, setting), corpus);
  }
}

// Counts above what 32 bits hold are counted in 64.
TEST(WordPairs, WideCountsAreTheSame) {
  test::Random random(3);
  std::vector<uint32_t> places;
  for (int i = 0; i < 50000; ++i)
    places.push_back(static_cast<uint32_t>(zipf(random, 100)) | (random() % 20 == 0 ? kBeginsWindow : 0));
  std::vector<uint32_t> map;
  for (uint32_t i = 0; i < 100; ++i) map.push_back(i < 60 ? (i * 7 + 3) % 60 : 60);
  for (const size_t memory : {size_t{0}, SIZE_MAX}) {
    std::vector<std::vector<uint32_t>> got[2];
    for (const bool wide : {false, true}) {
      StdioTempFiles files;
      Workspace ws(memory, &files, nullptr);
      WordPairOptions options;
      options.words = 60;
      options.contexts = 40;
      options.wide = wide;
      WordPairs pairs(options, WordPairs::expected(places.size(), places.size(), 3), 0, ws);
      // The pieces have any size.
      for (size_t at = 0; at < places.size();) {
        const size_t n = std::min<size_t>(places.size() - at, random() % 3000);
        pairs.add(places.data() + at, n, map.data());
        at += n;
      }
      pairs.finish();
      for (WordRow row; pairs.next_row(&row);) {
        got[wide].emplace_back(row.features, row.features + row.size);
        got[wide].back().insert(got[wide].back().end(), row.values, row.values + row.size);
      }
      EXPECT_EQ(ws.spilled_bytes > 0, memory == 0);
    }
    EXPECT_EQ(got[0], got[1]);
    EXPECT_EQ(got[0].size(), 60u);
  }
}

TEST(WordCounts, FilesThatFail) {
  const Corpus corpus = some_corpus(2, 3000, 2000);
  Setting setting;
  setting.memory = 0;
  StdioTempFiles counting;
  counted(corpus, setting, &counting);
  ASSERT_GT(counting.calls, 10);
  for (int64_t left = 0; left < counting.calls; left += 1 + counting.calls / 30) {
    StdioTempFiles files;
    files.calls_left = left;
    EXPECT_THROW(counted(corpus, setting, &files), Error) << left;
    EXPECT_EQ(files.open, 0);
  }
}

TEST(WordCounts, CanBeStopped) {
  const Corpus corpus = some_corpus(3, 10000, 3000);
  Setting setting;
  for (const size_t memory : {size_t{0}, SIZE_MAX}) {
    setting.memory = memory;
    const auto r = reference::cancel_at_any_poll(
        [](int64_t calls) { return 1 + calls; },
        [&](const EngineOptions& options, int64_t) { counted(corpus, setting, options.files, options.stop); });
    EXPECT_EQ(r.wrong, "");
    EXPECT_GT(r.asked, 5);
  }
}

}  // namespace
}  // namespace neardup::word_counts_test
