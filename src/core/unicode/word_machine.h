// Where words begin and end: the definition for signatures and models, inline for the loops that read words.
#pragma once

#include <array>
#include <cstdint>

#include "core/unicode/utf8_inline.h"

namespace neardup {

// The part of a code point in the words of a text.
enum class WordStep : uint8_t { separates, begins, continues };

// Reads the classes of a text's code points one after another. A word is a run of letters, numbers, '_' and marks, or
// one letter of a script without spaces and the marks behind it (docs/format.md, section 2). Signatures are made of
// words, so a change of this rule is a new kTokenizerVersion.
class WordMachine {
 public:
  WordStep step(WordClass cls) noexcept {
    if (cls == WordClass::none) {
      joining_ = 0;
      return WordStep::separates;
    }
    if (continues(cls)) return WordStep::continues;
    joining_ = cls == WordClass::solo ? bit(WordClass::mark) : bit(WordClass::word) | bit(WordClass::mark);
    return WordStep::begins;
  }

  // True if a code point of this class, if it came next, would belong to the word at hand.
  bool continues(WordClass cls) const noexcept { return (joining_ & bit(cls)) != 0; }

 private:
  static constexpr unsigned bit(WordClass cls) noexcept { return 1u << static_cast<unsigned>(cls); }

  unsigned joining_ = 0;  // the classes that belong to the word at hand, a bit for each; 0 between words
};

// The folded byte of an ASCII character that belongs to words; 0 for others, and above 0x7f.
static constexpr std::array<uint8_t, 256> kAsciiWordBytes = [] {
  std::array<uint8_t, 256> bytes{};
  for (uint8_t c = 0; c < 0x80; ++c) {
    const CodePoint folded = detail::classify(c);
    if (folded.cls != WordClass::none) bytes[c] = static_cast<uint8_t>(folded.folded);
  }
  return bytes;
}();

}  // namespace neardup
