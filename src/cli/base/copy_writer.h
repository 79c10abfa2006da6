// PostgreSQL's binary COPY format (documentation of COPY, "Binary Format"): big-endian integers, length-prefixed
// fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace neardup::cli {

inline void append_int16(std::string& out, std::int16_t value) {
  const auto v = static_cast<std::uint16_t>(value);
  const char bytes[2] = {static_cast<char>(v >> 8), static_cast<char>(v)};
  out.append(bytes, sizeof bytes);
}

inline void append_int32(std::string& out, std::int32_t value) {
  const auto v = static_cast<std::uint32_t>(value);
  const char bytes[4] = {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
                         static_cast<char>(v)};
  out.append(bytes, sizeof bytes);
}

inline void append_int64(std::string& out, std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  append_int32(out, static_cast<std::int32_t>(v >> 32));
  append_int32(out, static_cast<std::int32_t>(v));
}

// A field of any bytes.
inline void append_field(std::string& out, std::string_view bytes) {
  append_int32(out, static_cast<std::int32_t>(bytes.size()));
  out.append(bytes);
}

// bigint, and timestamptz as microseconds since 2000-01-01 UTC
inline void append_int8_field(std::string& out, std::int64_t value) {
  append_int32(out, 8);
  append_int64(out, value);
}

inline void append_null(std::string& out) { append_int32(out, -1); }

// A version, and the text.
inline void append_jsonb_field(std::string& out, std::string_view json) {
  append_int32(out, static_cast<std::int32_t>(json.size() + 1));
  out += '\1';
  out.append(json);
}

// signature, flags, length of the header extension
inline constexpr std::string_view kCopyHeader{"PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19};
inline constexpr std::string_view kCopyTrailer{"\377\377", 2};

}  // namespace neardup::cli
