// See words.h.
#include "core/document/words.h"

#include "core/unicode/utf8_inline.h"

namespace neardup {

std::string single_word(std::string_view text) {
  Words words(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  std::string_view word;
  if (!words.next(&word)) return {};
  std::string only(word);
  return words.next(&word) ? std::string() : only;
}

bool is_folded_word(std::string_view word) {
  const auto* p = reinterpret_cast<const uint8_t*>(word.data());
  const uint8_t* const end = p + word.size();
  bool solo = false;
  for (bool first = true; p < end; first = false) {
    unsigned length;
    const uint32_t code_point = detail::decode_utf8(p, end, &length);
    const CodePoint c = detail::classify(code_point);
    uint8_t bytes[4];
    if (c.folded != code_point || c.cls == WordClass::none || detail::encode_utf8(code_point, bytes) != length)
      return false;
    if (c.cls == WordClass::solo && !first) return false;
    // The mark U+0345 is folded to a letter, the only one, and stays with the word before it.
    if (c.cls == WordClass::word && solo && code_point != 0x3b9) return false;
    solo = solo || c.cls == WordClass::solo;
    p += length;
  }
  return !word.empty();
}

}  // namespace neardup
