// The slow, obvious version of Fast Similarity Sketching (format 1), written from docs/format.md.
// Shared by unit tests and fuzzers; never shipped. The same in Python: oracle.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup::reference {

inline constexpr uint32_t kEmpty32 = 0xffffffffu;
inline constexpr uint16_t kEmpty16 = 0xffffu;
inline constexpr uint64_t kSeed0 = 0x2d358dccaa6c78a5u;

inline uint64_t mix64(uint64_t x) {
  x ^= x >> 32;
  x *= 0xe9846af9b1a615du;
  x ^= x >> 32;
  x *= 0xe9846af9b1a615du;
  return x ^ x >> 28;
}

// The num_perm 32-bit components of a set of 64-bit values (repeats are harmless); all kEmpty32 for no value.
inline std::vector<uint32_t> minhash32(const std::vector<uint64_t>& elements, uint32_t num_perm, uint64_t seed) {
  std::vector<uint32_t> out(num_perm, kEmpty32);
  if (elements.empty()) return out;
  const uint64_t L = num_perm;
  const auto hash = [seed](uint64_t x, uint64_t r) {
    const uint64_t h0 = mix64(x ^ mix64(seed ^ kSeed0));
    return r == 0 ? h0 : mix64(h0 ^ mix64(r));
  };
  const auto lower = [&out](size_t b, uint64_t v) {
    out[b] = std::min(out[b], static_cast<uint32_t>(std::min<uint64_t>(v, 0xfffffffeu)));
  };
  for (uint64_t r = 0; r < L; ++r) {
    for (const uint64_t x : elements) {
      const uint64_t h = hash(x, r);
      lower(((h & 0xffffffffu) * L) >> 32, r == 0 ? h >> 33 : uint64_t{1} << 31 | r << 18 | h >> 46);
    }
    if (std::count(out.begin(), out.end(), kEmpty32) == 0) return out;
  }
  for (uint64_t b = 0; b < L; ++b) {
    if (out[b] != kEmpty32) continue;
    for (const uint64_t x : elements) lower(b, uint64_t{1} << 31 | L << 18 | hash(x, L + 1 + b) >> 46);
  }
  return out;
}

// The ordered 16-bit form of a 32-bit component.
inline uint16_t code16(uint32_t v, uint32_t num_perm) {
  if (v == kEmpty32) return kEmpty16;
  uint64_t y = v;
  if (v >= 0x80000000u) {
    const uint64_t r = v >> 18 & 0x1fffu, f = uint64_t{v & 0x3ffffu} << 13, one = uint64_t{1} << 31;
    y = r < num_perm ? r * one + f : num_perm * (one + f);
  }
  if (y == 0) return 0;
  unsigned msb = 0;
  while (y >> (msb + 1) != 0) ++msb;
  const uint64_t below = msb >= 10 ? y >> (msb - 10) : y << (10 - msb);
  return static_cast<uint16_t>(1024 * msb + (below & 1023u));
}

inline uint8_t code8(uint32_t v) { return static_cast<uint8_t>((v * 0x9e3779b1u) >> 24); }

// Components of any width (bits 8, 16 or 32), each in a uint32_t.
inline std::vector<uint32_t> minhash(const std::vector<uint64_t>& elements, uint32_t num_perm, unsigned bits,
                                     uint64_t seed) {
  std::vector<uint32_t> out = minhash32(elements, num_perm, seed);
  for (uint32_t& v : out) v = bits == 32 ? v : bits == 16 ? code16(v, num_perm) : code8(v);
  return out;
}

// The estimate for m equal components of L, neither set empty.
inline double estimate(uint32_t m, uint32_t L, unsigned bits) {
  const double share = static_cast<double>(m) / L;
  if (bits != 8) return share;
  return std::max(0.0, (share - 1.0 / 256) / (1 - 1.0 / 256));
}

// Least m whose estimate is >= t (> t when not inclusive); L + 1 if none.
inline uint32_t need(double t, uint32_t L, unsigned bits, bool inclusive = true) {
  for (uint32_t m = 0; m <= L; ++m) {
    const double e = estimate(m, L, bits);
    if (e > t || (inclusive && e == t)) return m;
  }
  return L + 1;
}

}  // namespace neardup::reference
