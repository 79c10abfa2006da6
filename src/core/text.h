// Values in error messages.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace neardup {

// The beginning of a text that could not be read, at most 32 bytes and `..`; cut between characters, since messages go to
// clients in the database's encoding.
inline std::string excerpt(std::string_view text) {
  size_t shown = text.size() < 32 ? text.size() : 32;
  while (shown > 0 && shown < text.size() && (text[shown] & 0xc0) == 0x80) --shown;
  return std::string(text.substr(0, shown)) + (shown < text.size() ? ".." : "");
}

// As PostgreSQL prints %g; NaN and Infinity by its names.
inline std::string number_text(double v) {
  if (v != v) return "NaN";
  if (v - v != 0) return v > 0 ? "Infinity" : "-Infinity";
  char text[32];
  snprintf(text, sizeof text, "%g", v);
  return text;
}

}  // namespace neardup
