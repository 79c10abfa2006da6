// The slow, obvious version of word models, written from the specification: places and sentences, counts, information,
// similarities. Shared by unit tests, fuzzers and benchmarks; never shipped.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/document/words.h"
#include "core/unicode/utf8.h"
#include "core/word_model/word_row.h"

#include "reference/shingle_reference.h"

namespace neardup::reference {

// ---- places ----

struct Place {
  std::string word;  // empty: only a place
  bool begins = false;
  bool operator==(const Place&) const = default;
};
using Document = std::vector<Place>;

// The code points of some bytes, read as the tokenizer reads them.
inline std::vector<uint32_t> decode_code_points(const uint8_t* p, const uint8_t* end) {
  std::vector<uint32_t> out;
  while (p < end) {
    unsigned length;
    out.push_back(decode_utf8(p, end, &length));
    p += length;
  }
  return out;
}

inline bool is_one(uint32_t c, std::initializer_list<uint32_t> list) {
  return std::find(list.begin(), list.end(), c) != list.end();
}

// The first of every ten decimal digits of Unicode 15.0 (python3: unicodedata.decimal(chr(c)) == 0, and the two groups
// that came with 15.0: Kawi and Nag Mundari).
inline bool decimal_digit(uint32_t c) {
  static const uint32_t zeros[] = {
      0x30,    0x660,   0x6f0,   0x7c0,   0x966,   0x9e6,   0xa66,   0xae6,   0xb66,   0xbe6,   0xc66,   0xce6,
      0xd66,   0xde6,   0xe50,   0xed0,   0xf20,   0x1040,  0x1090,  0x17e0,  0x1810,  0x1946,  0x19d0,  0x1a80,
      0x1a90,  0x1b50,  0x1bb0,  0x1c40,  0x1c50,  0xa620,  0xa8d0,  0xa900,  0xa9d0,  0xa9f0,  0xaa50,  0xabf0,
      0xff10,  0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0,
      0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8,
      0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e950, 0x1fbf0};
  for (const uint32_t zero : zeros)
    if (c >= zero && c <= zero + 9) return true;
  return false;
}

// True if some capital is folded to it; Georgian and Cherokee are written without.
inline bool lower_case(uint32_t c) {
  static const std::set<uint32_t> folded = [] {
    std::set<uint32_t> out;
    for (const CodePointRange& range : kUnicode)
      if (range.fold != 0)
        for (uint32_t x = range.first; x <= range.last; ++x) out.insert(x + static_cast<uint32_t>(range.fold));
    for (uint32_t x = 0x10d0; x <= 0x10ff; ++x) out.erase(x);
    for (uint32_t x = 0x13a0; x <= 0x13f5; ++x) out.erase(x);
    return out;
  }();
  return folded.count(c) != 0;
}

inline bool white_space(uint32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x2000 && c <= 0x200a) ||
         is_one(c, {0x20, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000});
}

inline bool closing(uint32_t c) {
  return is_one(c, {'"',    '\'',   ')',    ']',    '}',    0xab,   0xbb,   0x2018, 0x2019, 0x201c,
                    0x201d, 0x2039, 0x203a, 0x3009, 0x300b, 0x300d, 0x300f, 0x3011, 0x3015, 0x3017,
                    0x3019, 0x301e, 0x301f, 0xff02, 0xff07, 0xff09, 0xff3d, 0xff5d, 0xff60, 0xff63});
}

// True if a sentence ends in what stands between two words.
inline bool sentence_ends(const std::vector<uint32_t>& before, const std::vector<uint32_t>& gap, uint32_t next) {
  for (size_t i = 0; i < gap.size(); ++i) {
    if (is_one(gap[i],
               {'!', '?', 0x2026, 0x3002, 0xff01, 0xff1f, 0xff61, 0x964, 0x61f, 0x6d4, 0x203c, 0x2047, 0x2048, 0x2049}))
      return true;
    if (gap[i] == '\n') {
      size_t j = i + 1;
      while (j < gap.size() && is_one(gap[j], {' ', '\t', '\r'})) ++j;
      if (j < gap.size() && gap[j] == '\n') return true;
    }
    if (gap[i] == '.' || gap[i] == 0xff0e) {
      size_t j = i + 1;
      while (j < gap.size() && closing(gap[j])) ++j;
      if (j < gap.size() && white_space(gap[j]) && before.size() != 1 && !lower_case(next)) return true;
    }
  }
  return false;
}

inline Document place_words(std::string_view text) {
  const auto* p = reinterpret_cast<const uint8_t*>(text.data());
  UnitScanner scanner(Unit::word, p, text.size());
  Document out;
  std::vector<uint32_t> before;
  size_t at = 0;
  TextUnit unit;
  for (std::string_view key; scanner.next(&unit, &key);) {
    const std::vector<uint32_t> raw = decode_code_points(p + unit.begin, p + unit.end);
    Place place;
    place.begins = out.empty() || sentence_ends(before, decode_code_points(p + at, p + unit.begin), raw[0]);
    bool word = key.size() <= 1024;
    for (const uint32_t c : raw) word = word && c != '_' && !decimal_digit(c);
    if (word) place.word = key;
    out.push_back(place);
    before = raw;
    at = unit.end;
  }
  return out;
}

// This overload reads an array; NULL is an empty string here.
inline Document place_words(const std::vector<std::string>& words) {
  Document out;
  for (const std::string& word : words) out.push_back({word.size() <= 1024 ? word : std::string(), out.empty()});
  return out;
}

// ---- counts ----

struct WordModel {
  std::vector<std::pair<std::string, uint64_t>> words;              // most frequent first, then by bytes
  std::map<std::tuple<uint32_t, int, uint32_t>, uint64_t> triples;  // (w, r, w'); r is 0 without positions
  std::map<std::pair<uint32_t, int>, uint64_t> of_word, of_context;
  std::map<int, uint64_t> totals;
  uint64_t pairs = 0;
  int window = 0;
  bool by_position = true;
  uint32_t contexts = 0;
  uint32_t discount = 0;  // thousandths

  uint32_t feature(int r, uint32_t context) const {
    if (!by_position) return context;
    return context * 2 * static_cast<uint32_t>(window) + static_cast<uint32_t>(r < 0 ? r + window : r + window - 1);
  }
};

inline std::vector<std::pair<std::string, uint64_t>> count_words(const std::vector<Document>& documents) {
  std::map<std::string, uint64_t> counts;
  for (const Document& d : documents)
    for (const Place& p : d)
      if (!p.word.empty()) ++counts[p.word];
  std::vector<std::pair<std::string, uint64_t>> out(counts.begin(), counts.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

// features: how many words make features; the vocabulary is the n most frequent words without stop words.
inline WordModel count_model(const std::vector<Document>& documents, const std::set<std::string>& stop_words, size_t n,
                             uint32_t features, int window, bool by_position, bool sentences) {
  WordModel m;
  for (const auto& word : count_words(documents))
    if (m.words.size() < n && stop_words.count(word.first) == 0) m.words.push_back(word);
  m.window = window;
  m.by_position = by_position;
  m.contexts = std::min<uint32_t>(features, static_cast<uint32_t>(m.words.size()));
  std::map<std::string, uint32_t> ids;
  for (uint32_t i = 0; i < m.words.size(); ++i) ids[m.words[i].first] = i;
  const auto add = [&m](uint32_t w, int r, uint32_t other) {
    if (!m.by_position) r = 0;
    ++m.triples[{w, r, other}];
    ++m.of_word[{w, r}];
    ++m.of_context[{other, r}];
    ++m.totals[r];
  };
  for (const Document& d : documents)
    for (size_t p = 0; p < d.size(); ++p)
      for (size_t q = p + 1; q < d.size() && q <= p + static_cast<size_t>(window); ++q) {
        if (sentences && d[q].begins) break;
        const auto a = ids.find(d[p].word), b = ids.find(d[q].word);
        if (a == ids.end() || b == ids.end()) continue;
        const int r = static_cast<int>(q - p);
        add(a->second, r, b->second);
        add(b->second, -r, a->second);
        ++m.pairs;
      }
  return m;
}

// ---- information and similarity ----

// c * t > a * b, for numbers of any size: by long multiplication.
inline bool product_above(uint64_t c, uint64_t t, uint64_t a, uint64_t b) {
  const auto product = [](uint64_t x, uint64_t y) {
    const uint64_t x0 = x & 0xffffffff, x1 = x >> 32, y0 = y & 0xffffffff, y1 = y >> 32;
    const uint64_t middle = (x0 * y0 >> 32) + (x1 * y0 & 0xffffffff) + (x0 * y1 & 0xffffffff);
    return std::pair{x1 * y1 + (x1 * y0 >> 32) + (x0 * y1 >> 32) + (middle >> 32), x * y};
  };
  return product(c, t) > product(a, b);
}

inline double nats(uint64_t c, uint64_t t, uint64_t a, uint64_t b, uint32_t discount) {
  const double ln_c =
                   std::log(discount == 0 ? static_cast<double>(c) : static_cast<double>(1000 * c - discount) / 1000),
               ln_t = std::log(static_cast<double>(t));
  const double ln_a = std::log(static_cast<double>(a)), ln_b = std::log(static_cast<double>(b));
  return ((ln_c + ln_t) - ln_a) - ln_b;
}

inline bool informative(uint64_t c, uint64_t t, uint64_t a, uint64_t b, uint32_t discount) {
  return discount == 0 ? product_above(c, t, a, b) : product_above(1000 * c - discount, t, 1000 * a, b);
}

inline int information(uint64_t c, uint64_t t, uint64_t a, uint64_t b, uint32_t discount = 0) {
  if (!informative(c, t, a, b, discount)) return 0;
  const double value = std::floor(1024 * nats(c, t, a, b, discount) + 0.5);
  return value < 1 ? 1 : value > 32767 ? 32767 : static_cast<int>(value);
}

using FixedRow = std::map<uint32_t, int>;
using RealRow = std::map<uint32_t, double>;

// Row of each word, in fixed point or as real numbers.
inline std::vector<FixedRow> fixed_rows(const WordModel& m) {
  std::vector<FixedRow> out(m.words.size());
  for (const auto& [triple, c] : m.triples) {
    const auto& [w, r, other] = triple;
    if (other >= m.contexts) continue;
    const int v = information(c, m.totals.at(r), m.of_word.at({w, r}), m.of_context.at({other, r}), m.discount);
    if (v > 0) out[w][m.feature(r, other)] = v;
  }
  return out;
}

inline std::vector<RealRow> real_rows(const WordModel& m) {
  std::vector<RealRow> out(m.words.size());
  for (const auto& [triple, c] : m.triples) {
    const auto& [w, r, other] = triple;
    if (other >= m.contexts) continue;
    const uint64_t t = m.totals.at(r), a = m.of_word.at({w, r}), b = m.of_context.at({other, r});
    if (informative(c, t, a, b, m.discount)) out[w][m.feature(r, other)] = nats(c, t, a, b, m.discount);
  }
  return out;
}

// NaN where both weights are 0.
template <class Row>
double similarity(const Row& a, const Row& b) {
  double common = 0, weights = 0;
  for (const auto& [f, v] : a) {
    weights += v;
    const auto other = b.find(f);
    if (other != b.end()) common += static_cast<double>(v) + other->second;
  }
  for (const auto& [f, v] : b) weights += v;
  return weights == 0 ? std::nan("") : common / weights;
}

// The k most similar words of w with their similarity: greatest first, then by bytes.
template <class Row>
std::vector<std::pair<uint32_t, double>> similar_words(const WordModel& m, const std::vector<Row>& rows, uint32_t w,
                                                       size_t k) {
  std::vector<std::pair<uint32_t, double>> out;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const double s = similarity(rows[w], rows[i]);
    if (i != w && s > 0) out.emplace_back(i, s);
  }
  std::sort(out.begin(), out.end(), [&m](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : m.words[a.first].first < m.words[b.first].first;
  });
  if (out.size() > k) out.resize(k);
  return out;
}

}  // namespace neardup::reference
