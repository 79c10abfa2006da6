// TLSH digests (Trend Micro Locality Sensitive Hash): their text form, their distance, and a bit code below the
// distance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace neardup {

// Buckets of a digest; each has a quartile, 0 to 3, of two bits.
inline constexpr size_t kTlshBuckets = 128;
inline constexpr size_t kTlshHexDigits = 70;  // of checksum, length and quartile ratios (6) and of the buckets (64)
inline constexpr size_t kTlshCodeBytes = 2 * kTlshBuckets / 8;

// A digest of 128 buckets with a checksum of one byte: Oliver, Cheng, Chen: TLSH - a locality sensitive hash, CTC 2013.
struct TlshDigest {
  uint8_t checksum;
  uint8_t length;    // logarithm of the document's length, as TLSH computes it; 255 is followed by 0
  uint8_t q1_ratio;  // 100 * q1 / q3 modulo 16
  uint8_t q2_ratio;
  std::array<uint64_t, 2 * kTlshBuckets / 64>
      quartiles;  // 32 of two bits in each, those of the first hex digits highest
};

// Reads 70 hexadecimal digits, of any case, after `T1` or without it. Error{invalid_text} for every other text.
TlshDigest tlsh_of_text(std::string_view text);

// The distance as TLSH 4 and 5 compute it (totalDiff), 0 to 2473; without the part of the length 0 to 937. Symmetric,
// but no metric: quartiles 3 apart count 6.
uint32_t tlsh_distance(const TlshDigest& a, const TlshDigest& b, bool with_length) noexcept;

// Writes kTlshCodeBytes: the quartiles in the order of the text, each as a Gray code (0, 1, 2, 3: 00, 01, 11, 10). Two
// codes differ in one bit for quartiles that are one apart, or three, and in two bits for two: in at most as many bits
// as tlsh_distance(), which counts 1, 6 and 2.
void write_tlsh_code(const TlshDigest& digest, uint8_t* out) noexcept;

}  // namespace neardup
