// See words.h.
#include "core/words.h"

#include <array>

#include "core/utf8_inline.h"

namespace neardup {
namespace {

// Folded ASCII letters, digits and '_'; 0 for what separates words.
constexpr std::array<uint8_t, 128> make_ascii_table() {
  std::array<uint8_t, 128> t{};
  for (unsigned c = 'a'; c <= 'z'; ++c) t[c] = t[c - 32] = static_cast<uint8_t>(c);
  for (unsigned c = '0'; c <= '9'; ++c) t[c] = static_cast<uint8_t>(c);
  t['_'] = '_';
  return t;
}
constexpr std::array<uint8_t, 128> kAscii = make_ascii_table();

}  // namespace

bool Words::next(std::string_view* word) {
  word_.clear();
  bool solo = false;  // word_ is one letter of a script written without spaces, and its marks
  while (p_ < end_) {
    if ((++steps_ & 0x3fff) == 0 && stop_ != nullptr) stop_->poll();
    if (*p_ < 0x80) {
      const uint8_t folded = kAscii[*p_];
      if (folded != 0 && !solo) {
        word_.push_back(static_cast<char>(folded));
        ++p_;
        continue;
      }
      if (!word_.empty()) break;
      ++p_;
      continue;
    }
    unsigned length;
    const CodePoint c = detail::classify(detail::decode_utf8(p_, end_, &length));
    const bool ends = c.cls == WordClass::none || c.cls == WordClass::solo || (c.cls == WordClass::word && solo);
    if (ends && !word_.empty()) break;  // the code point is looked at again by the next call
    p_ += length;
    if (c.cls == WordClass::none) continue;
    if (c.cls == WordClass::solo) solo = true;
    uint8_t bytes[4];
    word_.append(reinterpret_cast<char*>(bytes), detail::encode_utf8(c.folded, bytes));
  }
  *word = word_;
  return !word_.empty();
}

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
    if (c.folded != code_point || c.cls == WordClass::none || detail::encode_utf8(code_point, bytes) != length) return false;
    if (c.cls == WordClass::solo && !first) return false;
    // The mark U+0345 is folded to a letter, the only one, and stays with the word before it.
    if (c.cls == WordClass::word && solo && code_point != 0x3b9) return false;
    solo = solo || c.cls == WordClass::solo;
    p += length;
  }
  return !word.empty();
}

}  // namespace neardup
