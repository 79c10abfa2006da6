// Signatures of families of versions, of 128 components of 16 bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "test/reference/pairs_reference.h"

namespace neardup::reference {

// The components of a row, 16 bits each.
using Row16 = std::vector<uint16_t>;

inline Row16 strange_row(std::mt19937& random) {
  Row16 row(128);
  for (uint16_t& component : row) component = static_cast<uint16_t>(random());
  return row;
}

inline Rows pack(const std::vector<Row16>& rows) {
  Rows out{128, 16, {}};
  for (const Row16& row : rows) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(row.data());
    out.data.insert(out.data.end(), bytes, bytes + out.row_bytes());
  }
  return out;
}

// Families of versions among other rows. A version shares large buckets with its family, and small ones with its own
// versions.
inline Rows make_families(uint32_t families, uint32_t family_rows, uint32_t others, uint32_t most_changes) {
  std::mt19937 random(5);
  std::vector<Row16> rows;
  for (uint32_t family = 0; family < families; ++family) {
    const size_t base = rows.size();
    rows.push_back(strange_row(random));
    for (uint32_t i = 1; i < family_rows; ++i) {
      rows.push_back(rows[random() % 2 == 0 ? base : base + random() % i]);
      for (uint32_t change = random() % most_changes; change > 0; --change) {
        const uint32_t component = random() % 128;
        rows.back()[component] = static_cast<uint16_t>(random());
      }
    }
  }
  for (uint32_t i = 0; i < others; ++i) rows.push_back(i % 3 == 0 ? rows[random() % rows.size()] : strange_row(random));
  std::shuffle(rows.begin(), rows.end(), random);
  return pack(rows);
}

}  // namespace neardup::reference
