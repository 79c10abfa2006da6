// NEON forms of the ctph kernels.
#if defined(__aarch64__)
#include <algorithm>
#include <arm_neon.h>

#include "core/kernels/ctph_kernels.h"
#include "core/kernels/neon_masks.h"

namespace neardup {
namespace {

inline uint16x8_t widen(const uint8_t* p) { return vmovl_u8(vld1_u8(p)); }

// The low 16 bits of v + 1 of 8 positions. Of the shifted bytes only four reach them.
inline uint16x8_t window_sums(const uint8_t* p) {
  const uint16x8_t c0 = widen(p);
  const uint16x8_t c1 = widen(p - 1);
  const uint16x8_t c2 = widen(p - 2);
  const uint16x8_t c3 = widen(p - 3);
  uint16x8_t sum = vaddq_u16(c0, c1);
  uint16x8_t linear = vaddq_u16(vaddq_u16(c0, vdupq_n_u16(1)), sum);
  sum = vaddq_u16(sum, c2);
  linear = vaddq_u16(linear, sum);
  sum = vaddq_u16(sum, c3);
  linear = vaddq_u16(linear, sum);
  sum = vaddw_u8(sum, vld1_u8(p - 4));
  linear = vaddq_u16(linear, sum);
  sum = vaddw_u8(sum, vld1_u8(p - 5));
  linear = vaddq_u16(linear, sum);
  sum = vaddw_u8(sum, vld1_u8(p - 6));
  linear = vaddq_u16(linear, vaddq_u16(sum, sum));
  const uint16x8_t shifted =
      veorq_u16(veorq_u16(c0, vshlq_n_u16(c1, 5)), veorq_u16(vshlq_n_u16(c2, 10), vshlq_n_u16(c3, 15)));
  return vaddq_u16(linear, shifted);
}

size_t window_candidates(const uint8_t* data, size_t n, uint32_t mask, uint32_t* out) {
  const uint16x8_t low = vdupq_n_u16(static_cast<uint16_t>(mask));
  size_t found = 0;
  size_t p = 0;
  for (; p + 16 <= n; p += 16) {
    const uint16x8_t a = vceqzq_u16(vandq_u16(window_sums(data + p), low));
    const uint16x8_t b = vceqzq_u16(vandq_u16(window_sums(data + p + 8), low));
    for_each_lane(vcombine_u8(vmovn_u16(a), vmovn_u16(b)),
                  [&](size_t lane) { out[found++] = static_cast<uint32_t>(p + lane); });
  }
  const size_t rest = kScalarCtphKernels.window_candidates(data + p, n - p, mask, out + found);
  for (size_t i = 0; i < rest; ++i) out[found + i] += static_cast<uint32_t>(p);
  return found + rest;
}

// As myers_step() at the top of a matrix, of two patterns.
inline void column(uint64x2_t match, uint64x2_t* vp, uint64x2_t* vn) {
  const uint64x2_t carried = vaddq_u64(vandq_u64(match, *vp), *vp);
  const uint64x2_t d0 = vorrq_u64(veorq_u64(carried, *vp), vorrq_u64(match, *vn));
  const uint64x2_t hp = vornq_u64(*vn, vorrq_u64(d0, *vp));
  const uint64x2_t hn = vandq_u64(d0, *vp);
  const uint64x2_t shifted_hp = vsubq_u64(vaddq_u64(hp, hp), vdupq_n_u64(~uint64_t{0}));  // hp << 1 | 1
  *vp = vornq_u64(vaddq_u64(hn, hn), vorrq_u64(d0, shifted_hp));
  *vn = vandq_u64(shifted_hp, d0);
}

// Two patterns a vector, N groups at a time: columns of one wait for each other.
template <size_t N>
inline void group_distances(const uint8_t* text, size_t n, const LevenshteinGroup* groups, uint32_t* distances) {
  constexpr size_t kVectorsOfTwo = 4 * N;
  uint64x2_t vp[kVectorsOfTwo];
  uint64x2_t vn[kVectorsOfTwo];
  for (size_t v = 0; v < kVectorsOfTwo; ++v) {
    vp[v] = vdupq_n_u64(~uint64_t{0});
    vn[v] = vdupq_n_u64(0);
  }
  for (size_t j = 0; j < n; ++j) {
    const size_t symbol = text[j];
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectorsOfTwo; ++v)
      column(vld1q_u64(groups[v / 4].match[symbol] + 2 * (v % 4)), &vp[v], &vn[v]);
  }
  for (size_t v = 0; v < kVectorsOfTwo; ++v) {
    const uint64x2_t rows = vld1q_u64(groups[v / 4].rows + 2 * (v % 4));
    const uint8x16_t above = vcntq_u8(vreinterpretq_u8_u64(vandq_u64(vp[v], rows)));
    const uint8x16_t below = vcntq_u8(vreinterpretq_u8_u64(vandq_u64(vn[v], rows)));
    const auto length = static_cast<uint32_t>(n);
    distances[2 * v] = length + vaddv_u8(vget_low_u8(above)) - vaddv_u8(vget_low_u8(below));
    distances[2 * v + 1] = length + vaddv_u8(vget_high_u8(above)) - vaddv_u8(vget_high_u8(below));
  }
}

void levenshtein64(const uint8_t* text, size_t n, const LevenshteinGroup* groups, size_t num_groups,
                   uint32_t* distances) {
  size_t g = 0;
  for (; g + 2 <= num_groups; g += 2) group_distances<2>(text, n, groups + g, distances + kLevenshteinLanes * g);
  if (g < num_groups) group_distances<1>(text, n, groups + g, distances + kLevenshteinLanes * g);
}

inline uint8x16_t counted(uint64x2_t v) { return vcntq_u8(vreinterpretq_u8_u64(v)); }

// Common symbols of two bags from j on, in eight numbers each to be added up; all of a bag are 192 at most.
inline uint8x16_t common_of_two(const uint64x2_t* level, const SymbolBags& others, size_t j) {
  const uint64x2_t common0 = vandq_u64(level[0], vld1q_u64(others.level[0] + j));
  const uint64x2_t common1 = vandq_u64(level[1], vld1q_u64(others.level[1] + j));
  const uint64x2_t common2 = vandq_u64(level[2], vld1q_u64(others.level[2] + j));
  const uint8x16_t twos = counted(common1);
  return vaddq_u8(counted(veorq_u64(veorq_u64(common0, common1), common2)), vaddq_u8(twos, twos));
}

size_t bag_candidates(const SymbolBag* subject, const SymbolBags* others, size_t first, size_t last, uint32_t need,
                      uint32_t* out) {
  uint64x2_t level[kBagLevels];
  for (size_t k = 0; k < kBagLevels; ++k) level[k] = vdupq_n_u64(subject->level[k]);
  const uint16x8_t most_rest = vdupq_n_u16(static_cast<uint16_t>(std::min(subject->rest, 0xffffu)));
  const uint32x4_t bound = vdupq_n_u32(need);
  size_t found = 0;
  size_t j = first;
  for (; j + 8 <= last; j += 8) {
    const uint8x16_t four = vpaddq_u8(common_of_two(level, *others, j), common_of_two(level, *others, j + 2));
    const uint8x16_t next = vpaddq_u8(common_of_two(level, *others, j + 4), common_of_two(level, *others, j + 6));
    const uint8x16_t eight = vpaddq_u8(four, next);
    const uint16x8_t common = vmovl_u8(vpadd_u8(vget_low_u8(eight), vget_high_u8(eight)));
    const uint16x8_t rest = vminq_u16(vld1q_u16(others->rest + j), most_rest);
    const uint32x4_t low = vcgeq_u32(vaddl_u16(vget_low_u16(common), vget_low_u16(rest)), bound);
    const uint32x4_t high = vcgeq_u32(vaddl_high_u16(common, rest), bound);
    for_each_lane(vmovn_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high))),
                  [&](size_t lane) { out[found++] = static_cast<uint32_t>(j + lane); });
  }
  return found + kScalarCtphKernels.bag_candidates(subject, others, j, last, need, out + found);
}

uint32_t common_bits(const uint64_t* a, const uint64_t* b) {
  uint16x8_t sum = vdupq_n_u16(0);
  for (size_t i = 0; i < kBitSetWords; i += 2)
    sum = vpadalq_u8(sum, counted(vandq_u64(vld1q_u64(a + i), vld1q_u64(b + i))));
  return vaddlvq_u16(sum);
}

}  // namespace

const CtphKernels kNeonCtphKernels = {.window_candidates = window_candidates,
                                      .levenshtein64 = levenshtein64,
                                      .bag_candidates = bag_candidates,
                                      .common_bits = common_bits};

}  // namespace neardup
#endif
