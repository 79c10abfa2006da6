// Texts made by chance: families of a text and of copies of it in which some words are replaced.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/exact/document_pairs.h"

namespace neardup::reference {

// `count` families of a text and a copy for each of `rates`, the share of words that are replaced.
inline std::vector<std::string> families(uint32_t seed, int count, const std::vector<double>& rates, int words = 60) {
  constexpr uint32_t kVocabulary = 2000;
  std::mt19937 random(seed);
  const auto word = [&] { return "w" + std::to_string(random() % kVocabulary); };
  const auto joined = [](const std::vector<std::string>& list) {
    std::string text;
    for (const std::string& w : list) text += (text.empty() ? "" : " ") + w;
    return text;
  };
  std::vector<std::string> texts;
  for (int f = 0; f < count; ++f) {
    std::vector<std::string> base;
    for (int i = 0; i < words; ++i) base.push_back(word());
    texts.push_back(joined(base));
    for (const double rate : rates) {
      std::vector<std::string> copy = base;
      for (std::string& w : copy)
        if (random() < rate * 4294967296.0) w = word();
      texts.push_back(joined(copy));
    }
  }
  return texts;
}

// They point into the texts.
inline std::vector<Document> as_documents(const std::vector<std::string>& texts) {
  std::vector<Document> documents;
  for (const std::string& text : texts)
    documents.push_back({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return documents;
}

}  // namespace neardup::reference
