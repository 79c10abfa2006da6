// See words.h.
#include "core/document/words.h"

#include "core/unicode/word_machine.h"

namespace neardup {

std::string single_word(std::string_view text) {
  Words words(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  std::string_view word;
  if (!words.next(&word)) return {};
  std::string only(word);
  return words.next(&word) ? std::string() : only;
}

bool is_folded_word(std::string_view word) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(word.data());
  const uint8_t* const end = begin + word.size();
  WordMachine machine;
  for (const uint8_t* p = begin; p < end;) {
    unsigned length;
    const uint32_t code_point = detail::decode_utf8(p, end, &length);
    const CodePoint c = detail::classify(code_point);
    uint8_t bytes[4];
    if (c.folded != code_point || detail::encode_utf8(code_point, bytes) != length) return false;
    // The mark U+0345 is folded to a letter, the only one, and stays with the word before it.
    const WordStep step = machine.step(code_point == 0x3b9 ? WordClass::mark : c.cls);
    if (step == WordStep::separates || (step == WordStep::begins && p != begin)) return false;
    p += length;
  }
  return !word.empty();
}

}  // namespace neardup
