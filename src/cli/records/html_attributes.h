// The cost of the attributes of HTML: libxml2 compares each with all before it in its tag.
#pragma once

#include <cstdint>
#include <string_view>

namespace neardup::cli {

// True if the attributes of all tags need more comparisons than that, wherever a parser sees a tag: in comments,
// scripts and values, too. Attributes of the same name count each.
bool needs_more_comparisons(std::string_view html, std::int64_t most);

}  // namespace neardup::cli
