// AVX-512 (F, BW, DQ, VL) forms. Per-function target attributes only, as in kernels_avx2.cpp.
#if defined(__x86_64__)
// GCC 12 warns about its own undefined-vector intrinsics (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include "core/kernels.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))

namespace neardup {
namespace {

TARGET void fold_ascii(const uint8_t* in, size_t blocks, uint8_t* out, uint64_t* word, uint64_t* high) {
  const __m512i case_bit = _mm512_set1_epi8(0x20);
  for (size_t b = 0; b < blocks; ++b, in += 64, out += 64) {
    const __m512i c = _mm512_loadu_si512(in);
    const __mmask64 upper = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(c, _mm512_set1_epi8('A')), _mm512_set1_epi8(26));
    const __m512i f = _mm512_mask_or_epi32(c, 0xffff, c, _mm512_maskz_mov_epi8(upper, case_bit));
    const __mmask64 lower = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(f, _mm512_set1_epi8('a')), _mm512_set1_epi8(26));
    const __mmask64 digit = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(c, _mm512_set1_epi8('0')), _mm512_set1_epi8(10));
    _mm512_storeu_si512(out, f);
    word[b] = lower | digit | _mm512_cmpeq_epi8_mask(c, _mm512_set1_epi8('_'));
    high[b] = _mm512_movepi8_mask(c);
  }
}

TARGET uint32_t count_equal32(const uint32_t* a, const uint32_t* b, size_t n) {
  uint32_t m = 0;
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    m += static_cast<uint32_t>(
        __builtin_popcount(_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))));
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

TARGET uint32_t count_equal16(const uint16_t* a, const uint16_t* b, size_t n) {
  uint32_t m = 0;
  size_t i = 0;
  for (; i + 32 <= n; i += 32)
    m += static_cast<uint32_t>(
        __builtin_popcount(_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))));
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

TARGET uint32_t count_equal8(const uint8_t* a, const uint8_t* b, size_t n) {
  uint32_t m = 0;
  size_t i = 0;
  for (; i + 64 <= n; i += 64)
    m += static_cast<uint32_t>(
        __builtin_popcountll(_mm512_cmpeq_epi8_mask(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))));
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

TARGET uint64_t equal_mask32(const uint32_t* a, const uint32_t* b, size_t n) {
  uint64_t m = 0;
  for (size_t i = 0; i < n; i += 16)
    m |= static_cast<uint64_t>(_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))) << i;
  return m;
}

// The multiplies and shifts on eight lanes at a time; the minima stay scalar, since lanes may share a bin.
TARGET void sketch_round0(const uint64_t* x, size_t n, uint64_t seed_mix, uint32_t num_perm, uint32_t* components) {
  const __m512i seed = _mm512_set1_epi64(static_cast<long long>(seed_mix));
  const __m512i factor = _mm512_set1_epi64(static_cast<long long>(0xe9846af9b1a615dULL));
  const __m512i bins = _mm512_set1_epi64(num_perm);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    uint64_t value_bin[16];  // value << 32 | bin
    for (size_t g = 0; g < 16; g += 8) {
      __m512i h = _mm512_xor_si512(_mm512_loadu_si512(x + i + g), seed);
      h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
      h = _mm512_mullo_epi64(h, factor);
      h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
      h = _mm512_mullo_epi64(h, factor);
      h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 28));
      const __m512i bin = _mm512_srli_epi64(_mm512_mul_epu32(h, bins), 32);
      const __m512i value = _mm512_slli_epi64(_mm512_srli_epi64(h, 33), 32);
      _mm512_storeu_si512(value_bin + g, _mm512_or_si512(value, bin));
    }
    for (const uint64_t vb : value_bin) {
      uint32_t* c = components + static_cast<uint32_t>(vb);
      const uint32_t v = static_cast<uint32_t>(vb >> 32);
      if (v < *c) *c = v;
    }
  }
  kScalarKernels.sketch_round0(x + i, n - i, seed_mix, num_perm, components);
}

}  // namespace

const Kernels kAvx512Kernels = {
    "avx512",
    fold_ascii, count_equal32, count_equal16, count_equal8, equal_mask32, sketch_round0,
};

}  // namespace neardup
#endif
