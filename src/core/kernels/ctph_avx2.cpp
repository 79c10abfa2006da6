// AVX2 forms of the ctph kernels. Per-function target attributes only, as in avx2.cpp.
#if defined(__x86_64__)
#include "core/kernels/avx2_intrinsics.h"
#include "core/kernels/ctph_kernels.h"

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

// Four patterns a vector, N groups at a time: columns of one wait for each other.
template <size_t N>
TARGET inline void group_distances(const uint8_t* text, size_t n, const LevenshteinGroup* groups, uint32_t* distances) {
  constexpr size_t kVectorsOfFour = 2 * N;
  const __m256i ones = _mm256_set1_epi64x(-1);
  __m256i up[kVectorsOfFour];
  __m256i down[kVectorsOfFour];
  for (size_t v = 0; v < kVectorsOfFour; ++v) {
    up[v] = ones;
    down[v] = _mm256_setzero_si256();
  }
  for (size_t j = 0; j < n; ++j) {
    const size_t symbol = text[j];
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectorsOfFour; ++v) {
      const uint64_t* match = groups[v / 2].match[symbol] + 4 * (v % 2);
      column(_mm256_load_si256(reinterpret_cast<const __m256i*>(match)), ones, &up[v], &down[v]);
    }
  }
  for (size_t v = 0; v < kVectorsOfFour; ++v) {
    alignas(32) uint64_t ups[4];
    alignas(32) uint64_t downs[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(ups), up[v]);
    _mm256_store_si256(reinterpret_cast<__m256i*>(downs), down[v]);
    for (size_t lane = 0; lane < 4; ++lane) {
      const uint64_t rows = groups[v / 2].rows[4 * (v % 2) + lane];
      distances[4 * v + lane] = static_cast<uint32_t>(n) +
                                static_cast<uint32_t>(__builtin_popcountll(ups[lane] & rows)) -
                                static_cast<uint32_t>(__builtin_popcountll(downs[lane] & rows));
    }
  }
}

TARGET void levenshtein64(const uint8_t* text, size_t n, const LevenshteinGroup* groups, size_t num_groups,
                          uint32_t* distances) {
  size_t g = 0;
  for (; g + 2 <= num_groups; g += 2) group_distances<2>(text, n, groups + g, distances + kLevenshteinLanes * g);
  if (g < num_groups) group_distances<1>(text, n, groups + g, distances + kLevenshteinLanes * g);
}

// Lanes of ones where four bags from j on have what is needed.
struct BagCounter {
  __m256i level[kBagLevels];
  __m256i rest;
  __m256i below;  // need - 1
};

TARGET inline __m256i four_bags(const BagCounter& c, const SymbolBags& others, size_t j) {
  const __m256i common0 = _mm256_and_si256(c.level[0], load256(others.level[0] + j));
  const __m256i common1 = _mm256_and_si256(c.level[1], load256(others.level[1] + j));
  const __m256i common2 = _mm256_and_si256(c.level[2], load256(others.level[2] + j));
  const __m256i odd = _mm256_xor_si256(_mm256_xor_si256(common0, common1), common2);
  const __m256i twos = count_bytes(common1);
  const __m256i bytes = _mm256_add_epi8(count_bytes(odd), _mm256_add_epi8(twos, twos));
  const __m256i sum = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
  const __m256i rest = _mm256_cvtepu16_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(others.rest + j)));
  return _mm256_cmpgt_epi64(_mm256_add_epi64(sum, _mm256_min_epu32(rest, c.rest)), c.below);
}

TARGET inline uint32_t lane_signs(__m256i lanes) {
  return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)));
}

TARGET size_t bag_candidates(const SymbolBag* subject, const SymbolBags* others, size_t first, size_t last,
                             uint32_t need, uint32_t* out) {
  BagCounter c;
  for (size_t k = 0; k < kBagLevels; ++k) c.level[k] = _mm256_set1_epi64x(static_cast<long long>(subject->level[k]));
  c.rest = _mm256_set1_epi64x(subject->rest);
  c.below = _mm256_set1_epi64x(static_cast<long long>(need) - 1);
  size_t found = 0;
  size_t j = first;
  for (; j + 16 <= last; j += 16) {
    const __m256i a = four_bags(c, *others, j);
    const __m256i b = four_bags(c, *others, j + 4);
    const __m256i d = four_bags(c, *others, j + 8);
    const __m256i e = four_bags(c, *others, j + 12);
    const __m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(d, e));
    if (_mm256_testz_si256(any, any)) continue;
    uint32_t hits = lane_signs(a) | lane_signs(b) << 4 | lane_signs(d) << 8 | lane_signs(e) << 12;
    for (; hits != 0; hits &= hits - 1)
      out[found++] = static_cast<uint32_t>(j) + static_cast<uint32_t>(__builtin_ctz(hits));
  }
  return found + kScalarCtphKernels.bag_candidates(subject, others, j, last, need, out + found);
}

TARGET uint32_t common_bits(const uint64_t* a, const uint64_t* b) {
  __m256i sum = _mm256_setzero_si256();  // in bytes: 8 at most from each of 16 vectors
  for (size_t i = 0; i < kBitSetWords; i += 4)
    sum = _mm256_add_epi8(sum, count_bytes(_mm256_and_si256(load256(a + i), load256(b + i))));
  const __m256i four = _mm256_sad_epu8(sum, _mm256_setzero_si256());
  const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 2));
}

}  // namespace

const CtphKernels kAvx2CtphKernels = {.window_candidates = window_candidates,
                                      .levenshtein64 = levenshtein64,
                                      .bag_candidates = bag_candidates,
                                      .common_bits = common_bits};

}  // namespace neardup
#endif
