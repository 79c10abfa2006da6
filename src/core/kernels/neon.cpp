// NEON forms, for arm64, where every processor has the instructions.
#if defined(__aarch64__)
#include <algorithm>
#include <arm_neon.h>

#include "core/kernels/ctph_kernels.h"
#include "core/kernels/forms.h"
#include "core/kernels/neon_masks.h"
#include "core/kernels/packed_leaf.h"
#include "core/kernels/word_kernels.h"

namespace neardup {
namespace {

// Where c - first, as an unsigned number, is below count.
inline uint8x16_t in_range(uint8x16_t c, uint8_t first, uint8_t count) {
  return vcltq_u8(vsubq_u8(c, vdupq_n_u8(first)), vdupq_n_u8(count));
}

void fold_ascii(const uint8_t* in, size_t blocks, uint8_t* out, uint64_t* word, uint64_t* high) {
  for (size_t b = 0; b < blocks; ++b, in += 64, out += 64) {
    uint8x16_t is_word[4];
    uint8x16_t is_high[4];
    for (size_t v = 0; v < 4; ++v) {
      const uint8x16_t c = vld1q_u8(in + 16 * v);
      const uint8x16_t f = vorrq_u8(c, vandq_u8(in_range(c, 'A', 26), vdupq_n_u8(0x20)));
      const uint8x16_t digit = in_range(c, '0', 10);
      is_word[v] = vorrq_u8(vorrq_u8(in_range(f, 'a', 26), digit), vceqq_u8(c, vdupq_n_u8('_')));
      is_high[v] = vcgeq_u8(c, vdupq_n_u8(0x80));
      vst1q_u8(out + 16 * v, f);
    }
    word[b] = bits_of_64(is_word);
    high[b] = bits_of_64(is_high);
  }
}

uint32_t count_equal32(const uint32_t* a, const uint32_t* b, size_t n) {
  uint32x4_t sum = vdupq_n_u32(0);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) sum = vsubq_u32(sum, vceqq_u32(vld1q_u32(a + i), vld1q_u32(b + i)));
  uint32_t m = vaddvq_u32(sum);
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

uint32_t count_equal16(const uint16_t* a, const uint16_t* b, size_t n) {
  constexpr size_t kUntilFull16 = 8 * 0xffff;  // until a lane is full
  uint32_t m = 0;
  size_t i = 0;
  while (i + 8 <= n) {
    uint16x8_t sum = vdupq_n_u16(0);
    const size_t end = n - i < kUntilFull16 ? n : i + kUntilFull16;
    for (; i + 8 <= end; i += 8) sum = vsubq_u16(sum, vceqq_u16(vld1q_u16(a + i), vld1q_u16(b + i)));
    m += vaddlvq_u16(sum);
  }
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

uint32_t count_equal8(const uint8_t* a, const uint8_t* b, size_t n) {
  constexpr size_t kUntilFull8 = 16 * 0xff;
  uint32_t m = 0;
  size_t i = 0;
  while (i + 16 <= n) {
    uint8x16_t sum = vdupq_n_u8(0);
    const size_t end = n - i < kUntilFull8 ? n : i + kUntilFull8;
    for (; i + 16 <= end; i += 16) sum = vsubq_u8(sum, vceqq_u8(vld1q_u8(a + i), vld1q_u8(b + i)));
    m += vaddlvq_u8(sum);
  }
  for (; i < n; ++i) m += a[i] == b[i];
  return m;
}

uint64_t equal_mask32(const uint32_t* a, const uint32_t* b, size_t n) {
  uint64_t m = 0;
  for (size_t i = 0; i < n; i += 16) {
    uint16x8_t half[2];
    for (size_t h = 0; h < 2; ++h) {
      const uint32_t* x = a + i + 8 * h;
      const uint32_t* y = b + i + 8 * h;
      half[h] = vcombine_u16(vmovn_u32(vceqq_u32(vld1q_u32(x), vld1q_u32(y))),
                             vmovn_u32(vceqq_u32(vld1q_u32(x + 4), vld1q_u32(y + 4))));
    }
    m |= uint64_t{bits_of_16(vcombine_u8(vmovn_u16(half[0]), vmovn_u16(half[1])))} << i;
  }
  return m;
}

void at_least8(const uint8_t* in, size_t blocks, uint8_t least, uint64_t* masks) {
  const uint8x16_t bound = vdupq_n_u8(least);
  for (size_t b = 0; b < blocks; ++b, in += 64) {
    uint8x16_t enough[4];
    for (size_t v = 0; v < 4; ++v) enough[v] = vcgeq_u8(vld1q_u8(in + 16 * v), bound);
    masks[b] = bits_of_64(enough);
  }
}

// Low 64 bits of x * factor, by three 32-bit multiplies; low and high are the factor's halves.
inline uint64x2_t multiply64(uint64x2_t x, uint32x2_t low, uint32x2_t high) {
  const uint32x2_t x_low = vmovn_u64(x);
  const uint64x2_t cross = vmlal_u32(vmull_u32(x_low, high), vshrn_n_u64(x, 32), low);
  return vmlal_u32(vshlq_n_u64(cross, 32), x_low, low);
}

// The multiplies are in lanes, as in the AVX2 form; the minima are scalar, since lanes may share a bin.
void sketch_round0(const uint64_t* x, size_t n, uint64_t seed_mix, uint32_t num_perm, uint32_t* components) {
  constexpr uint64_t kFactor = 0xe9846af9b1a615dULL;  // of mix64()
  const uint64x2_t seed = vdupq_n_u64(seed_mix);
  const uint32x2_t low = vdup_n_u32(static_cast<uint32_t>(kFactor));
  const uint32x2_t high = vdup_n_u32(static_cast<uint32_t>(kFactor >> 32));
  const uint32x2_t bins = vdup_n_u32(num_perm);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint32_t value[8];
    uint32_t bin[8];
    for (size_t g = 0; g < 8; g += 2) {
      uint64x2_t h = veorq_u64(vld1q_u64(x + i + g), seed);
      h = veorq_u64(h, vshrq_n_u64(h, 32));
      h = multiply64(h, low, high);
      h = veorq_u64(h, vshrq_n_u64(h, 32));
      h = multiply64(h, low, high);
      h = veorq_u64(h, vshrq_n_u64(h, 28));
      vst1_u32(bin + g, vshrn_n_u64(vmull_u32(vmovn_u64(h), bins), 32));
      vst1_u32(value + g, vshr_n_u32(vshrn_n_u64(h, 32), 1));
    }
    for (size_t g = 0; g < 8; ++g) {
      uint32_t* c = components + bin[g];
      if (value[g] < *c) *c = value[g];
    }
  }
  kScalarKernels.sketch_round0(x + i, n - i, seed_mix, num_perm, components);
}

// Set bits of each byte of two words that differ.
inline uint8x16_t differing_bytes(const uint64_t* a, uint64x2_t b) {
  return vcntq_u8(vreinterpretq_u8_u64(veorq_u64(vld1q_u64(a), b)));
}

inline unsigned differing_bits(uint64_t a, uint64_t b) { return vaddv_u8(vcnt_u8(vcreate_u8(a ^ b))); }

size_t near_pairs(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, bool triangle, unsigned most,
                  uint32_t* out) {
  const uint8x8_t bound = vdup_n_u8(static_cast<uint8_t>(std::min(most, 64u)));
  size_t n = 0;
  for (size_t i = 0; i < nx; ++i) {
    const uint64x2_t value = vdupq_n_u64(x[i]);
    size_t j = triangle ? i + 1 : 0;
    for (; j + 8 <= ny; j += 8) {
      const uint8x16_t four = vpaddq_u8(differing_bytes(y + j, value), differing_bytes(y + j + 2, value));
      const uint8x16_t next = vpaddq_u8(differing_bytes(y + j + 4, value), differing_bytes(y + j + 6, value));
      const uint8x16_t eight = vpaddq_u8(four, next);  // two bytes each
      const uint8x8_t sums = vpadd_u8(vget_low_u8(eight), vget_high_u8(eight));
      for_each_lane(vcle_u8(sums, bound), [&](size_t lane) { out[n++] = static_cast<uint32_t>(i << 16 | (j + lane)); });
    }
    for (; j < ny; ++j) {
      out[n] = static_cast<uint32_t>(i << 16 | j);
      n += differing_bits(x[i], y[j]) <= most;
    }
  }
  return n;
}

inline size_t differing_in_four(const uint64_t* a, const uint64_t* b) {
  return vaddlvq_u8(
      vaddq_u8(differing_bytes(a, vld1q_u64(b)), differing_bytes(a + 2, vld1q_u64(b + 2))));  // 16 a byte at most
}

// True if at most `most` bits of two values differ. Unlike values go beyond the bound after some words.
inline bool is_near(const uint64_t* a, const uint64_t* b, size_t words, size_t most) {
  size_t differing = 0;
  size_t w = 0;
  for (; w + 4 <= words && differing <= most; w += 4) differing += differing_in_four(a + w, b + w);
  if (differing > most) return false;
  for (; w < words; ++w) differing += differing_bits(a[w], b[w]);
  return differing <= most;
}

// kWords: of a value; 0: as many as `words` says.
template <size_t kWords>
size_t find_near_codes(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, size_t words, bool triangle,
                       unsigned most, uint32_t* out) {
  if constexpr (kWords != 0) words = kWords;
  size_t n = 0;
  for (size_t i = 0; i < nx; ++i, x += words) {
    size_t j = triangle ? i + 1 : 0;
    for (const uint64_t* other = y + j * words; j < ny; ++j, other += words) {
      bool near;
      if constexpr (kWords == 2)
        near = vaddlvq_u8(differing_bytes(x, vld1q_u64(other))) <= most;
      else
        near = is_near(x, other, words, most);
      out[n] = static_cast<uint32_t>(i << 16 | j);
      n += near;
    }
  }
  return n;
}

size_t near_codes(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, size_t words, bool triangle,
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

size_t count_differing(const uint8_t* a, const uint8_t* b, size_t n) {
  constexpr size_t kUntilByteFull = 16 * 31;  // until a byte is full, by 8 at a time
  size_t differing = 0;
  size_t i = 0;
  while (i + 16 <= n) {
    uint8x16_t sum = vdupq_n_u8(0);
    const size_t end = n - i < kUntilByteFull ? n : i + kUntilByteFull;
    for (; i + 16 <= end; i += 16) sum = vaddq_u8(sum, vcntq_u8(veorq_u8(vld1q_u8(a + i), vld1q_u8(b + i))));
    differing += vaddlvq_u8(sum);
  }
  for (; i < n; ++i) differing += differing_bits(a[i], b[i]);
  return differing;
}

// Reads PackedFields from one of them on, eight at a time. Eight fields end as many bytes after their beginning as a
// field has bits, so what brings them to the bottom of words stays the same.
class EightFields {
 public:
  // n: of the fields; from is below n.
  EightFields(const PackedFields& fields, uint32_t n, uint32_t from)
      : step_(fields.bits), mask_(vdupq_n_u64(fields.mask)) {
    const uint64_t first = uint64_t{from} * fields.bits;
    at_ = fields.bytes + (first >> 3);
    end_ = fields.bytes + (uint64_t{n - 1} * fields.bits >> 3) + 8;
    for (size_t pair = 0; pair < 4; ++pair) {
      // 16 bytes hold two fields: at most 7 + 2 * 48 bits.
      const uint64_t bit = (first & 7) + 2 * pair * fields.bits;
      const uint64_t low = bit & 7;
      const uint64_t high = low + fields.bits;
      load_[pair] = bit >> 3;
      const uint8x8_t bytes = vcreate_u8(0x0706050403020100);
      bytes_[pair] = vcombine_u8(bytes, vadd_u8(bytes, vdup_n_u8(static_cast<uint8_t>(high >> 3))));
      shifts_[pair] = vcombine_s64(vcreate_s64(0 - low), vcreate_s64(0 - (high & 7)));
    }
  }

  // True if the next eight lie where 16 bytes can be read for each two.
  bool is_safe() const { return static_cast<size_t>(end_ - at_) >= load_[3] + 16; }
  // Pair 0..3 of the next eight.
  uint64x2_t pair(size_t i) const {
    const uint8x16_t words = vqtbl1q_u8(vld1q_u8(at_ + load_[i]), bytes_[i]);
    return vandq_u64(vshlq_u64(vreinterpretq_u64_u8(words), shifts_[i]), mask_);
  }
  void advance() { at_ += step_; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;  // of what can be read
  size_t step_;
  size_t load_[4];
  uint8x16_t bytes_[4];
  int64x2_t shifts_[4];  // to the right: negative
  uint64x2_t mask_;
};

// The TIDs that fields of a leaf stand for, two at a time.
class TidDecoder {
 public:
  explicit TidDecoder(const PackedEntries& leaf)
      : off_mask_(vdupq_n_u64(leaf.off_mask)),
        base_(vdupq_n_u64(leaf.base_block)),
        off_bits_(vdupq_n_s64(-static_cast<int64_t>(leaf.off_bits))) {}

  uint64x2_t operator()(uint64x2_t v) const {
    const uint64x2_t block = vshlq_n_u64(vaddq_u64(vshlq_u64(v, off_bits_), base_), 16);
    return vandq_u64(vorrq_u64(block, vandq_u64(v, off_mask_)), vdupq_n_u64(kMaxTid));
  }

 private:
  uint64x2_t off_mask_;
  uint64x2_t base_;
  int64x2_t off_bits_;  // to the right: negative
};

void unpack_entries(const PackedEntries& leaf, uint32_t from, uint32_t to, Entry* out) {
  static_assert(sizeof(Entry) == 16 && offsetof(Entry, key) == 0, "a key and a TID are stored beside each other");
  const PackedEntries copy = leaf;  // which nothing that is written can change
  if (to - from >= 8) {
    EightFields keys(copy.keys, copy.n, from);
    EightFields tids(copy.tids, copy.n, from);
    const TidDecoder decode_tids(copy);
    const uint64x2_t base_key = vdupq_n_u64(copy.base_key);
    for (; to - from >= 8 && keys.is_safe() && tids.is_safe(); from += 8, out += 8) {
      for (size_t i = 0; i < 4; ++i)
        vst2q_u64(reinterpret_cast<uint64_t*>(out + 2 * i),
                  {{vaddq_u64(keys.pair(i), base_key), decode_tids(tids.pair(i))}});
      keys.advance();
      tids.advance();
    }
  }
  for (; from < to; ++from) *out++ = {copy.key(from), copy.tid(from)};
}

void unpack_tids(const PackedEntries& leaf, uint32_t from, uint32_t to, uint64_t* out) {
  const PackedEntries copy = leaf;
  if (to - from >= 8) {
    EightFields tids(copy.tids, copy.n, from);
    const TidDecoder decode_tids(copy);
    for (; to - from >= 8 && tids.is_safe(); from += 8, out += 8) {
      for (size_t i = 0; i < 4; ++i) vst1q_u64(out + 2 * i, decode_tids(tids.pair(i)));
      tids.advance();
    }
  }
  for (; from < to; ++from) *out++ = copy.tid(from);
}

}  // namespace

const Kernels kNeonKernels = {.name = "neon",
                              .fold_ascii = fold_ascii,
                              .count_equal32 = count_equal32,
                              .count_equal16 = count_equal16,
                              .count_equal8 = count_equal8,
                              .equal_mask32 = equal_mask32,
                              .at_least8 = at_least8,
                              .sketch_round0 = sketch_round0,
                              .unpack_entries = unpack_entries,
                              .unpack_tids = unpack_tids,
                              .edit_stripe = edit_stripe_scalar,
                              .near_pairs = near_pairs,
                              .count_differing = count_differing,
                              .near_codes = near_codes,
                              .ctph = &kNeonCtphKernels,
                              .words = &kNeonWordKernels};

}  // namespace neardup
#endif
