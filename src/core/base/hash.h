// The 64-bit mixers and seeds whose results reach disk. Frozen: a change is a new signature format.
// Usable on host and device; test/unit/hash_test.cpp holds golden values.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define NEARDUP_HD __host__ __device__
#else
#define NEARDUP_HD
#endif

namespace neardup {

// Finaliser with full avalanche (Pelle Evensen's rrmxmx family; constant and shifts by Jon Maiga, "mx3").
NEARDUP_HD constexpr uint64_t mix64(uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dULL;
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dULL;
  x ^= x >> 28;
  return x;
}

// Word and code point hashing.
inline constexpr uint64_t kSeed0 = 0x2d358dccaa6c78a5ULL;
inline constexpr uint64_t kSeed1 = 0x8bb84b93962eacc9ULL;
inline constexpr uint64_t kLengthFactor = 0x9e3779b97f4a7c15ULL;

// Sketches mix this into every element. The constant keeps seed 0 from leaving small elements bare: without it
// h_r(x) = mix64(mix64(x) ^ mix64(r)) is symmetric in x and r, and the ids 1..100 looked like 69 elements.
NEARDUP_HD constexpr uint64_t sketch_seed(uint64_t seed) noexcept { return mix64(seed ^ kSeed0); }

// Shingle combination: H = sum h_i * kShingleBase^(k-1-i) mod 2^64. The base is 5 mod 8, so that
// base^d - 1 keeps few factors 2 and a swap of units loses at most 2 + log2(k) bits.
inline constexpr uint64_t kShingleBase = 0xd1342543de82ef95ULL;

// 64 x 64 -> 128 bit product, high half XOR low half.
NEARDUP_HD inline uint64_t mum(uint64_t a, uint64_t b) noexcept {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b) ^ (a * b);
#else
  __extension__ using u128 = unsigned __int128;
  const u128 p = static_cast<u128>(a) * b;
  return static_cast<uint64_t>(p >> 64) ^ static_cast<uint64_t>(p);
#endif
}

// Signatures and leaves of indexes are used as they are stored.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "neardup does not support big-endian machines: its stored forms are little-endian");

inline uint64_t load_le64(const void* p) noexcept {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

// First 0..8 bytes as a little-endian number, byte by byte: reads no byte beyond n.
inline uint64_t load_le_partial(const unsigned char* p, unsigned n) noexcept {
  uint64_t v = 0;
  for (unsigned i = 0; i < n; ++i) v |= static_cast<uint64_t>(p[i]) << (8 * i);
  return v;
}

// Hash of a code point or byte in a char or byte shingle.
// Below 256 a table of 256 values, mix64(kSeed0 + (c + 1) * kLengthFactor); above, one multiply.
NEARDUP_HD constexpr uint64_t byte_hash(unsigned c) noexcept {
  return mix64(kSeed0 + (static_cast<uint64_t>(c) + 1) * kLengthFactor);
}

inline uint64_t code_point_hash(uint32_t c) noexcept { return c < 256 ? byte_hash(c) : mum(c ^ kSeed0, kSeed1); }

}  // namespace neardup
