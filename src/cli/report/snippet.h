// A document in a list: its title, and where it first differs from another one.
#pragma once

#include <string>
#include <string_view>

namespace neardup::cli {

// The first line that is not blank, without the spaces around it; a long one is cut after a word and ends in "…". Empty
// where there is none.
std::string document_title(std::string_view text);

// The last part of a path.
std::string_view file_name(std::string_view path);

// The first stretch of b that differs from a: the words that b lacks and those that it has instead, and a few words of
// b around them. Parts that are long are cut, with "…".
struct Snippet {
  enum class Kind { same, spaces, words };  // spaces: only these differ
  Kind kind = Kind::same;
  std::string before, removed, added, after;
};
Snippet first_change(std::string_view a, std::string_view b);

}  // namespace neardup::cli
