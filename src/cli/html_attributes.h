// How many attributes a tag of HTML has: libxml2 compares each with all before it.
#pragma once

#include <string_view>

namespace neardup::cli {

// Whether a tag has more attributes than that, wherever a parser sees one: in comments, scripts and values, too. In one
// pass. Attributes of the same name count each.
bool has_more_attributes(std::string_view html, int most);

}  // namespace neardup::cli
