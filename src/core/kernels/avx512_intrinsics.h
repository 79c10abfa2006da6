// <immintrin.h> for the AVX-512 forms. GCC 12 warns about its own undefined-vector intrinsics (GCC bug 105593), where
// they are inlined. Only functions with TARGET may call what is below.
#pragma once

#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))

namespace neardup {

// Set bits of each byte, by nibbles.
TARGET inline __m512i count_bytes(__m512i v) {
  const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i nibble = _mm512_set1_epi8(15);
  return _mm512_add_epi8(_mm512_shuffle_epi8(table, _mm512_and_si512(v, nibble)),
                         _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(v, 4), nibble)));
}

// Set bits of each 64-bit lane.
TARGET inline __m512i count_lanes(__m512i v) { return _mm512_sad_epu8(count_bytes(v), _mm512_setzero_si512()); }

}  // namespace neardup
