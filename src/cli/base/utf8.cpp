// See utf8.h.
#include "cli/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace neardup::cli {

std::int32_t decode_utf8(std::string_view text, std::size_t i, std::size_t& size) noexcept {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char c = byte(i);
  size = 1;
  if (c < 0x80) return c;
  const std::size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4 || i + length > text.size()) return -1;
  std::int32_t value = c & (0xff >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return -1;
    value = value << 6 | (byte(i + k) & 0x3f);
  }
  const std::int32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return -1;
  size = length;
  return value;
}

bool valid_utf8(std::string_view bytes) noexcept {
  for (std::size_t i = 0, size = 0; i < bytes.size(); i += size) {
    std::uint64_t eight = 0;
    while (bytes.size() - i >= 8 && (std::memcpy(&eight, &bytes[i], 8), (eight & 0x8080808080808080u) == 0)) i += 8;
    if (i < bytes.size() && decode_utf8(bytes, i, size) < 0) return false;
  }
  return true;
}

std::string_view first_bytes(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

std::string_view last_bytes(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  std::size_t begin = text.size() - most;
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) ++begin;
  return text.substr(begin);
}

std::size_t control_length(std::string_view utf8) noexcept {
  if (utf8.empty()) return 0;
  const auto c = static_cast<unsigned char>(utf8[0]);
  if (c < 0x20 || c == 0x7f) return 1;
  const std::string_view two = utf8.substr(0, 2), three = utf8.substr(0, 3);
  if ((two >= "\u0080" && two <= "\u009f") || two == "\u061c") return 2;
  if ((three >= "\u200e" && three <= "\u200f") || (three >= "\u2028" && three <= "\u202e") ||
      (three >= "\u2066" && three <= "\u2069"))
    return 3;
  return 0;
}

}  // namespace neardup::cli
