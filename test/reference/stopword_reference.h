// The obvious version of shingles behind stop words, from their definition.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "reference/shingle_reference.h"

namespace neardup::reference {

// text must be valid UTF-8; stop_words are folded.
inline std::vector<std::string> stopword_shingles(const std::string& text, const std::vector<std::string>& stop_words,
                                                  size_t following) {
  const std::vector<std::string> words = word_shingles(text, 1);
  std::vector<std::string> out;
  for (size_t i = 0; i + following < words.size(); ++i) {
    if (std::find(stop_words.begin(), stop_words.end(), words[i]) == stop_words.end()) continue;
    std::string s = words[i];
    for (size_t j = 1; j <= following; ++j) s += ' ' + words[i + j];
    out.push_back(s);
  }
  return out;
}

}  // namespace neardup::reference
