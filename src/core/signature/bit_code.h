// Bit codes: bit strings of 64 to 4096 bits, near in Hamming distance, as the hashes of images are. The bytes are those
// of PostgreSQL's type bit: the first bit is the highest of the first byte; bits behind the last one are 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels/kernels.h"

namespace neardup {

inline constexpr uint32_t kFewestCodeBits = 64;
inline constexpr uint32_t kMostCodeBits = 4096;
inline constexpr size_t kMostCodeBytes = kMostCodeBits / 8;

constexpr bool valid_code_bits(uint32_t bits) noexcept { return bits >= kFewestCodeBits && bits <= kMostCodeBits; }
constexpr size_t code_bytes(uint32_t bits) noexcept { return (size_t{bits} + 7) / 8; }
constexpr size_t code_words(uint32_t bits) noexcept { return (size_t{bits} + 63) / 64; }

// Points into the caller's bytes, which need no alignment.
struct BitCode {
  const uint8_t* bytes = nullptr;
  uint32_t bits = 0;
};

inline uint32_t bit_distance(const BitCode& a, const BitCode& b) noexcept {
  return static_cast<uint32_t>(kernels().count_differing(a.bytes, b.bytes, code_bytes(a.bits)));
}

// The greatest distance h in 0..bits with 1 - h / bits >= threshold, in 0 <= threshold <= 1.
inline uint32_t most_bit_distance(uint32_t bits, double threshold) noexcept {
  uint32_t most = 0;
  while (most < bits && 1 - (most + 1) / static_cast<double>(bits) >= threshold) ++most;
  return most;
}

}  // namespace neardup
