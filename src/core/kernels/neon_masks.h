// Masks of NEON comparisons as bits and positions, which NEON has no instruction for.
#pragma once

#if defined(__aarch64__)
#include <arm_neon.h>
#include <cstddef>
#include <cstdint>

namespace neardup {

// The bit that stands for each byte of eight.
inline uint8x16_t bit_of_byte() noexcept { return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201)); }

// Bit i: byte i of the vectors, which are all ones or all zeros.
inline uint64_t bits_of_64(const uint8x16_t (&v)[4]) noexcept {
  const uint8x16_t bit = bit_of_byte();
  const uint8x16_t low = vpaddq_u8(vandq_u8(v[0], bit), vandq_u8(v[1], bit));
  const uint8x16_t high = vpaddq_u8(vandq_u8(v[2], bit), vandq_u8(v[3], bit));
  const uint8x16_t all = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

inline uint16_t bits_of_16(uint8x16_t v) noexcept {
  const uint8x16_t bits = vandq_u8(v, bit_of_byte());
  const uint8x8_t pairs = vpadd_u8(vget_low_u8(bits), vget_high_u8(bits));
  const uint8x8_t fours = vpadd_u8(pairs, pairs);
  return vget_lane_u16(vreinterpret_u16_u8(vpadd_u8(fours, fours)), 0);
}

// visit(i) for each byte i that is all ones, ascending; the others are all zeros.
template <typename Visit>
inline void for_each_lane(uint8x8_t v, Visit visit) {
  uint64_t lanes = vget_lane_u64(vreinterpret_u64_u8(v), 0) & 0x0101010101010101;
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<size_t>(__builtin_ctzll(lanes)) / 8);
}
template <typename Visit>
inline void for_each_lane(uint8x16_t v, Visit visit) {
  const uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(v), 4);
  uint64_t lanes = vget_lane_u64(vreinterpret_u64_u8(nibbles), 0) & 0x1111111111111111;
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<size_t>(__builtin_ctzll(lanes)) / 4);
}

}  // namespace neardup
#endif
