// Where words begin and end: each reader of words against the rule in plain words, which looks at one code point at a
// time and what stands before it, and keeps no state.
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "core/document/text_units.h"
#include "core/document/words.h"
#include "core/intake/text_quality.h"
#include "core/word_model/word_places.h"

#include "test/reference/shingle_reference.h"
#include "test/reference/word_reference.h"
#include "test/unit/support.h"

namespace neardup::word_rule_test {
namespace {

using CodePoints = std::vector<uint32_t>;
using reference::classify;
using test::Random;

// ---- the rule ----

bool separates(uint32_t c) { return classify(c).kind == '-'; }
bool is_mark(uint32_t c) { return classify(c).kind == 'm'; }
bool stands_alone(uint32_t c) { return classify(c).kind == 's'; }

// True if a word begins with text[i]:
//   - what separates words begins none;
//   - at the beginning of the text, and behind what separates words, everything else begins one;
//   - a letter that stands alone begins one everywhere;
//   - a mark begins no other: it belongs to the word before it;
//   - a letter, a digit and '_' begin one behind a letter that stands alone, and the marks of that letter.
bool begins_word(const CodePoints& text, size_t i) {
  if (separates(text[i])) return false;
  if (i == 0 || separates(text[i - 1])) return true;
  if (stands_alone(text[i])) return true;
  if (is_mark(text[i])) return false;
  size_t before = i - 1;
  while (before > 0 && is_mark(text[before])) --before;
  return stands_alone(text[before]);
}

struct Word {
  size_t begin;  // in code points
  size_t end;
};

// A word reaches to the next one, or to what separates them.
std::vector<Word> words_by_rule(const CodePoints& text) {
  std::vector<Word> out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!begins_word(text, i)) continue;
    size_t end = i + 1;
    while (end < text.size() && !separates(text[end]) && !begins_word(text, end)) ++end;
    out.push_back({i, end});
  }
  return out;
}

std::string utf8(const CodePoints& text, size_t begin, size_t end) {
  std::string out;
  for (size_t i = begin; i < end; ++i) reference::append_utf8(out, text[i]);
  return out;
}

std::string utf8(const CodePoints& text) { return utf8(text, 0, text.size()); }

CodePoints folded(const CodePoints& text) {
  CodePoints out;
  for (const uint32_t c : text) out.push_back(classify(c).code_point);
  return out;
}

std::vector<std::string> folded_words(const CodePoints& text) {
  const CodePoints letters = folded(text);
  std::vector<std::string> out;
  for (const Word& word : words_by_rule(text)) out.push_back(utf8(letters, word.begin, word.end));
  return out;
}

// ---- the readers ----

void check_shingles(const CodePoints& text) {
  const std::vector<std::string> words = folded_words(text);
  std::vector<uint64_t> hashes;
  for (const std::string& word : words) hashes.push_back(reference::word_hash(word) ^ 1);
  ASSERT_EQ(test::shingle_texts(Unit::word, 1, utf8(text)), words);
  test::for_each_kernels([&] { ASSERT_EQ(test::shingle_hashes(Unit::word, 1, utf8(text)), hashes); });
}

// The units, with keys and without.
void check_units(const CodePoints& text) {
  const std::string bytes = utf8(text);
  const std::vector<std::string> keys = folded_words(text);
  const test::Exact exact(bytes);
  UnitScanner with_keys(Unit::word, exact.data(), exact.size());
  UnitScanner without(Unit::word, exact.data(), exact.size());
  TextUnit unit;
  std::string_view key;
  size_t n = 0;
  for (const Word& word : words_by_rule(text)) {
    ASSERT_TRUE(with_keys.next(&unit, &key));
    ASSERT_EQ(key, keys[n++]);
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(unit.position, word.begin);
      ASSERT_EQ(unit.begin, utf8(text, 0, word.begin).size());
      ASSERT_EQ(bytes.substr(unit.begin, unit.end - unit.begin), utf8(text, word.begin, word.end));
      if (i == 0) {
        ASSERT_TRUE(without.next(&unit));
      }
    }
  }
  ASSERT_FALSE(with_keys.next(&unit, &key));
  ASSERT_FALSE(without.next(&unit));
}

// A text is a folded word where it is one of itself. An iota may be the folded mark U+0345, so it is read as that.
void check_folded_word(const CodePoints& word) {
  CodePoints text = word;
  for (uint32_t& c : text)
    if (c == 0x3b9) c = 0x345;
  ASSERT_EQ(is_folded_word(utf8(word)), folded_words(text) == std::vector<std::string>{utf8(word)}) << utf8(word);
}

void check_folded_words(const CodePoints& text) {
  const CodePoints letters = folded(text);
  check_folded_word(text);
  check_folded_word(letters);
  for (const Word& word : words_by_rule(text)) {
    const auto begin = letters.begin() + static_cast<long>(word.begin),
               end = letters.begin() + static_cast<long>(word.end);
    ASSERT_TRUE(is_folded_word(utf8({begin, end})));
    if (end != letters.end()) check_folded_word({begin, end + 1});
  }
}

// Words with a digit or '_', and long ones, keep a place and are not read.
void check_places(const CodePoints& text) {
  const std::vector<std::string> words = folded_words(text);
  const test::Exact exact(utf8(text));
  WordPlaces places(exact.data(), exact.size());
  WordPlace place;
  size_t n = 0;
  for (const Word& word : words_by_rule(text)) {
    bool read = words[n].size() <= 1024;
    for (size_t i = word.begin; i < word.end; ++i) read = read && text[i] != '_' && !reference::decimal_digit(text[i]);
    ASSERT_TRUE(places.next(&place));
    ASSERT_EQ(place.word, read ? words[n] : "");
    ++n;
  }
  ASSERT_FALSE(places.next(&place));
}

double share(size_t part, size_t all) { return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all); }

double repeated_lines(const CodePoints& text) {
  std::set<CodePoints> seen;
  size_t all = 0, repeated = 0;
  CodePoints line;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '\n') {
      if (text[i] != ' ') line.push_back(classify(text[i]).code_point);
      continue;
    }
    all += line.size();
    if (!line.empty() && !seen.insert(line).second) repeated += line.size();
    line.clear();
  }
  return share(repeated, all);
}

// The characters of runs of words that were there before: of ten words where most stand alone, else of five.
double repeated_runs(const CodePoints& text) {
  const std::vector<Word> words = words_by_rule(text);
  const std::vector<std::string> folded = folded_words(text);
  size_t all = 0, alone = 0;
  for (const Word& word : words) {
    all += word.end - word.begin;
    for (size_t i = word.begin; i < word.end; ++i) alone += stands_alone(text[i]);
  }
  const size_t run = 2 * alone > words.size() ? 10 : 5;
  std::set<std::vector<std::string>> seen;
  std::set<size_t> repeated;
  for (size_t i = 0; i + run <= words.size(); ++i)
    if (!seen.insert({folded.begin() + static_cast<long>(i), folded.begin() + static_cast<long>(i + run)}).second)
      for (size_t j = i; j < i + run; ++j) repeated.insert(j);
  size_t characters = 0;
  for (const size_t i : repeated) characters += words[i].end - words[i].begin;
  return share(characters, all);
}

// White space is ' ' and line feeds alone.
void check_quality(const CodePoints& text) {
  size_t dark = 0, letters = 0;
  for (const uint32_t c : text) {
    dark += c != ' ' && c != '\n';
    letters += !separates(c);
  }
  const test::Exact exact(utf8(text));
  const TextQuality quality = measure_quality(exact.data(), exact.size(), nullptr);
  ASSERT_EQ(quality.letters, share(letters, dark));
  ASSERT_EQ(quality.repetition, std::max(repeated_lines(text), repeated_runs(text))) << utf8(text);
}

void check_all(const CodePoints& text) {
  SCOPED_TRACE(utf8(text));
  check_shingles(text);
  check_units(text);
  check_folded_words(text);
  check_places(text);
  check_quality(text);
}

// ---- texts ----

// Code points of each class, of each length in UTF-8, and of other length once folded.
constexpr uint32_t kSeparators[] = {' ',  ' ',    ' ',    '\n',   '-',    '\'',   '.',
                                    0xb7, 0x2019, 0x2026, 0x24b6, 0x3001, 0xfffd, 0x1f600};
constexpr uint32_t kLetters[] = {'a',    'Q',   '0',   '9',    '_',    0xe9,   0xc4,    0x130,  0x3b9,  0x434,
                                 0x410,  0x5d0, 0x660, 0x23a,  0x1e9e, 0x10d0, 0xac00,  0xd55c, 0xff21, 0xff10,
                                 0x2160, 0xb2,  0x905, 0x1fb3, 0x2126, 0x212a, 0x10400, 0x1d7d8};
constexpr uint32_t kAlone[] = {0x4e2d, 0x6587, 0x3042, 0x30a2, 0xe01, 0xe81, 0x1000, 0x1780, 0x20000};
constexpr uint32_t kMarks[] = {0x301, 0x345, 0x5bc, 0x64b, 0x93e, 0xe31, 0x103a, 0x17b6, 0x3099, 0xe0100};

template <size_t n>
uint32_t any(Random& random, const uint32_t (&list)[n]) {
  return list[random() % n];
}

uint32_t any_code_point(Random& random) {
  switch (random() % 4) {
    case 0:
      return any(random, kSeparators);
    case 1:
      return any(random, kLetters);
    case 2:
      return any(random, kAlone);
    default:
      return any(random, kMarks);
  }
}

void append_ascii(Random& random, size_t n, CodePoints* out) {
  for (; n > 0; --n) out->push_back(static_cast<uint8_t>("etaoinshrdluETA019_ ,.  \n"[random() % 25]));
}

// Phrases that repeat, so that runs of words and lines do; ASCII between them is longer than a step of the kernels.
CodePoints make_text(Random& random, size_t phrases) {
  std::vector<CodePoints> known(1 + random() % 5);
  for (CodePoints& phrase : known) {
    for (size_t n = random() % 16; n > 0; --n) phrase.push_back(any_code_point(random));
    if (random() % 3 == 0) append_ascii(random, random() % 140, &phrase);
    for (size_t n = random() % 4; n > 0; --n) phrase.push_back(any_code_point(random));
  }
  CodePoints out;
  for (; phrases > 0; --phrases) {
    const CodePoints& phrase = known[random() % known.size()];
    out.insert(out.end(), phrase.begin(), phrase.end());
  }
  return out;
}

TEST(WordRule, TheTextsHaveWhatTheySay) {
  for (const uint32_t c : kSeparators) EXPECT_TRUE(separates(c)) << c;
  for (const uint32_t c : kLetters) EXPECT_EQ(classify(c).kind, 'w') << c;
  for (const uint32_t c : kAlone) EXPECT_TRUE(stands_alone(c)) << c;
  for (const uint32_t c : kMarks) EXPECT_TRUE(is_mark(c)) << c;
}

// All texts of up to four of these.
TEST(WordRule, HoldsInAllShortTexts) {
  constexpr uint32_t kOne[] = {' ', 'a', '7', 0xe9, 0x3b9, 0x4e2d, 0xe01, 0x301, 0x345};
  constexpr size_t kEnd = std::size(kOne);
  std::vector<CodePoints> texts{{}};
  for (size_t i = 0; i < texts.size() && texts[i].size() < 4; ++i)
    for (size_t c = 0; c < kEnd; ++c) {
      texts.push_back(texts[i]);
      texts.back().push_back(kOne[c]);
    }
  EXPECT_EQ(texts.size(), 1 + kEnd + kEnd * kEnd + kEnd * kEnd * kEnd + kEnd * kEnd * kEnd * kEnd);
  for (const CodePoints& text : texts) check_all(text);
}

TEST(WordRule, HoldsInTextsOfAllClasses) {
  Random random(20);
  for (int i = 0; i < 600; ++i) check_all(make_text(random, random() % 40));
}

// `fill` up to a few code points before the border: words of all classes begin and end before, at and behind it.
template <class Check>
void check_at_border(size_t border, uint32_t fill, Check check) {
  for (const uint32_t before : CodePoints{' ', 'a', 0x4e2d, 0xe9})
    for (const uint32_t first : CodePoints{'b', '.', 0xe9, 0x4e2d, 0x301})
      for (size_t less = 0; less < 5; ++less) {
        CodePoints text(border - less - 3, fill);
        for (const uint32_t c : CodePoints{before, first, 0x301, 'a', first, 'a'}) text.push_back(c);
        text.insert(text.end(), 70, 'c');
        check(text);
      }
}

// The stream of shingles reads 64 and 4096 bytes at a time, and keeps 1024 bytes of a word.
TEST(WordRule, HoldsAtTheBordersOfBlocks) {
  for (const size_t border : {64u, 1024u, 4096u}) check_at_border(border, 'a', check_all);
}

// The places of words are looked for in 128 kB at a time.
TEST(WordRule, HoldsWhereAReaderPolls) { check_at_border(128 * 1024, ' ', check_places); }

}  // namespace
}  // namespace neardup::word_rule_test
