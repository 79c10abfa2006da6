// <immintrin.h> for the AVX2 forms, and short forms of it. Only functions with TARGET may call these.
#pragma once

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2")))

namespace neardup {

TARGET inline __m256i load256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
TARGET inline void store256(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }

// Set bits of each byte, by nibbles.
TARGET inline __m256i count_bytes(__m256i v) {
  const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m256i nibble = _mm256_set1_epi8(15);
  return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, nibble)),
                         _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble)));
}

}  // namespace neardup
