// AVX-512 (F, BW, DQ, VL) forms of the ctph kernels. Per-function target attributes only, as in avx2.cpp.
#if defined(__x86_64__)
#include "core/kernels/avx512_intrinsics.h"
#include "core/kernels/ctph_kernels.h"

namespace neardup {
namespace {

TARGET inline __m512i widen(const uint8_t* p) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}

// The low 16 bits of v + 1, 32 positions at a time. Of the shifted bytes only four reach them.
TARGET size_t window_candidates(const uint8_t* data, size_t n, uint32_t mask, uint32_t* out) {
  const __m512i low = _mm512_set1_epi16(static_cast<short>(mask));
  const __m512i one = _mm512_set1_epi16(1);
  size_t found = 0;
  size_t p = 0;
  for (; p + 32 <= n; p += 32) {
    const __m512i c0 = widen(data + p);
    const __m512i c1 = widen(data + p - 1);
    const __m512i c2 = widen(data + p - 2);
    const __m512i c3 = widen(data + p - 3);
    __m512i sum = _mm512_add_epi16(c0, c1);
    __m512i linear = _mm512_add_epi16(_mm512_add_epi16(c0, one), sum);
    sum = _mm512_add_epi16(sum, c2);
    linear = _mm512_add_epi16(linear, sum);
    sum = _mm512_add_epi16(sum, c3);
    linear = _mm512_add_epi16(linear, sum);
    sum = _mm512_add_epi16(sum, widen(data + p - 4));
    linear = _mm512_add_epi16(linear, sum);
    sum = _mm512_add_epi16(sum, widen(data + p - 5));
    linear = _mm512_add_epi16(linear, sum);
    sum = _mm512_add_epi16(sum, widen(data + p - 6));
    linear = _mm512_add_epi16(linear, _mm512_add_epi16(sum, sum));
    const __m512i shifted = _mm512_xor_si512(_mm512_xor_si512(c0, _mm512_slli_epi16(c1, 5)),
                                             _mm512_xor_si512(_mm512_slli_epi16(c2, 10), _mm512_slli_epi16(c3, 15)));
    uint32_t hits = _mm512_testn_epi16_mask(_mm512_add_epi16(linear, shifted), low);
    for (; hits != 0; hits &= hits - 1)
      out[found++] = static_cast<uint32_t>(p) + static_cast<uint32_t>(__builtin_ctz(hits));
  }
  const size_t rest = kScalarCtphKernels.window_candidates(data + p, n - p, mask, out + found);
  for (size_t i = 0; i < rest; ++i) out[found + i] += static_cast<uint32_t>(p);
  return found + rest;
}

// One column; the truth tables are of (a, b, c) in the order of the arguments.
TARGET inline void column(__m512i eq, __m512i ones, __m512i* up, __m512i* down) {
  const __m512i carried = _mm512_add_epi64(_mm512_and_si512(eq, *up), *up);
  const __m512i seen = _mm512_or_si512(eq, *down);
  const __m512i diagonal = _mm512_ternarylogic_epi64(carried, *up, seen, 0xbe);     // (a ^ b) | c
  const __m512i not_right = _mm512_ternarylogic_epi64(diagonal, *up, *down, 0x54);  // (a | b) & ~c
  const __m512i left = _mm512_and_si512(diagonal, *up);
  // right << 1 | 1 = right + right + 1 = right - ~right
  const __m512i right = _mm512_sub_epi64(_mm512_xor_si512(not_right, ones), not_right);
  *up = _mm512_ternarylogic_epi64(_mm512_add_epi64(left, left), diagonal, right, 0xf1);  // a | ~(b | c)
  *down = _mm512_and_si512(right, diagonal);
}

TARGET inline void store_distances(const LevenshteinGroup& group, size_t n, __m512i up, __m512i down, uint32_t* out) {
  const __m512i rows = _mm512_load_si512(group.rows);
  const __m512i d = _mm512_add_epi64(
      _mm512_set1_epi64(static_cast<long long>(n)),
      _mm512_sub_epi64(count_lanes(_mm512_and_si512(up, rows)), count_lanes(_mm512_and_si512(down, rows))));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi64_epi32(d));
}

// N groups at a time: columns of one wait for each other.
template <size_t N>
TARGET inline void group_distances(const uint8_t* text, size_t n, const LevenshteinGroup* groups, uint32_t* distances) {
  const __m512i ones = _mm512_set1_epi64(-1);
  __m512i up[N];
  __m512i down[N];
  for (size_t g = 0; g < N; ++g) {
    up[g] = ones;
    down[g] = _mm512_setzero_si512();
  }
  for (size_t j = 0; j < n; ++j) {
    const size_t symbol = text[j];
#pragma GCC unroll 4
    for (size_t g = 0; g < N; ++g) column(_mm512_load_si512(groups[g].match[symbol]), ones, &up[g], &down[g]);
  }
  for (size_t g = 0; g < N; ++g) store_distances(groups[g], n, up[g], down[g], distances + kLevenshteinLanes * g);
}

TARGET void levenshtein64(const uint8_t* text, size_t n, const LevenshteinGroup* groups, size_t num_groups,
                          uint32_t* distances) {
  size_t g = 0;
  for (; g + 4 <= num_groups; g += 4) group_distances<4>(text, n, groups + g, distances + kLevenshteinLanes * g);
  for (; g < num_groups; ++g) group_distances<1>(text, n, groups + g, distances + kLevenshteinLanes * g);
}

// Eight bags a vector; as in the scalar form, parity and level 1 are counted.
TARGET size_t bag_candidates(const SymbolBag* subject, const SymbolBags* others, size_t first, size_t last,
                             uint32_t need, uint32_t* out) {
  const __m512i level0 = _mm512_set1_epi64(static_cast<long long>(subject->level[0]));
  const __m512i level1 = _mm512_set1_epi64(static_cast<long long>(subject->level[1]));
  const __m512i level2 = _mm512_set1_epi64(static_cast<long long>(subject->level[2]));
  const __m512i subject_rest = _mm512_set1_epi64(subject->rest);
  const __m512i least = _mm512_set1_epi64(need);
  size_t found = 0;
  size_t j = first;
  for (; j + 8 <= last; j += 8) {
    const __m512i common0 = _mm512_and_si512(level0, _mm512_loadu_si512(others->level[0] + j));
    const __m512i common1 = _mm512_and_si512(level1, _mm512_loadu_si512(others->level[1] + j));
    const __m512i common2 = _mm512_and_si512(level2, _mm512_loadu_si512(others->level[2] + j));
    const __m512i odd = _mm512_ternarylogic_epi64(common0, common1, common2, 0x96);  // a ^ b ^ c
    const __m512i twos = count_bytes(common1);
    const __m512i bytes = _mm512_add_epi8(count_bytes(odd), _mm512_add_epi8(twos, twos));
    const __m512i sum = _mm512_sad_epu8(bytes, _mm512_setzero_si512());
    const __m512i rest = _mm512_cvtepu16_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(others->rest + j)));
    uint32_t hits = _mm512_cmpge_epu64_mask(_mm512_add_epi64(sum, _mm512_min_epu64(rest, subject_rest)), least);
    for (; hits != 0; hits &= hits - 1)
      out[found++] = static_cast<uint32_t>(j) + static_cast<uint32_t>(__builtin_ctz(hits));
  }
  return found + kScalarCtphKernels.bag_candidates(subject, others, j, last, need, out + found);
}

TARGET uint32_t common_bits(const uint64_t* a, const uint64_t* b) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t i = 0; i < kBitSetWords; i += 8)
    sum = _mm512_add_epi64(sum, count_lanes(_mm512_and_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))));
  return static_cast<uint32_t>(_mm512_reduce_add_epi64(sum));
}

}  // namespace

const CtphKernels kAvx512CtphKernels = {.window_candidates = window_candidates,
                                        .levenshtein64 = levenshtein64,
                                        .bag_candidates = bag_candidates,
                                        .common_bits = common_bits};

}  // namespace neardup
#endif
