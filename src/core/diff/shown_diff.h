// The difference of two texts as one line to read.
#pragma once

#include <string>
#include <string_view>

namespace neardup {

// The words of a that b lacks as [-..-], those of b that a lacks as {+..+}, in the order of the texts, with a few words
// around each; "…" stands for what is left out. About 500 bytes at most. "white space only" where no word differs, and
// nothing where the texts are equal.
std::string shown_difference(std::string_view a, std::string_view b);

}  // namespace neardup
