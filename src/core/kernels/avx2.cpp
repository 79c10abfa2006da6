// AVX2 forms. Built with per-function target attributes only, so that no inline helper compiled for
// AVX2 can leak into code that runs on older machines.
#if defined(__x86_64__)
#include "core/kernels/avx2_intrinsics.h"
#include "core/kernels/ctph_kernels.h"
#include "core/kernels/forms.h"
#include "core/kernels/packed_leaf.h"
#include "core/kernels/word_kernels.h"

namespace neardup {
namespace {

TARGET inline __m256i broadcast(uint64_t v) { return _mm256_set1_epi64x(static_cast<long long>(v)); }

// All byte comparisons below are signed; bytes 0x80.. are negative and so never inside an ASCII range.
TARGET void fold_ascii(const uint8_t* in, size_t blocks, uint8_t* out, uint64_t* word, uint64_t* high) {
  const __m256i before_upper = _mm256_set1_epi8('A' - 1);
  const __m256i after_upper = _mm256_set1_epi8('Z' + 1);
  const __m256i before_lower = _mm256_set1_epi8('a' - 1);
  const __m256i after_lower = _mm256_set1_epi8('z' + 1);
  const __m256i before_digit = _mm256_set1_epi8('0' - 1);
  const __m256i after_digit = _mm256_set1_epi8('9' + 1);
  const __m256i underscore = _mm256_set1_epi8('_');
  const __m256i case_bit = _mm256_set1_epi8(0x20);
  for (size_t b = 0; b < blocks; ++b, in += 64, out += 64) {
    uint64_t w = 0;
    uint64_t h = 0;
    for (int half = 0; half < 2; ++half) {
      const __m256i c = load256(in + 32 * half);
      const __m256i upper = _mm256_and_si256(_mm256_cmpgt_epi8(c, before_upper), _mm256_cmpgt_epi8(after_upper, c));
      const __m256i f = _mm256_or_si256(c, _mm256_and_si256(upper, case_bit));
      const __m256i lower = _mm256_and_si256(_mm256_cmpgt_epi8(f, before_lower), _mm256_cmpgt_epi8(after_lower, f));
      const __m256i digit = _mm256_and_si256(_mm256_cmpgt_epi8(c, before_digit), _mm256_cmpgt_epi8(after_digit, c));
      const __m256i any = _mm256_or_si256(_mm256_or_si256(lower, digit), _mm256_cmpeq_epi8(c, underscore));
      store256(out + 32 * half, f);
      w |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(any))) << (32 * half);
      h |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(c))) << (32 * half);
    }
    word[b] = w;
    high[b] = h;
  }
}

TARGET uint32_t count_equal32(const uint32_t* a, const uint32_t* b, size_t n) {
  __m256i sum = _mm256_setzero_si256();
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i e = _mm256_cmpeq_epi32(load256(a + i), load256(b + i));
    sum = _mm256_sub_epi32(sum, e);
  }
  alignas(32) uint32_t lane[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lane), sum);
  uint32_t m = 0;
  for (uint32_t v : lane) m += v;
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

TARGET uint32_t count_equal16(const uint16_t* a, const uint16_t* b, size_t n) {
  uint32_t m = 0;
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i e = _mm256_cmpeq_epi16(load256(a + i), load256(b + i));
    m += static_cast<uint32_t>(__builtin_popcount(static_cast<uint32_t>(_mm256_movemask_epi8(e)))) >> 1;
  }
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

TARGET uint32_t count_equal8(const uint8_t* a, const uint8_t* b, size_t n) {
  uint32_t m = 0;
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i e = _mm256_cmpeq_epi8(load256(a + i), load256(b + i));
    m += static_cast<uint32_t>(__builtin_popcount(static_cast<uint32_t>(_mm256_movemask_epi8(e))));
  }
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

TARGET uint64_t equal_mask32(const uint32_t* a, const uint32_t* b, size_t n) {
  uint64_t m = 0;
  for (size_t i = 0; i < n; i += 8) {
    const __m256i e = _mm256_cmpeq_epi32(load256(a + i), load256(b + i));
    m |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(e)))) << i;
  }
  return m;
}

// Low 64 bits of x * factor, by three 32-bit multiplies; low and high are the factor's halves in every lane.
TARGET inline __m256i multiply64(__m256i x, __m256i low, __m256i high) {
  const __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(x, high), _mm256_mul_epu32(_mm256_srli_epi64(x, 32), low));
  return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(cross, 32));
}

TARGET void at_least8(const uint8_t* in, size_t blocks, uint8_t least, uint64_t* masks) {
  const __m256i below = _mm256_set1_epi8(static_cast<char>(least - 1));
  const auto half = [&](const uint8_t* at) TARGET {
    const __m256i c = load256(at);
    return static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(c, below))));
  };
  for (size_t b = 0; b < blocks; ++b, in += 64) masks[b] = half(in) | half(in + 32) << 32;
}

// The multiplies are in lanes, as in the AVX-512 form; the minima are scalar, since lanes may share a bin.
TARGET void sketch_round0(const uint64_t* x, size_t n, uint64_t seed_mix, uint32_t num_perm, uint32_t* components) {
  constexpr uint64_t kFactor = 0xe9846af9b1a615dULL;  // of mix64()
  const __m256i seed = broadcast(seed_mix);
  const __m256i low = broadcast(kFactor & 0xffffffff);
  const __m256i high = broadcast(kFactor >> 32);
  const __m256i bins = _mm256_set1_epi64x(num_perm);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    uint64_t value_bin[16];  // value << 32 | bin
    for (size_t g = 0; g < 16; g += 4) {
      __m256i h = _mm256_xor_si256(load256(x + i + g), seed);
      h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 32));
      h = multiply64(h, low, high);
      h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 32));
      h = multiply64(h, low, high);
      h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 28));
      const __m256i bin = _mm256_srli_epi64(_mm256_mul_epu32(h, bins), 32);
      const __m256i value = _mm256_slli_epi64(_mm256_srli_epi64(h, 33), 32);
      store256(value_bin + g, _mm256_or_si256(value, bin));
    }
    for (const uint64_t vb : value_bin) {
      uint32_t* c = components + static_cast<uint32_t>(vb);
      const uint32_t v = static_cast<uint32_t>(vb >> 32);
      if (v < *c) *c = v;
    }
  }
  kScalarKernels.sketch_round0(x + i, n - i, seed_mix, num_perm, components);
}

// Set bits of each 64-bit lane.
TARGET inline __m256i count_lanes(__m256i v) { return _mm256_sad_epu8(count_bytes(v), _mm256_setzero_si256()); }

TARGET size_t near_pairs(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, bool triangle, unsigned most,
                         uint32_t* out) {
  const __m256i too_many = _mm256_set1_epi64x(most + 1);
  const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
  size_t n = 0;
  for (size_t i = 0; i < nx; ++i) {
    const __m256i value = broadcast(x[i]);
    size_t j = triangle ? i + 1 : 0;
    for (; j + 4 <= ny; j += 4) {
      const __m256i other = load256(y + j);
      const __m256i near = _mm256_cmpgt_epi64(too_many, count_lanes(_mm256_xor_si256(value, other)));
      unsigned hits = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(near)));
      for (; hits != 0; hits &= hits - 1)
        out[n++] = static_cast<uint32_t>(i << 16 | (j + static_cast<unsigned>(__builtin_ctz(hits))));
    }
    if (j < ny) {
      const __m256i there = _mm256_cmpgt_epi64(broadcast(ny - j), lanes);
      const __m256i other = _mm256_maskload_epi64(reinterpret_cast<const long long*>(y + j), there);
      const __m256i near = _mm256_cmpgt_epi64(too_many, count_lanes(_mm256_xor_si256(value, other)));
      unsigned hits = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_and_si256(near, there))));
      for (; hits != 0; hits &= hits - 1)
        out[n++] = static_cast<uint32_t>(i << 16 | (j + static_cast<unsigned>(__builtin_ctz(hits))));
    }
  }
  return n;
}

// The instruction counts as fast as tables in registers would: a word a cycle. Every machine with AVX2 has it.
TARGET inline size_t count_word(uint64_t v) { return static_cast<size_t>(__builtin_popcountll(v)); }

TARGET inline uint64_t load_word(const uint8_t* p) {
  uint64_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// kWords: of a value; 0: as many as `words` says. Unlike values go beyond the bound after some words.
template <size_t kWords>
TARGET size_t find_near_codes(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, size_t words, bool triangle,
                              unsigned most, uint32_t* out) {
  constexpr size_t kWordsPerTest = 4;
  if constexpr (kWords != 0) words = kWords;
  size_t n = 0;
  for (size_t i = 0; i < nx; ++i, x += words) {
    size_t j = triangle ? i + 1 : 0;
    for (const uint64_t* other = y + j * words; j < ny; ++j, other += words) {
      size_t differing = 0;
      if constexpr (kWords != 0)
        for (size_t w = 0; w < kWords; ++w) differing += count_word(x[w] ^ other[w]);
      else
        for (size_t w = 0; w < words && differing <= most; w += kWordsPerTest)
          for (size_t at = w; at < words && at < w + kWordsPerTest; ++at) differing += count_word(x[at] ^ other[at]);
      if (differing <= most) out[n++] = static_cast<uint32_t>(i << 16 | j);
    }
  }
  return n;
}

TARGET inline __m128i load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

// Reads PackedFields from one of them on, eight at a time. Eight fields end as many bytes after their beginning as a
// field has bits, so what brings them to the bottom of words stays the same.
class EightFields {
 public:
  // n: of the fields; from is below n.
  TARGET EightFields(const PackedFields& fields, uint32_t n, uint32_t from)
      : step_(fields.bits), mask_(broadcast(fields.mask)) {
    const uint64_t first = uint64_t{from} * fields.bits;
    at_ = fields.bytes + (first >> 3);
    end_ = fields.bytes + (uint64_t{n - 1} * fields.bits >> 3) + 8;
    const __m256i each = _mm256_mul_epu32(broadcast(fields.bits), _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i low_byte = _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808);
    for (int h = 0; h < 2; ++h) {
      // 16 bytes hold two fields: at most 7 + 2 * 48 bits.
      const uint64_t bit = (first & 7) + 4 * static_cast<unsigned>(h) * fields.bits;
      load_[2 * h] = bit >> 3;
      load_[2 * h + 1] = (bit + 2 * fields.bits) >> 3;
      const __m256i bits = _mm256_add_epi64(each, broadcast(bit));
      const __m256i in_load =
          _mm256_sub_epi64(bits, _mm256_andnot_si256(broadcast(7), _mm256_unpacklo_epi64(bits, bits)));
      bytes_[h] =
          _mm256_add_epi8(_mm256_shuffle_epi8(_mm256_srli_epi64(in_load, 3), low_byte), broadcast(0x0706050403020100));
      shifts_[h] = _mm256_and_si256(in_load, broadcast(7));
    }
  }

  // True if the next eight lie where 16 bytes can be read for each two.
  TARGET bool is_safe() const { return static_cast<size_t>(end_ - at_) >= load_[3] + 16; }
  // Half 0 or 1 of the next eight.
  TARGET __m256i half(int h) const {
    const __m256i loads =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load16(at_ + load_[2 * h])), load16(at_ + load_[2 * h + 1]), 1);
    return _mm256_and_si256(_mm256_srlv_epi64(_mm256_shuffle_epi8(loads, bytes_[h]), shifts_[h]), mask_);
  }
  TARGET void advance() { at_ += step_; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;  // of what can be read
  size_t step_;
  size_t load_[4];
  __m256i bytes_[2];
  __m256i shifts_[2];
  __m256i mask_;
};

// The TIDs that fields of a leaf stand for, four at a time.
class TidDecoder {
 public:
  TARGET explicit TidDecoder(const PackedEntries& leaf)
      : off_mask_(broadcast(leaf.off_mask)),
        base_(broadcast(leaf.base_block)),
        most_(broadcast(kMaxTid)),
        off_bits_(_mm_cvtsi32_si128(static_cast<int>(leaf.off_bits))) {}

  TARGET __m256i operator()(__m256i v) const {
    const __m256i block = _mm256_slli_epi64(_mm256_add_epi64(_mm256_srl_epi64(v, off_bits_), base_), 16);
    return _mm256_and_si256(_mm256_or_si256(block, _mm256_and_si256(v, off_mask_)), most_);
  }

 private:
  __m256i off_mask_;
  __m256i base_;
  __m256i most_;
  __m128i off_bits_;
};

}  // namespace

TARGET void unpack_entries_avx2(const PackedEntries& leaf, uint32_t from, uint32_t to, Entry* out) {
  const PackedEntries copy = leaf;  // which nothing that is written can change
  if (to - from >= 8) {
    EightFields keys(copy.keys, copy.n, from);
    EightFields tids(copy.tids, copy.n, from);
    const TidDecoder decode_tids(copy);
    const __m256i base_key = broadcast(copy.base_key);
    for (; to - from >= 8 && keys.is_safe() && tids.is_safe(); from += 8, out += 8) {
      for (int h = 0; h < 2; ++h) {
        const __m256i key = _mm256_add_epi64(keys.half(h), base_key);
        const __m256i tid = decode_tids(tids.half(h));
        const __m256i even = _mm256_unpacklo_epi64(key, tid);
        const __m256i odd = _mm256_unpackhi_epi64(key, tid);
        __m256i* four = reinterpret_cast<__m256i*>(out + 4 * h);
        _mm256_storeu_si256(four, _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(four + 1, _mm256_permute2x128_si256(even, odd, 0x31));
      }
      keys.advance();
      tids.advance();
    }
  }
  for (; from < to; ++from) *out++ = {copy.key(from), copy.tid(from)};
}

TARGET void unpack_tids_avx2(const PackedEntries& leaf, uint32_t from, uint32_t to, uint64_t* out) {
  const PackedEntries copy = leaf;
  if (to - from >= 8) {
    EightFields tids(copy.tids, copy.n, from);
    const TidDecoder decode_tids(copy);
    for (; to - from >= 8 && tids.is_safe(); from += 8, out += 8) {
      for (int h = 0; h < 2; ++h) store256(out + 4 * h, decode_tids(tids.half(h)));
      tids.advance();
    }
  }
  for (; from < to; ++from) *out++ = copy.tid(from);
}

TARGET size_t count_differing_avx2(const uint8_t* a, const uint8_t* b, size_t n) {
  size_t differing = 0;
  for (; n >= 8; n -= 8, a += 8, b += 8) differing += count_word(load_word(a) ^ load_word(b));
  for (; n > 0; --n) differing += count_word(static_cast<uint64_t>(*a++ ^ *b++));
  return differing;
}

size_t near_codes_avx2(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, size_t words, bool triangle,
                       unsigned most, uint32_t* out) {
  switch (words) {
    case 1:
      return near_pairs(x, nx, y, ny, triangle, most, out);
    case 2:
      return find_near_codes<2>(x, nx, y, ny, words, triangle, most, out);
    case 4:
      return find_near_codes<4>(x, nx, y, ny, words, triangle, most, out);
    default:
      return find_near_codes<0>(x, nx, y, ny, words, triangle, most, out);
  }
}

const Kernels kAvx2Kernels = {.name = "avx2",
                              .fold_ascii = fold_ascii,
                              .count_equal32 = count_equal32,
                              .count_equal16 = count_equal16,
                              .count_equal8 = count_equal8,
                              .equal_mask32 = equal_mask32,
                              .at_least8 = at_least8,
                              .sketch_round0 = sketch_round0,
                              .unpack_entries = unpack_entries_avx2,
                              .unpack_tids = unpack_tids_avx2,
                              .edit_stripe = edit_stripe_scalar,
                              .near_pairs = near_pairs,
                              .count_differing = count_differing_avx2,
                              .near_codes = near_codes_avx2,
                              .ctph = &kAvx2CtphKernels,
                              .words = &kAvx2WordKernels};

}  // namespace neardup
#endif
