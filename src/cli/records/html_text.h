// The visible text of HTML, by libxml2's parser of HTML.
#pragma once

#include <string>
#include <string_view>

namespace neardup::cli {

bool html_is_available() noexcept;

// UTF-8 in and out: no tags, comments, head, scripts or styles; entities decoded, white space as a browser shows it,
// block elements on lines of their own. Whatever the markup, it ends, in time about linear in it. Throws
// std::runtime_error where elements are nested too deep, or where this build is without libxml2; Interrupted.
std::string visible_text(std::string_view html);

// The encoding that a document says it has, in its first bytes: <meta charset=..> or <meta .. content="..;
// charset=..">; empty where it says none.
std::string html_charset(std::string_view html);

// The parameter charset of a media type (text/html; charset="utf-8"), empty without one.
std::string charset_parameter(std::string_view media_type);

}  // namespace neardup::cli
