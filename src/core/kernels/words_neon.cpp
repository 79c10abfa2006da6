// NEON forms of the kernels of similar words.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "core/kernels/neon_masks.h"
#include "core/kernels/word_kernels.h"

namespace neardup {
namespace {

// 64 words: their sums stay in registers.
inline void add_words(const WordProbe* row, size_t n, const uint16_t* tile, uint32_t* sums) {
  constexpr size_t kEights = 8;
  uint32x4_t s[2 * kEights];
#pragma GCC unroll 16
  for (size_t c = 0; c < 2 * kEights; ++c) s[c] = vld1q_u32(sums + 4 * c);
  for (size_t i = 0; i < n; ++i) {
    const uint16_t* values = tile + row[i].at * kTileWords;
    const uint16x8_t own = vdupq_n_u16(static_cast<uint16_t>(row[i].value));
#pragma GCC unroll 8
    for (size_t c = 0; c < kEights; ++c) {
      const uint16x8_t v = vld1q_u16(values + 8 * c);
      // 16 bits hold the sum of two values of 15.
      const uint16x8_t both = vaddq_u16(v, vandq_u16(own, vtstq_u16(v, v)));
      s[2 * c] = vaddw_u16(s[2 * c], vget_low_u16(both));
      s[2 * c + 1] = vaddw_high_u16(s[2 * c + 1], both);
    }
  }
#pragma GCC unroll 16
  for (size_t c = 0; c < 2 * kEights; ++c) vst1q_u32(sums + 4 * c, s[c]);
}

void add_dense(const WordProbe* row, size_t n, const uint16_t* tile, uint32_t* sums) {
  for (size_t c = 0; c < kTileWords; c += 64) add_words(row, n, tile + c, sums + c);
}

// The mask of the candidates among four words.
inline uint32x4_t enough(const uint32_t* sums, const float* weights, const float* least, float32x4_t weight,
                         float32x4_t own) {
  const uint32x4_t sum = vld1q_u32(sums);
  const float32x4_t other = vld1q_f32(least);
  const float32x4_t lesser = vbslq_f32(vcltq_f32(own, other), own, other);
  const float32x4_t bound = vmulq_f32(vaddq_f32(vld1q_f32(weights), weight), lesser);
  return vandq_u32(vcgeq_f32(vcvtq_f32_u32(sum), bound), vtstq_u32(sum, sum));
}

size_t candidates(const uint32_t* sums, const float* weights, const float* least, size_t n, float weight, float own,
                  uint32_t* out) {
  const float32x4_t w = vdupq_n_f32(weight);
  const float32x4_t o = vdupq_n_f32(own);
  size_t found = 0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint32x4_t low = enough(sums + i, weights + i, least + i, w, o);
    const uint32x4_t high = enough(sums + i + 4, weights + i + 4, least + i + 4, w, o);
    for_each_lane(vmovn_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high))),
                  [&](size_t lane) { out[found++] = static_cast<uint32_t>(i + lane); });
  }
  const size_t rest = kScalarWordKernels.candidates(sums + i, weights + i, least + i, n - i, weight, own, out + found);
  for (size_t k = found; k < found + rest; ++k) out[k] += static_cast<uint32_t>(i);
  return found + rest;
}

// The share of the plain form; not measured.
constexpr double kDenseShareNeon = 0.15;

}  // namespace

const WordKernels kNeonWordKernels = {
    .dense_share = kDenseShareNeon, .add_list = add_list_scalar, .add_dense = add_dense, .candidates = candidates};

}  // namespace neardup
#endif
