// AVX2 forms of the ctph kernels. Per-function target attributes only, as in kernels_avx2.cpp.
#if defined(__x86_64__)
#include <immintrin.h>

#include "core/kernels_ctph.h"

#define TARGET __attribute__((target("avx2,bmi2")))

namespace neardup {
namespace {

TARGET inline __m256i widen(const uint8_t* p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

// The low 16 bits of v + 1 of 16 positions. Of the shifted bytes only four reach them.
TARGET inline __m256i window_sums(const uint8_t* p) {
  const __m256i c0 = widen(p);
  const __m256i c1 = widen(p - 1);
  const __m256i c2 = widen(p - 2);
  const __m256i c3 = widen(p - 3);
  __m256i sum = _mm256_add_epi16(c0, c1);
  __m256i linear = _mm256_add_epi16(_mm256_add_epi16(c0, _mm256_set1_epi16(1)), sum);
  sum = _mm256_add_epi16(sum, c2);
  linear = _mm256_add_epi16(linear, sum);
  sum = _mm256_add_epi16(sum, c3);
  linear = _mm256_add_epi16(linear, sum);
  sum = _mm256_add_epi16(sum, widen(p - 4));
  linear = _mm256_add_epi16(linear, sum);
  sum = _mm256_add_epi16(sum, widen(p - 5));
  linear = _mm256_add_epi16(linear, sum);
  sum = _mm256_add_epi16(sum, widen(p - 6));
  linear = _mm256_add_epi16(linear, _mm256_add_epi16(sum, sum));
  const __m256i shifted = _mm256_xor_si256(_mm256_xor_si256(c0, _mm256_slli_epi16(c1, 5)),
                                           _mm256_xor_si256(_mm256_slli_epi16(c2, 10), _mm256_slli_epi16(c3, 15)));
  return _mm256_add_epi16(linear, shifted);
}

TARGET size_t window_candidates(const uint8_t* data, size_t n, uint32_t mask, uint32_t* out) {
  const __m256i low = _mm256_set1_epi16(static_cast<short>(mask));
  const __m256i zero = _mm256_setzero_si256();
  size_t found = 0;
  size_t p = 0;
  for (; p + 32 <= n; p += 32) {
    const __m256i a = _mm256_cmpeq_epi16(_mm256_and_si256(window_sums(data + p), low), zero);
    const __m256i b = _mm256_cmpeq_epi16(_mm256_and_si256(window_sums(data + p + 16), low), zero);
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xd8);
    uint32_t hits = static_cast<uint32_t>(_mm256_movemask_epi8(both));
    for (; hits != 0; hits &= hits - 1)
      out[found++] = static_cast<uint32_t>(p) + static_cast<uint32_t>(__builtin_ctz(hits));
  }
  const size_t rest = kScalarCtphKernels.window_candidates(data + p, n - p, mask, out + found);
  for (size_t i = 0; i < rest; ++i) out[found + i] += static_cast<uint32_t>(p);
  return found + rest;
}

TARGET inline void column(__m256i eq, __m256i ones, __m256i* up, __m256i* down) {
  const __m256i carried = _mm256_add_epi64(_mm256_and_si256(eq, *up), *up);
  const __m256i seen = _mm256_or_si256(eq, *down);
  const __m256i diagonal = _mm256_or_si256(_mm256_xor_si256(carried, *up), seen);
  const __m256i not_right = _mm256_andnot_si256(*down, _mm256_or_si256(diagonal, *up));
  const __m256i left = _mm256_and_si256(diagonal, *up);
  // right << 1 | 1 = right + right + 1 = right - ~right
  const __m256i right = _mm256_sub_epi64(_mm256_xor_si256(not_right, ones), not_right);
  const __m256i neither = _mm256_xor_si256(_mm256_or_si256(diagonal, right), ones);
  *up = _mm256_or_si256(_mm256_add_epi64(left, left), neither);
  *down = _mm256_and_si256(right, diagonal);
}

// Four patterns a vector, the two halves of a group together to hide the latency of a column.
TARGET void levenshtein64(const uint8_t* text, size_t n, const LevenshteinGroup* groups, size_t num_groups,
                          uint32_t* distances) {
  const __m256i ones = _mm256_set1_epi64x(-1);
  for (size_t g = 0; g < num_groups; ++g) {
    __m256i up0 = ones, down0 = _mm256_setzero_si256();
    __m256i up1 = ones, down1 = _mm256_setzero_si256();
    for (size_t j = 0; j < n; ++j) {
      const uint64_t* match = groups[g].match[text[j]];
      column(_mm256_load_si256(reinterpret_cast<const __m256i*>(match)), ones, &up0, &down0);
      column(_mm256_load_si256(reinterpret_cast<const __m256i*>(match + 4)), ones, &up1, &down1);
    }
    alignas(32) uint64_t up[kLevenshteinLanes];
    alignas(32) uint64_t down[kLevenshteinLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(up), up0);
    _mm256_store_si256(reinterpret_cast<__m256i*>(up + 4), up1);
    _mm256_store_si256(reinterpret_cast<__m256i*>(down), down0);
    _mm256_store_si256(reinterpret_cast<__m256i*>(down + 4), down1);
    for (size_t lane = 0; lane < kLevenshteinLanes; ++lane) {
      const uint64_t rows = groups[g].rows[lane];
      distances[kLevenshteinLanes * g + lane] = static_cast<uint32_t>(n) +
                                                static_cast<uint32_t>(__builtin_popcountll(up[lane] & rows)) -
                                                static_cast<uint32_t>(__builtin_popcountll(down[lane] & rows));
    }
  }
}

TARGET inline __m256i load(const uint64_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

TARGET size_t score_candidates(const CtphPrepared* subject, const CtphPrepared* others, size_t n, uint32_t* out) {
  __m256i a1[4];
  for (int i = 0; i < 4; ++i) a1[i] = load(subject->bits1 + 4 * i);
  const __m256i a2[2] = {load(subject->bits2), load(subject->bits2 + 4)};
  const __m256i a_any[2] = {_mm256_or_si256(a1[0], a1[2]), _mm256_or_si256(a1[1], a1[3])};
  const bool none = (subject->samples1 | subject->samples2) == 0;
  size_t found = 0;
  for (size_t j = 0; j < n; ++j) {
    const CtphPrepared& b = others[j];
    const uint32_t difference = subject->exponent - b.exponent + 1;
    __m256i equal = _mm256_setzero_si256();
    __m256i above = equal;
    __m256i below = equal;
    for (int i = 0; i < 2; ++i) {
      const __m256i low = load(b.bits1 + 4 * i);
      const __m256i high = load(b.bits1 + 8 + 4 * i);
      const __m256i b2 = load(b.bits2 + 4 * i);
      equal = _mm256_or_si256(equal, _mm256_or_si256(_mm256_and_si256(a1[i], low), _mm256_and_si256(a1[i + 2], high)));
      equal = _mm256_or_si256(equal, _mm256_and_si256(a2[i], b2));
      above = _mm256_or_si256(above, _mm256_and_si256(a_any[i], b2));
      below = _mm256_or_si256(below, _mm256_and_si256(a2[i], _mm256_or_si256(low, high)));
    }
    const int empty = none & ((b.samples1 | b.samples2) == 0);
    const int any_equal = (_mm256_testz_si256(equal, equal) ^ 1) | empty;
    const int any_above = _mm256_testz_si256(above, above) ^ 1;
    const int any_below = _mm256_testz_si256(below, below) ^ 1;
    const int any =
        (any_equal & int{difference == 1}) | (any_above & int{difference == 2}) | (any_below & int{difference == 0});
    out[found] = static_cast<uint32_t>(j);
    found += static_cast<size_t>(any);
  }
  return found;
}

}  // namespace

const CtphKernels kAvx2CtphKernels = {window_candidates, levenshtein64, score_candidates};

}  // namespace neardup
#endif
