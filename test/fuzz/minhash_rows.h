// MinHash signatures out of few bytes of input, many of them near each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "test/fuzz/fuzz.h"
#include "test/reference/pairs_reference.h"

namespace neardup::fuzz {

// Each row: fresh, equal to an earlier one, or an earlier one with some components changed. Components repeat.
inline reference::Rows read_rows(Input& in, uint32_t num_perm, uint32_t bits, uint32_t most) {
  reference::Rows rows{num_perm, bits, {}};
  const uint32_t width = bits / 8;
  while (!in.empty() && rows.size() < most) {
    const uint8_t how = in.read<uint8_t>();
    const uint32_t n = rows.size();
    std::vector<unsigned char> row(rows.row_bytes());
    if (n == 0 || how < 60) {
      uint64_t x = in.read<uint16_t>();
      for (unsigned char& c : row) {
        x = x * 0x9e3779b97f4a7c15u + 1;
        c = static_cast<unsigned char>(x >> 60);
      }
    } else {
      const uint32_t from = in.read<uint8_t>() % n;
      std::copy_n(rows.row(from), row.size(), row.begin());
      if (how >= 120) {
        const uint32_t first = in.below(num_perm), step = 1 + in.read<uint8_t>() % 16;
        const uint32_t changes = in.below(num_perm);
        for (uint32_t i = 0; i < changes; ++i) row[(first + i * step) % num_perm * width] ^= how;
      }
    }
    rows.data.insert(rows.data.end(), row.begin(), row.end());
  }
  return rows;
}

}  // namespace neardup::fuzz
