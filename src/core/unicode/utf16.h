// UTF-16, UTF-32 and damaged UTF-8 to well-formed UTF-8, a piece at a time; byte order marks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

enum class UnicodeForm : uint8_t { utf8, utf16le, utf16be, utf32le, utf32be };

// "UTF8", "UTF16LE", ...
const char* unicode_form_name(UnicodeForm form) noexcept;

// Bytes of a code unit: 1, 2, 4.
unsigned unit_size(UnicodeForm form) noexcept;

// The byte order mark at the start of a document: its length, 0 where there is none. FF FE 00 00 is that of UTF-32.
size_t byte_order_mark(const uint8_t* bytes, size_t n, UnicodeForm* form) noexcept;

// Bytes of UTF-8 that n bytes in any of the forms can become.
inline constexpr size_t utf8_room(size_t n) noexcept { return n / 2 * 3 + 8; }

// Decodes from the front of bytes[0 .. n) to `out`, which has utf8_room(n) bytes, and stops before the first character
// that is broken or NUL, or is cut by the end. Returns the bytes read; *written: the bytes of UTF-8.
// Broken: a lone surrogate, beyond U+10FFFF, no sequence of RFC 3629.
size_t decode_unicode(UnicodeForm form, const uint8_t* bytes, size_t n, uint8_t* out, size_t* written) noexcept;

// The number of bytes to leave out where decode_unicode() stopped, n of them left in the document: 1..n. Of broken
// UTF-8 the longest beginning of a sequence counts as one character, as Unicode recommends (chapter 3.9, maximal
// subpart).
size_t broken_length(UnicodeForm form, const uint8_t* bytes, size_t n) noexcept;

}  // namespace neardup
