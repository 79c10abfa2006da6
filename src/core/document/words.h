// The words of a text one by one, folded: the units of shingle.h's Unit::word, as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/document/text_units.h"

namespace neardup {

// Gives the same words in the same order as ShingleText(Unit::word, 1, ..); made to be fast where words are looked up
// and not kept. Memory: the longest word.
class Words {
 public:
  // text must stay valid; ill-formed UTF-8 reads as U+FFFD. stop (may be null) is polled every 16 K code points.
  Words(const uint8_t* text, size_t size, StopCheck* stop = nullptr) : scanner_(Unit::word, text, size, stop) {}

  // False at the end. *word is valid until the next call.
  bool next(std::string_view* word) {
    TextUnit unit;
    return scanner_.next(&unit, word);
  }

 private:
  UnitScanner scanner_;
};

// The only word of the text, folded; empty where the text holds none or more than one.
std::string single_word(std::string_view text);

// True if Words gives this for some text.
bool is_folded_word(std::string_view word);

// Hash of a folded word, not empty: what ShingleStream(Unit::word, 1, ..) gives for it in a document.
uint64_t word_shingle_hash(std::string_view folded);

}  // namespace neardup
