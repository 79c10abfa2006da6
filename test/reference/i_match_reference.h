// The obvious version of I-Match: sets of words, a map of frequencies, one hash.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reference/shingle_reference.h"

namespace neardup::reference {

struct LexiconRow {
  long frequency;
  double idf;
};

// Documents that hold each word, and ln(N / that). Texts are valid UTF-8.
inline std::map<std::string, LexiconRow> lexicon(const std::vector<std::string>& texts) {
  std::map<std::string, LexiconRow> out;
  for (const std::string& t : texts) {
    const auto words = word_shingles(t, 1);
    for (const std::string& w : std::set<std::string>(words.begin(), words.end())) ++out[w].frequency;
  }
  for (auto& [word, row] : out)
    row.idf = std::log(static_cast<double>(texts.size()) / static_cast<double>(row.frequency));
  return out;
}

// The words of the text whose idf over ln(N) is in the range, each once.
inline std::set<std::string> i_match_terms(const std::string& text, const std::map<std::string, LexiconRow>& lexicon,
                                           double n, double low, double high) {
  std::set<std::string> out;
  for (const std::string& w : word_shingles(text, 1)) {
    const auto row = lexicon.find(w);
    if (row == lexicon.end()) continue;
    const double normalised = n == 1 ? 0 : row->second.idf / std::log(n);
    if (normalised >= low && normalised <= high) out.insert(w);
  }
  return out;
}

// XXH3, 128 bits, of the words' hashes in ascending order: the canonical digest.
inline std::vector<unsigned char> i_match_hash(const std::set<std::string>& words, uint64_t seed) {
  std::set<uint64_t> hashes;
  for (const std::string& w : words) hashes.insert(word_hash(w) ^ 1);
  std::vector<unsigned char> bytes;
  for (const uint64_t h : hashes)
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<unsigned char>(h >> (8 * i)));
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
  return {canonical.digest, canonical.digest + 16};
}

}  // namespace neardup::reference
