// ASCII letters and white space, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace neardup::cli {

inline bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower(c);
  return lower;
}

inline std::string_view trim_ascii(std::string_view text) {
  while (!text.empty() && is_ascii_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ascii_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace neardup::cli
