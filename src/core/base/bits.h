// Small things with bits.
#pragma once

#include <cstdint>

namespace neardup {

// Number of set bits. std::popcount is a library call where the build may not assume the instruction.
inline unsigned count_bits(uint64_t m) noexcept {
  m -= m >> 1 & 0x5555555555555555u;
  m = (m & 0x3333333333333333u) + (m >> 2 & 0x3333333333333333u);
  m = (m + (m >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<unsigned>(m * 0x0101010101010101u >> 56);
}

// The n lowest bits, n at most 64.
inline uint64_t low_bits(unsigned n) noexcept { return n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

}  // namespace neardup
