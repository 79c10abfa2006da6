// Bytes as UTF-8: whether they are, and what of it is not to be shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace neardup::cli {

// Well-formed UTF-8 as PostgreSQL checks it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool valid_utf8(std::string_view bytes) noexcept;

// The character at text[i], or -1 where there is none of well-formed UTF-8; size: its bytes, 1 for a bad one.
std::int32_t decode_utf8(std::string_view text, std::size_t i, std::size_t& size) noexcept;

// The first or the last bytes of a text, at most so many, cut between characters.
std::string_view first_bytes(std::string_view text, std::size_t most) noexcept;
std::string_view last_bytes(std::string_view text, std::size_t most) noexcept;

// The bytes of the first character of UTF-8 where it is a control (C0, DEL, C1), ends a line or a paragraph, or
// turns the direction of writing; 0 for all others and at the end.
std::size_t control_length(std::string_view utf8) noexcept;

}  // namespace neardup::cli
