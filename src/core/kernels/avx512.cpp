// AVX-512 (F, BW, DQ, VL) forms. Per-function target attributes only, as in avx2.cpp.
#if defined(__x86_64__)
#include "core/kernels/avx512_intrinsics.h"
#include "core/kernels/ctph_kernels.h"
#include "core/kernels/forms.h"
#include "core/kernels/word_kernels.h"

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

TARGET void at_least8(const uint8_t* in, size_t blocks, uint8_t least, uint64_t* masks) {
  const __m512i bound = _mm512_set1_epi8(static_cast<char>(least));
  for (size_t b = 0; b < blocks; ++b) masks[b] = _mm512_cmpge_epu8_mask(_mm512_loadu_si512(in + 64 * b), bound);
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

// Lane 7 - b is block b, at column s - b in step s. The carries of a step are the top bits of the lane above one step
// before; above lane 7 stands a word of the row above the stripe.
struct EditLanes {
  __m512i vp, vn;  // down the lane's last column
  __m512i hp, hn;  // along the rows of its last step, before the shift
};

// Steps s .. s + count - 1, count <= 64: the top bits of `lane` come out in bits count - 1 .. 0. kEnds: lanes whose
// column is outside keep their state.
template <bool kEnds>
TARGET inline void edit_steps(const uint64_t* masks, const uint16_t* column_masks, size_t columns, size_t s,
                              size_t count, unsigned lane, uint64_t in_p, uint64_t in_n, EditLanes& lanes,
                              uint64_t* out_p, uint64_t* out_n) {
  const __m512i lane_numbers = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  __m512i vp = lanes.vp, vn = lanes.vn, hp = lanes.hp, hn = lanes.hn;
  __m512i row_p = _mm512_set1_epi64(static_cast<long long>(in_p));
  __m512i row_n = _mm512_set1_epi64(static_cast<long long>(in_n));
  uint64_t p = 0, n = 0;
  for (size_t i = 0; i < count; ++i) {
    // Columns s - 7 .. s.
    const __m128i offsets = _mm_loadu_si128(reinterpret_cast<const __m128i*>(column_masks + s + i - 7));
    const __m512i at = _mm512_add_epi64(_mm512_cvtepu16_epi64(offsets), lane_numbers);
    const __m512i mask = _mm512_i64gather_epi64(at, masks, 8);
    const __m512i carry_p = _mm512_srli_epi64(_mm512_alignr_epi64(row_p, hp, 1), 63);
    const __m512i carry_n = _mm512_srli_epi64(_mm512_alignr_epi64(row_n, hn, 1), 63);
    row_p = _mm512_slli_epi64(row_p, 1);
    row_n = _mm512_slli_epi64(row_n, 1);
    const __m512i x = _mm512_or_si512(mask, carry_n);
    const __m512i sum = _mm512_add_epi64(_mm512_and_si512(x, vp), vp);
    const __m512i d0 = _mm512_ternarylogic_epi64(sum, vp, _mm512_or_si512(x, vn), 0x3c | 0xaa);  // (sum ^ vp) | ..
    hp = _mm512_ternarylogic_epi64(vn, d0, vp, 0xf0 | 0x11);                                     // vn | ~(d0 | vp)
    hn = _mm512_and_si512(d0, vp);
    const __m512i shifted_p = _mm512_or_si512(_mm512_slli_epi64(hp, 1), carry_p);
    const __m512i shifted_n = _mm512_or_si512(_mm512_slli_epi64(hn, 1), carry_n);
    const __m512i new_vp = _mm512_ternarylogic_epi64(shifted_n, d0, shifted_p, 0xf0 | 0x11);
    const __m512i new_vn = _mm512_and_si512(shifted_p, d0);
    if (kEnds) {
      const size_t t = s + i;
      const unsigned begun = t < 7 ? 0xffu << (7 - t) : 0xffu;
      const unsigned ended = t >= columns ? 0xffu >> (t - columns + 1) : 0xffu;
      const __mmask8 active = static_cast<__mmask8>(begun & ended);
      vp = _mm512_mask_mov_epi64(vp, active, new_vp);
      vn = _mm512_mask_mov_epi64(vn, active, new_vn);
    } else {
      vp = new_vp;
      vn = new_vn;
    }
    p = p << 1 | (static_cast<unsigned>(_mm512_movepi64_mask(hp)) >> lane & 1);
    n = n << 1 | (static_cast<unsigned>(_mm512_movepi64_mask(hn)) >> lane & 1);
  }
  lanes = {vp, vn, hp, hn};
  *out_p = p;
  *out_n = n;
}

TARGET void edit_stripe(const uint64_t* masks, const uint16_t* column_masks, size_t columns, unsigned blocks,
                        uint64_t* vp, uint64_t* vn, uint64_t* p, uint64_t* n) {
  if (blocks <= 2) return edit_stripe_scalar(masks, column_masks, columns, blocks, vp, vn, p, n);
  EditLanes lanes = {_mm512_loadu_si512(vp), _mm512_loadu_si512(vn), _mm512_setzero_si512(), _mm512_setzero_si512()};
  const unsigned late = blocks - 1;  // steps between a column's first and last block
  const size_t words = (columns + 63) / 64;
  const size_t steps = columns + late;
  uint64_t last_p = 0, last_n = 0;  // the last block's bits of the 64 steps before
  for (size_t s = 0, w = 0; s < steps; s += 64, ++w) {
    const size_t count = steps - s < 64 ? steps - s : 64;
    const uint64_t in_p = w < words ? p[w] : 0;
    const uint64_t in_n = w < words ? n[w] : 0;
    uint64_t out_p, out_n;
    if (s == 0 || s + 64 > columns) {
      edit_steps<true>(masks, column_masks, columns, s, count, 7 - late, in_p, in_n, lanes, &out_p, &out_n);
    } else {
      edit_steps<false>(masks, column_masks, columns, s, count, 7 - late, in_p, in_n, lanes, &out_p, &out_n);
    }
    out_p <<= 64 - count;
    out_n <<= 64 - count;
    if (w > 0) {
      p[w - 1] = last_p << late | out_p >> (64 - late);
      n[w - 1] = last_n << late | out_n >> (64 - late);
    }
    last_p = out_p;
    last_n = out_n;
    if (w < words && s + 64 >= steps) {
      p[w] = last_p << late;
      n[w] = last_n << late;
    }
  }
  _mm512_storeu_si512(vp, lanes.vp);
  _mm512_storeu_si512(vn, lanes.vn);
}

TARGET size_t near_pairs(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, bool triangle, unsigned most,
                         uint32_t* out) {
  const __m512i bound = _mm512_set1_epi64(most);
  size_t n = 0;
  for (size_t i = 0; i < nx; ++i) {
    const __m512i value = _mm512_set1_epi64(static_cast<long long>(x[i]));
    for (size_t j = triangle ? i + 1 : 0; j < ny; j += 8) {
      const __mmask8 there = static_cast<__mmask8>(ny - j >= 8 ? 0xff : (1u << (ny - j)) - 1);
      const __m512i other = _mm512_maskz_loadu_epi64(there, y + j);
      unsigned hits = _mm512_mask_cmple_epu64_mask(there, count_lanes(_mm512_xor_si512(value, other)), bound);
      for (; hits != 0; hits &= hits - 1)
        out[n++] = static_cast<uint32_t>(i << 16 | (j + static_cast<unsigned>(__builtin_ctz(hits))));
    }
  }
  return n;
}

}  // namespace

const Kernels kAvx512Kernels = {.name = "avx512",
                                .fold_ascii = fold_ascii,
                                .count_equal32 = count_equal32,
                                .count_equal16 = count_equal16,
                                .count_equal8 = count_equal8,
                                .equal_mask32 = equal_mask32,
                                .at_least8 = at_least8,
                                .sketch_round0 = sketch_round0,
                                .unpack_entries = unpack_entries_avx2,
                                .unpack_tids = unpack_tids_avx2,
                                .edit_stripe = edit_stripe,
                                .near_pairs = near_pairs,
                                .count_differing = count_differing_avx2,
                                .near_codes = near_codes_avx2,
                                .ctph = &kAvx512CtphKernels,
                                .words = &kAvx512WordKernels};

}  // namespace neardup
#endif
