// One step of an edit distance by bit vectors, for all scalar code. The other forms have their own, in lanes.
//
// Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", JACM 46 (1999), as
// Hyyro writes it, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003. The names are
// his: V is for differences down a column of the matrix of distances, H for those along a row, P for +1, N for -1.
#pragma once

#include <bit>
#include <cstdint>

namespace neardup {

// 64 rows of a column. Bit i of vp (vn): the value of row i is one above (below) that of the row over it.
struct MyersColumn {
  uint64_t vp;
  uint64_t vn;

  // The value of the last of `rows` (bits from 0 on) less that of the row over the first.
  int32_t sum(uint64_t rows) const noexcept {
    return static_cast<int32_t>(std::popcount(vp & rows)) - static_cast<int32_t>(std::popcount(vn & rows));
  }
};

// The column before the text counts up by one a row.
inline constexpr MyersColumn kMyersStart = {~uint64_t{0}, 0};

// The difference along a row from the column before, 0 or 1 each. That over the first row of a matrix is +1.
struct MyersCarry {
  uint64_t hp = 1;
  uint64_t hn = 0;
};

// Steps to the next column. Bit i of match: the pattern has the column's symbol in row i. carry: along the row over row
// 0, then along row 63.
[[gnu::always_inline]] inline void myers_step(uint64_t match, MyersColumn& column, MyersCarry& carry) noexcept {
  const uint64_t x = match | carry.hn;
  const uint64_t d0 = (((x & column.vp) + column.vp) ^ column.vp) | x | column.vn;
  const uint64_t hp = column.vn | ~(d0 | column.vp);
  const uint64_t hn = d0 & column.vp;
  const uint64_t shifted_hp = hp << 1 | carry.hp;
  const uint64_t shifted_hn = hn << 1 | carry.hn;
  column.vp = shifted_hn | ~(d0 | shifted_hp);
  column.vn = shifted_hp & d0;
  carry = {hp >> 63, hn >> 63};
}

// The same at the top of a matrix, where nothing below is asked for: of a pattern of at most 64 symbols.
[[gnu::always_inline]] inline void myers_step(uint64_t match, MyersColumn& column) noexcept {
  MyersCarry border;
  myers_step(match, column, border);
}

// Distance of a text of n symbols to a pattern of `rows` (the low bits that it fills), of which column is the last.
inline uint32_t myers_distance(size_t n, const MyersColumn& column, uint64_t rows) noexcept {
  return static_cast<uint32_t>(n) + static_cast<uint32_t>(column.sum(rows));
}

}  // namespace neardup
