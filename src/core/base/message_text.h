// Values in error messages.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace neardup {

// The beginning of a text that could not be read, at most 32 bytes and `..`; cut between characters, since messages go
// to clients in the database's encoding.
inline std::string excerpt(std::string_view text) {
  size_t shown = text.size() < 32 ? text.size() : 32;
  while (shown > 0 && shown < text.size() && (text[shown] & 0xc0) == 0x80) --shown;
  return std::string(text.substr(0, shown)) + (shown < text.size() ? ".." : "");
}

// The error for a text form where the bytes of a value belong, and its hint.
inline constexpr char kTextForm[] = "this is its text form, where the binary one belongs";
inline constexpr char kTextFormHint[] = "Send it in text format, or its bytes as the type's send function gives them.";

// The cure where a stored form, or a part of it, is one that this library does not know.
inline constexpr char kNewerHint[] = "A newer version of neardup has written it: install that version.";

// Only what lies above all numbers that are known comes from a newer version; other numbers are damage.
inline std::string hint_if_newer(unsigned number, unsigned newest_known) {
  return number > newest_known ? kNewerHint : "";
}

struct NumberText {
  char text[32];
};

// The shortest text that reads as this number again, in the form that PostgreSQL writes float8: what is refused because
// it is 1.0000001 must not be shown as 1.
inline NumberText shown(double v) noexcept {
  if (std::isnan(v)) return {"NaN"};
  if (std::isinf(v)) return v > 0 ? NumberText{"Infinity"} : NumberText{"-Infinity"};
  NumberText out = {};
  const double size = std::fabs(v);
  const bool fixed = v == 0 || (size >= 1e-4 && size < 1e15);
  std::to_chars(out.text, out.text + sizeof out.text - 1, v,
                fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return out;
}
inline std::string number_text(double v) { return shown(v).text; }

}  // namespace neardup
