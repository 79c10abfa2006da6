// AVX-512 (F, BW, DQ, VL; VNNI where there is) forms of the kernels of similar words. Per-function target attributes
// only, as in avx2.cpp.
#if defined(__x86_64__)
#include "core/kernels/avx512_intrinsics.h"
#include "core/kernels/word_kernels.h"

#define TARGET_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,bmi2")))

namespace neardup {
namespace {

TARGET inline __m512i multiply_add(__m512i sum, __m512i a, __m512i b) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}

// 256 words: their 16 sums stay in registers, for two features at a time. A macro, since a function that is a template
// or a parameter is not inlined into one with more instructions.
#define UNROLLED(n) _Pragma(#n) for
#define EIGHT UNROLLED(GCC unroll 8)
#define ADD_DENSE_BODY(MULTIPLY_ADD)                                                                               \
  static_assert(kTileWords == 256);                                                                                \
  const __m512i one = _mm512_set1_epi16(1);                                                                        \
  const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);               \
  const __m512i second = _mm512_setr_epi32(4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);            \
  __m512i s[16];                                                                                                   \
  EIGHT(size_t c = 0; c < 8; ++c) { /* in the order in which two features come to lie beside each other */         \
    const __m512i a = _mm512_loadu_si512(sums + 32 * c);                                                           \
    const __m512i b = _mm512_loadu_si512(sums + 32 * c + 16);                                                      \
    s[2 * c] = _mm512_permutex2var_epi32(a, first, b);                                                             \
    s[2 * c + 1] = _mm512_permutex2var_epi32(a, second, b);                                                        \
  }                                                                                                                \
  for (size_t i = 0; i < n; i += 2) {                                                                              \
    const bool two = i + 1 < n;                                                                                    \
    const uint16_t* x = tile + row[i].at * kTileWords;                                                             \
    const uint16_t* y = two ? tile + row[i + 1].at * kTileWords : x;                                               \
    const __m512i values = _mm512_set1_epi32(static_cast<int>(row[i].value | (two ? row[i + 1].value << 16 : 0))); \
    const __m512i counted = _mm512_set1_epi32(two ? 0x10001 : 1);                                                  \
    EIGHT(size_t c = 0; c < 8; ++c) {                                                                              \
      const __m512i vx = _mm512_loadu_si512(x + 32 * c);                                                           \
      const __m512i vy = _mm512_loadu_si512(y + 32 * c);                                                           \
      const __m512i low = _mm512_unpacklo_epi16(vx, vy);                                                           \
      const __m512i high = _mm512_unpackhi_epi16(vx, vy);                                                          \
      s[2 * c] = MULTIPLY_ADD(MULTIPLY_ADD(s[2 * c], low, counted), _mm512_min_epu16(low, one), values);           \
      s[2 * c + 1] = MULTIPLY_ADD(MULTIPLY_ADD(s[2 * c + 1], high, counted), _mm512_min_epu16(high, one), values); \
    }                                                                                                              \
  }                                                                                                                \
  const __m512i front = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);                 \
  const __m512i back = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);            \
  EIGHT(size_t c = 0; c < 8; ++c) {                                                                                \
    _mm512_storeu_si512(sums + 32 * c, _mm512_permutex2var_epi32(s[2 * c], front, s[2 * c + 1]));                  \
    _mm512_storeu_si512(sums + 32 * c + 16, _mm512_permutex2var_epi32(s[2 * c], back, s[2 * c + 1]));              \
  }

TARGET void add_dense_plain(const WordProbe* row, size_t n, const uint16_t* tile,
                            uint32_t* sums){ADD_DENSE_BODY(multiply_add)}

TARGET_VNNI void add_dense_vnni(const WordProbe* row, size_t n, const uint16_t* tile, uint32_t* sums) {
  ADD_DENSE_BODY(_mm512_dpwssd_epi32)
}

void add_dense(const WordProbe* row, size_t n, const uint16_t* tile, uint32_t* sums) {
  static const bool vnni = __builtin_cpu_supports("avx512vnni") != 0;
  (vnni ? add_dense_vnni : add_dense_plain)(row, n, tile, sums);
}

TARGET size_t candidates(const uint32_t* sums, const float* weights, const float* least, size_t n, float weight,
                         float own, uint32_t* out) {
  const __m512 w = _mm512_set1_ps(weight);
  const __m512 o = _mm512_set1_ps(own);
  const __m512i steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  size_t found = 0;
  for (size_t i = 0; i < n; i += 16) {
    const __mmask16 in = n - i >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1u << (n - i)) - 1);
    const __m512i sum = _mm512_maskz_loadu_epi32(in, sums + i);
    const __m512 bound = _mm512_mul_ps(_mm512_add_ps(_mm512_maskz_loadu_ps(in, weights + i), w),
                                       _mm512_min_ps(_mm512_maskz_loadu_ps(in, least + i), o));
    const __mmask16 some = _mm512_test_epi32_mask(sum, sum);
    const __mmask16 hits = _mm512_mask_cmp_ps_mask(some, _mm512_cvtepu32_ps(sum), bound, _CMP_GE_OQ);
    if (hits == 0) continue;
    const __m512i at = _mm512_add_epi32(steps, _mm512_set1_epi32(static_cast<int>(i)));
    _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi32(hits, at));
    found += static_cast<size_t>(__builtin_popcount(hits));
  }
  return found;
}

}  // namespace

const WordKernels kAvx512WordKernels = {
    .dense_share = 0.05, .add_list = add_list_scalar, .add_dense = add_dense, .candidates = candidates};

}  // namespace neardup
#endif
