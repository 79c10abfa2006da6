// The bodies of utf8.h, inline for the tokenizer's inner loops.
#pragma once

#include "core/unicode/utf8.h"

namespace neardup::detail {

#include "core/unicode/unicode_table.inc"

// A table from its runs.
template <size_t kSize>
struct RunTable {
  uint8_t at[kSize];

  template <size_t kNumbers>
  constexpr explicit RunTable(const uint16_t (&runs)[kNumbers]) : at{} {
    size_t n = 0;
    for (size_t i = 0; i < kNumbers; i += 2)
      for (unsigned left = runs[i + 1]; left > 0; --left) at[n++] = static_cast<uint8_t>(runs[i]);
  }
};
inline constexpr RunTable<kStage1Size> kStage1(kStage1Runs);
inline constexpr RunTable<kStage2Size> kStage2(kStage2Runs);

inline constexpr CodePoint classify(uint32_t c) noexcept {
  if (c >= 0x110000) return {c, WordClass::none};
  const CodePointRecord r = kRecords[kStage2.at[kStage1.at[c >> 7] * 128u + (c & 127)]];
  return {c + static_cast<uint32_t>(r.fold), static_cast<WordClass>(r.cls)};
}

inline bool continuation(uint8_t b) noexcept { return (b & 0xc0) == 0x80; }

inline uint32_t decode_utf8(const uint8_t* p, const uint8_t* end, unsigned* length) noexcept {
  const uint8_t a = p[0];
  const ptrdiff_t left = end - p;
  *length = 1;
  if (a < 0x80) return a;
  if (a >= 0xc2 && a < 0xe0) {
    if (left >= 2 && continuation(p[1])) {
      *length = 2;
      return (a & 0x1fu) << 6 | (p[1] & 0x3fu);
    }
  } else if (a >= 0xe0 && a < 0xf0) {
    if (left >= 3 && continuation(p[1]) && continuation(p[2])) {
      const uint32_t c = (a & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
      if (c >= 0x800 && (c < 0xd800 || c >= 0xe000)) {
        *length = 3;
        return c;
      }
    }
  } else if (a >= 0xf0 && a < 0xf5) {
    if (left >= 4 && continuation(p[1]) && continuation(p[2]) && continuation(p[3])) {
      const uint32_t c = (a & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
      if (c >= 0x10000 && c < 0x110000) {
        *length = 4;
        return c;
      }
    }
  }
  return 0xfffd;
}

inline unsigned encode_utf8(uint32_t c, uint8_t* out) noexcept {
  if (c < 0x80) {
    out[0] = static_cast<uint8_t>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<uint8_t>(0xc0 | c >> 6);
    out[1] = static_cast<uint8_t>(0x80 | (c & 0x3f));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<uint8_t>(0xe0 | c >> 12);
    out[1] = static_cast<uint8_t>(0x80 | (c >> 6 & 0x3f));
    out[2] = static_cast<uint8_t>(0x80 | (c & 0x3f));
    return 3;
  }
  out[0] = static_cast<uint8_t>(0xf0 | c >> 18);
  out[1] = static_cast<uint8_t>(0x80 | (c >> 12 & 0x3f));
  out[2] = static_cast<uint8_t>(0x80 | (c >> 6 & 0x3f));
  out[3] = static_cast<uint8_t>(0x80 | (c & 0x3f));
  return 4;
}

}  // namespace neardup::detail
