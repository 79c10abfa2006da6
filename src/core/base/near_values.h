// The values of a block of bits that differ from one of them in few bits.
#pragma once

#include <algorithm>
#include <cstdint>

namespace neardup {

// Calls take(flips) for each set of at most `radius` of `width` bits, width below 64: the empty one first, then by
// size.
template <typename Take>
void for_each_flips(uint32_t width, int radius, Take take) {
  if (radius < 0) return;
  take(uint64_t{0});
  // Sets of r bits in ascending order (Gosper).
  for (int r = 1; r <= radius; ++r) {
    for (uint64_t flips = (uint64_t{1} << r) - 1; flips >> width == 0;) {
      take(flips);
      const uint64_t low = flips & -flips;
      const uint64_t ripple = flips + low;
      flips = ripple | ((flips ^ ripple) >> 2) / low;
    }
  }
}

// Values of `width` bits within the radius of one of them; rounded, and more than any plan may have where it is large.
inline double values_within(uint32_t width, int radius) noexcept {
  double term = 1;
  double sum = 0;
  for (int r = 0; r <= radius; ++r) {
    sum += term;
    term = term * (width - std::min<double>(width, r)) / (r + 1);  // a whole number
  }
  return sum;
}

}  // namespace neardup
