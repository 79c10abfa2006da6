// AVX2 forms of the kernels of similar words. Per-function target attributes only, as in avx2.cpp.
#if defined(__x86_64__)
#include "core/kernels/avx2_intrinsics.h"
#include "core/kernels/word_kernels.h"

namespace neardup {
namespace {

// 64 words: their 8 sums stay in registers, for two features at a time.
TARGET inline void add_words(const WordProbe* row, size_t n, const uint16_t* tile, uint32_t* sums) {
  const __m256i one = _mm256_set1_epi16(1);
  __m256i s[8];
#pragma GCC unroll 4
  for (size_t c = 0; c < 4; ++c) {  // in the order in which two features come to lie beside each other
    const __m256i a = load256(sums + 16 * c);
    const __m256i b = load256(sums + 16 * c + 8);
    s[2 * c] = _mm256_permute2x128_si256(a, b, 0x20);
    s[2 * c + 1] = _mm256_permute2x128_si256(a, b, 0x31);
  }
  for (size_t i = 0; i < n; i += 2) {
    const uint16_t* x = tile + row[i].at * kTileWords;
    const bool two = i + 1 < n;
    const uint16_t* y = two ? tile + row[i + 1].at * kTileWords : x;
    const __m256i values = _mm256_set1_epi32(static_cast<int>(row[i].value | (two ? row[i + 1].value << 16 : 0)));
    const __m256i counted = _mm256_set1_epi32(two ? 0x10001 : 1);
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; ++c) {
      const __m256i vx = load256(x + 16 * c);
      const __m256i vy = load256(y + 16 * c);
      const __m256i low = _mm256_unpacklo_epi16(vx, vy);
      const __m256i high = _mm256_unpackhi_epi16(vx, vy);
      s[2 * c] = _mm256_add_epi32(s[2 * c], _mm256_add_epi32(_mm256_madd_epi16(low, counted),
                                                             _mm256_madd_epi16(_mm256_min_epu16(low, one), values)));
      s[2 * c + 1] = _mm256_add_epi32(
          s[2 * c + 1],
          _mm256_add_epi32(_mm256_madd_epi16(high, counted), _mm256_madd_epi16(_mm256_min_epu16(high, one), values)));
    }
  }
#pragma GCC unroll 4
  for (size_t c = 0; c < 4; ++c) {
    store256(sums + 16 * c, _mm256_permute2x128_si256(s[2 * c], s[2 * c + 1], 0x20));
    store256(sums + 16 * c + 8, _mm256_permute2x128_si256(s[2 * c], s[2 * c + 1], 0x31));
  }
}

TARGET void add_dense(const WordProbe* row, size_t n, const uint16_t* tile, uint32_t* sums) {
  for (size_t c = 0; c < kTileWords; c += 64) add_words(row, n, tile + c, sums + c);
}

TARGET size_t candidates(const uint32_t* sums, const float* weights, const float* least, size_t n, float weight,
                         float own, uint32_t* out) {
  const __m256 w = _mm256_set1_ps(weight);
  const __m256 o = _mm256_set1_ps(own);
  size_t found = 0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i sum = load256(sums + i);
    const __m256 bound =
        _mm256_mul_ps(_mm256_add_ps(_mm256_loadu_ps(weights + i), w), _mm256_min_ps(_mm256_loadu_ps(least + i), o));
    const __m256 enough = _mm256_cmp_ps(_mm256_cvtepi32_ps(sum), bound, _CMP_GE_OQ);
    const __m256i some = _mm256_cmpgt_epi32(sum, _mm256_setzero_si256());
    auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_and_ps(enough, _mm256_castsi256_ps(some))));
    for (; mask != 0; mask &= mask - 1)
      out[found++] = static_cast<uint32_t>(i) + static_cast<uint32_t>(__builtin_ctz(mask));
  }
  const size_t rest = kScalarWordKernels.candidates(sums + i, weights + i, least + i, n - i, weight, own, out + found);
  for (size_t k = found; k < found + rest; ++k) out[k] += static_cast<uint32_t>(i);
  return found + rest;
}

}  // namespace

const WordKernels kAvx2WordKernels = {
    .dense_share = 0.09, .add_list = add_list_scalar, .add_dense = add_dense, .candidates = candidates};

}  // namespace neardup
#endif
