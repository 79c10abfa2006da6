// Bytes as UTF-8: whether they are, and what of it is not to be shown.
#pragma once

#include <cstddef>
#include <string_view>

namespace neardup::cli {

// Well-formed UTF-8 as PostgreSQL checks it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool valid_utf8(std::string_view bytes) noexcept;

// How many bytes the first character of UTF-8 has where it is a control (C0, DEL, C1), ends a line or a paragraph, or
// turns the direction of writing; 0 for all others and at the end.
std::size_t control_length(std::string_view utf8) noexcept;

}  // namespace neardup::cli
