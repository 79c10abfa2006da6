// Rows of words for tests: made at random in many shapes, one after the other as a WordMatrix has them, and what they
// have in common, by definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/word_model/word_row.h"

namespace neardup::reference {

struct WordRows {
  std::vector<uint64_t> begin = {0};
  std::vector<uint32_t> features;
  std::vector<uint16_t> values;
  std::vector<uint32_t> weights;
  uint32_t width = 0;  // all features are below

  uint32_t size() const { return static_cast<uint32_t>(weights.size()); }
  // Ends the row.
  void end_row() {
    uint32_t weight = 0;
    for (size_t e = begin.back(); e < features.size(); ++e) weight += values[e];
    begin.push_back(features.size());
    weights.push_back(weight);
  }
  // Rows of words first .. end - 1.
  WordMatrix matrix(uint32_t first, uint32_t end) const {
    return {begin.data() + first, features.data(), values.data(), end - first, first};
  }
};

inline uint32_t common_information(const WordRows& rows, uint32_t i, uint32_t j) {
  uint64_t sum = 0;
  for (uint64_t x = rows.begin[i]; x < rows.begin[i + 1]; ++x)
    for (uint64_t y = rows.begin[j]; y < rows.begin[j + 1]; ++y)
      if (rows.features[x] == rows.features[y]) sum += uint64_t{rows.values[x]} + rows.values[y];
  return static_cast<uint32_t>(sum);
}

inline constexpr const char* kWordShapes[] = {"zipf",       "sparse", "dense", "ties",     "borders",
                                              "empty rows", "equal",  "alone", "extremes", "groups"};

// n words with features below `width`.
inline WordRows make_word_rows(const std::string& shape, uint32_t n, uint32_t width, uint64_t seed) {
  std::mt19937_64 random(seed * 1000003 + n * 31 + width);
  const auto chance = [&] { return static_cast<double>(random() >> 11) / 9007199254740992.0; };
  // Values where digits of any base turn over.
  constexpr uint16_t kBorders[] = {1,     2,     63,    64,    126,   127,   128,   129,   130,   191,   192,
                                   254,   255,   256,   257,   383,   384,   16128, 16255, 16256, 16383, 16384,
                                   16511, 16512, 32385, 32512, 32638, 32639, 32640, 32641, 32766, 32767};
  WordRows out;
  out.width = width;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t f = 0; f < width; ++f) {
      double share = std::min(1.0, 4.0 / (f + 1));
      auto value = static_cast<uint16_t>(1 + random() % 9000);
      if (shape == "sparse") share = 0.02;
      if (shape == "dense") share = 0.8;
      if (shape == "ties") value = 100;
      if (shape == "borders") value = kBorders[random() % std::size(kBorders)];
      if (shape == "empty rows" && i % 3 != 1) share = 0;
      if (shape == "equal") share = f % 3 == 0 ? 1 : 0, value = static_cast<uint16_t>(1 + f * 7919 % 32767);
      if (shape == "alone") share = f % n == i ? 1 : 0;
      if (shape == "extremes") value = random() % 2 == 0 ? 32767 : 1;
      if (shape == "groups") share = f % 5 == i % 5 ? 0.7 : 0.02;
      if (chance() >= share) continue;
      out.features.push_back(f);
      out.values.push_back(value);
    }
    out.end_row();
  }
  return out;
}

}  // namespace neardup::reference
