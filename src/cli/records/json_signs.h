// The bytes of a line of JSON that its parser would note.
#pragma once

#include <cstddef>
#include <string_view>

namespace neardup::cli {

// True if more than most bytes outside of strings are brackets, commas, colons, white space or the quotes of strings. A
// value begins behind one of them. Strings are as simdjson finds them: a backslash counts wherever it is.
bool has_more_signs(std::string_view json, std::size_t most);

}  // namespace neardup::cli
