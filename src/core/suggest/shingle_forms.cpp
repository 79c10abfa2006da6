// See shingle_forms.h.
#include "core/suggest/shingle_forms.h"

#include <algorithm>
#include <string_view>

#include "core/document/words.h"
#include "core/unicode/utf8.h"

namespace neardup {
namespace {

// The documents, and characters of each, that are looked at for the script.
constexpr size_t kDocuments = 200;
constexpr size_t kCharacters = 1000;

constexpr ShingleForm kSpacedForms[] = {
    {Unit::word, 3, 0.2},      {Unit::word, 2, 0.2},      {Unit::word, 5, 0.2},
    {Unit::character, 5, 0.2}, {Unit::character, 8, 0.2}, {Unit::character, 3, 0.3},  // any two long texts share many
};
constexpr ShingleForm kUnspacedForms[] = {{Unit::word, 3, 0.2},  // each character is a word
                                          {Unit::character, 3, 0.2},
                                          {Unit::character, 2, 0.2},
                                          {Unit::character, 5, 0.2},
                                          {Unit::character, 8, 0.2}};

unsigned first_length(const uint8_t* text, const uint8_t* end) noexcept {
  unsigned length;
  decode_utf8(text, end, &length);
  return length;
}

// Bytes of the first kCharacters characters.
size_t beginning(const Document& document) noexcept {
  const uint8_t* p = document.bytes;
  const uint8_t* const end = p + document.size;
  for (size_t left = kCharacters; left > 0 && p < end; --left) p += first_length(p, end);
  return static_cast<size_t>(p - document.bytes);
}

// A word of one letter that takes three bytes or more; a mark may follow.
bool is_unspaced(const uint8_t* word, size_t size, size_t characters) noexcept {
  return characters <= 2 && first_length(word, word + size) >= 3;
}

}  // namespace

double unspaced_share(const Document* documents, size_t n, StopCheck* stop) {
  size_t all = 0;
  size_t unspaced = 0;
  for (size_t i = 0; i < std::min(n, kDocuments); ++i) {
    Words words(documents[i].bytes, beginning(documents[i]), stop);
    for (std::string_view word; words.next(&word);) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(word.data());
      const size_t characters = count_code_points(bytes, word.size());
      all += characters;
      if (is_unspaced(bytes, word.size(), characters)) unspaced += characters;
    }
  }
  return all == 0 ? 0 : static_cast<double>(unspaced) / static_cast<double>(all);
}

std::span<const ShingleForm> forms_for(double unspaced_share) noexcept {
  if (unspaced_share > kMostlyUnspaced) return kUnspacedForms;
  return kSpacedForms;
}

}  // namespace neardup
