// The slow, obvious version of the edit distance: the table of Wagner and Fischer (1974), a row at a time.
// Shared by unit tests, fuzzers and benchmarks; never shipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace neardup::reference {

using Symbols = std::vector<uint32_t>;

inline Symbols byte_symbols(std::string_view text) {
  Symbols out;
  for (const char c : text) out.push_back(static_cast<unsigned char>(c));
  return out;
}

// Well-formed UTF-8.
inline Symbols code_point_symbols(std::string_view text) {
  Symbols out;
  for (const unsigned char c : byte_symbols(text)) {
    if ((c & 0xc0) == 0x80) {
      out.back() = out.back() << 6 | (c & 0x3fu);
    } else {
      out.push_back(c < 0x80 ? c : c < 0xe0 ? c & 0x1fu : c < 0xf0 ? c & 0x0fu : c & 0x07u);
    }
  }
  return out;
}

inline uint64_t edit_distance(const Symbols& a, const Symbols& b) {
  std::vector<uint32_t> table_row(b.size() + 1);
  uint32_t* const row = table_row.data();
  const uint32_t* const symbols = b.data();
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<uint32_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    const uint32_t x = a[i - 1];
    uint32_t diagonal = row[0];
    row[0] = static_cast<uint32_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const uint32_t above = row[j];
      row[j] = std::min({diagonal + (x != symbols[j - 1]), above + 1, row[j - 1] + 1});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace neardup::reference
