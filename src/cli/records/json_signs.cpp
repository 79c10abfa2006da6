// See json_signs.h.
#include "cli/records/json_signs.h"

#include <algorithm>

namespace neardup::cli {
namespace {

bool is_sign(char c) {
  switch (c) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
    case ' ':
    case '\t':
    case '\r':
    case '"':
      return true;
    default:
      return false;
  }
}

// The next quote that no backslash is before, from a place on where none is; npos: there is none.
std::size_t find_quote(std::string_view json, std::size_t at) {
  for (std::size_t from = at; (at = json.find('"', at)) != std::string_view::npos; ++at) {
    std::size_t backslashes = 0;
    while (at - backslashes > from && json[at - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at;
  }
  return at;
}

}  // namespace

bool has_more_signs(std::string_view json, std::size_t most) {
  if (json.size() <= most) return false;
  std::size_t signs = 0;
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t opening = std::min(find_quote(json, at), json.size());
    signs += static_cast<std::size_t>(std::count_if(json.begin() + static_cast<std::ptrdiff_t>(at),
                                                    json.begin() + static_cast<std::ptrdiff_t>(opening), is_sign));
    if (opening == json.size()) break;
    if (++signs > most) return true;
    const std::size_t closing = find_quote(json, opening + 1);
    if (closing == std::string_view::npos) break;
    at = closing + 1;
  }
  return signs > most;
}

}  // namespace neardup::cli
