// A row of a word model: the features of a word with their mutual information, and how rows are stored.
//
// Sources: D. Lin, "Automatic Retrieval and Clustering of Similar Words", COLING-ACL 1998, sections 2 and 3; P. Kolb,
// "DISCO: A Multilingual Database of Distributionally Similar Words", KONVENS 2008 (features by relative position).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Most words of a model, and the greatest weight of one. With it numerators of similarities fit in 32 bits.
inline constexpr uint32_t kMaxWords = 1'000'000;
inline constexpr uint32_t kMaxFeatureWeight = (uint32_t{1} << 30) - 1;
inline constexpr int kMaxWordWindow = 16;
// Features have numbers below this one.
inline constexpr uint32_t kMaxWordFeatures = kMaxWords * 2 * kMaxWordWindow;
// Information is stored in units of 1/1024 nat, 1 .. 32767.
inline constexpr double kInformationUnits = 1024;
inline constexpr uint16_t kMaxInformation = 32767;

struct WordRow {
  const uint32_t* features;  // ascending
  const uint16_t* values;    // information of each, 1 .. 32767
  size_t size;
};

// Rows one after the other: row i is that of word first + i, at begin[i] .. begin[i + 1] - 1 of the arrays.
struct WordMatrix {
  const uint64_t* begin;
  const uint32_t* features;
  const uint16_t* values;
  uint32_t rows;
  uint32_t first;

  WordRow row(uint32_t i) const noexcept {
    return {features + begin[i], values + begin[i], static_cast<size_t>(begin[i + 1] - begin[i])};
  }
};

// The sum of the values.
uint64_t row_weight(const WordRow& row) noexcept;

// The sum over common features of both values: the numerator of the similarity, whose denominator is the sum of both
// weights. The specification of every faster form.
uint64_t common_information(const WordRow& a, const WordRow& b) noexcept;

// Appends the stored form, number 1: byte 1; n; n times the distance of a feature from the one before less 1, of the
// first its number; n values of 2 bytes, least significant first. Numbers are LEB128.
void encode_word_row(const WordRow& row, std::vector<uint8_t>* out);

// Appends the row's features and values. Error{corrupt_data} for bytes that are no stored row, or have a feature that
// is not below `features`.
void decode_word_row(const uint8_t* bytes, size_t size, uint32_t features, std::vector<uint32_t>* out_features,
                     std::vector<uint16_t>* out_values);

}  // namespace neardup
