// See utf16.h.
#include "core/unicode/utf16.h"

#include <cstring>
#include <iterator>
#include <string_view>

#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

struct FormFacts {
  const char* name;
  unsigned unit;
  std::string_view mark;
};
// The forms by UnicodeForm. The mark of UTF-32LE begins with that of UTF-16LE.
constexpr FormFacts kUnicodeForms[] = {{"UTF8", 1, "\xef\xbb\xbf"},
                                       {"UTF16LE", 2, "\xff\xfe"},
                                       {"UTF16BE", 2, "\xfe\xff"},
                                       {"UTF32LE", 4, {"\xff\xfe\0\0", 4}},
                                       {"UTF32BE", 4, {"\0\0\xfe\xff", 4}}};

template <bool kBig>
inline uint32_t unit16(const uint8_t* p) noexcept {
  return kBig ? static_cast<uint32_t>(p[0] << 8 | p[1]) : static_cast<uint32_t>(p[1] << 8 | p[0]);
}

template <bool kBig>
inline uint32_t unit32(const uint8_t* p) noexcept {
  return kBig ? static_cast<uint32_t>(p[0]) << 24 | static_cast<uint32_t>(p[1]) << 16 | unit16<true>(p + 2)
              : static_cast<uint32_t>(p[3]) << 24 | static_cast<uint32_t>(p[2]) << 16 | unit16<false>(p);
}

template <bool kBig>
size_t decode16(const uint8_t* bytes, size_t n, uint8_t* out, size_t* written) noexcept {
  size_t i = 0;
  uint8_t* o = out;
  while (n - i >= 2) {
    uint32_t c = unit16<kBig>(bytes + i);
    size_t length = 2;
    if (c == 0 || (c & 0xfc00) == 0xdc00) break;
    if ((c & 0xfc00) == 0xd800) {
      if (n - i < 4) break;
      const uint32_t low = unit16<kBig>(bytes + i + 2);
      if ((low & 0xfc00) != 0xdc00) break;
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      length = 4;
    }
    o += detail::encode_utf8(c, o);
    i += length;
  }
  *written = static_cast<size_t>(o - out);
  return i;
}

template <bool kBig>
size_t decode32(const uint8_t* bytes, size_t n, uint8_t* out, size_t* written) noexcept {
  size_t i = 0;
  uint8_t* o = out;
  for (; n - i >= 4; i += 4) {
    const uint32_t c = unit32<kBig>(bytes + i);
    if (c == 0 || c >= 0x110000 || (c >= 0xd800 && c < 0xe000)) break;
    o += detail::encode_utf8(c, o);
  }
  *written = static_cast<size_t>(o - out);
  return i;
}

size_t decode8(const uint8_t* bytes, size_t n, uint8_t* out, size_t* written) noexcept {
  size_t i = 0;
  while (i < n) {
    if (n - i >= 8) {
      uint64_t word;
      std::memcpy(&word, bytes + i, 8);
      // Eight ASCII bytes, none of them 0.
      if (((word | (word - 0x0101010101010101ULL)) & 0x8080808080808080ULL) == 0) {
        i += 8;
        continue;
      }
    }
    if (bytes[i] == 0) break;
    unsigned length;
    if (detail::decode_utf8(bytes + i, bytes + n, &length) == 0xfffd && length == 1) break;
    i += length;
  }
  std::memcpy(out, bytes, i);
  *written = i;
  return i;
}

}  // namespace

const char* unicode_form_name(UnicodeForm form) noexcept { return kUnicodeForms[static_cast<size_t>(form)].name; }

unsigned unit_size(UnicodeForm form) noexcept { return kUnicodeForms[static_cast<size_t>(form)].unit; }

size_t byte_order_mark(const uint8_t* b, size_t n, UnicodeForm* form) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(b), n);
  for (size_t i = std::size(kUnicodeForms); i-- > 0;) {
    *form = static_cast<UnicodeForm>(i);
    if (text.starts_with(kUnicodeForms[i].mark)) return kUnicodeForms[i].mark.size();
  }
  return 0;
}

size_t decode_unicode(UnicodeForm form, const uint8_t* bytes, size_t n, uint8_t* out, size_t* written) noexcept {
  switch (form) {
    case UnicodeForm::utf16le:
      return decode16<false>(bytes, n, out, written);
    case UnicodeForm::utf16be:
      return decode16<true>(bytes, n, out, written);
    case UnicodeForm::utf32le:
      return decode32<false>(bytes, n, out, written);
    case UnicodeForm::utf32be:
      return decode32<true>(bytes, n, out, written);
    case UnicodeForm::utf8:
      break;
  }
  return decode8(bytes, n, out, written);
}

size_t broken_length(UnicodeForm form, const uint8_t* b, size_t n) noexcept {
  if (form != UnicodeForm::utf8) return n < unit_size(form) ? n : unit_size(form);
  const uint8_t a = b[0];
  size_t wanted = 1;   // bytes of the sequence that a may begin
  uint8_t low = 0x80;  // range of its second byte
  uint8_t high = 0xbf;
  if (a >= 0xc2 && a < 0xe0) {
    wanted = 2;
  } else if (a >= 0xe0 && a < 0xf0) {
    wanted = 3;
    if (a == 0xe0) low = 0xa0;
    if (a == 0xed) high = 0x9f;
  } else if (a >= 0xf0 && a < 0xf5) {
    wanted = 4;
    if (a == 0xf0) low = 0x90;
    if (a == 0xf4) high = 0x8f;
  }
  size_t length = 1;
  while (length < wanted && length < n && b[length] >= low && b[length] <= high) {
    ++length;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

}  // namespace neardup
