// The plain form of every kernel: the specification, and what runs on machines without AVX2 or NEON.
#include <cstring>

#include "core/base/bits.h"
#include "core/base/hash.h"
#include "core/kernels/ctph_kernels.h"
#include "core/kernels/forms.h"
#include "core/kernels/myers.h"
#include "core/kernels/packed_leaf.h"
#include "core/kernels/word_kernels.h"

namespace neardup {
namespace {

// Per byte: bit 0 word byte, and the folded byte. Plain arithmetic, so that the compiler may vectorise it.
void fold_ascii(const uint8_t* in, size_t blocks, uint8_t* out, uint64_t* word, uint64_t* high) {
  for (size_t b = 0; b < blocks; ++b, in += 64, out += 64) {
    uint8_t is_word[64];
    for (int i = 0; i < 64; ++i) {
      const uint8_t c = in[i];
      const uint8_t upper = static_cast<uint8_t>(c - 'A') < 26;
      const uint8_t f = static_cast<uint8_t>(c + (upper << 5));
      out[i] = f;
      is_word[i] = (static_cast<uint8_t>(f - 'a') < 26) | (static_cast<uint8_t>(c - '0') < 10) | (c == '_');
    }
    uint64_t w = 0;
    uint64_t h = 0;
    for (int g = 0; g < 8; ++g) {
      // Gathers bit 0 (or bit 7) of eight bytes into one byte.
      const uint64_t m = load_le64(is_word + 8 * g) * 0x0102040810204080ULL >> 56;
      const uint64_t t = ((load_le64(in + 8 * g) >> 7) & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56;
      w |= m << (8 * g);
      h |= t << (8 * g);
    }
    word[b] = w;
    high[b] = h;
  }
}

template <typename T>
uint32_t count_equal(const T* a, const T* b, size_t n) {
  uint32_t m = 0;
  for (size_t i = 0; i < n; ++i) m += a[i] == b[i];
  return m;
}

uint64_t equal_mask32(const uint32_t* a, const uint32_t* b, size_t n) {
  uint64_t m = 0;
  for (size_t i = 0; i < n; ++i) m |= static_cast<uint64_t>(a[i] == b[i]) << i;
  return m;
}

void at_least8(const uint8_t* in, size_t blocks, uint8_t least, uint64_t* masks) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const uint64_t add = kOnes * (128u - least);  // brings a byte's highest bit up where it is enough; none carries
  for (size_t b = 0; b < blocks; ++b, in += 64) {
    uint64_t any = 0;
    for (int g = 0; g < 8; ++g) any |= load_le64(in + 8 * g) + add;
    uint64_t mask = 0;
    if ((any & kOnes << 7) != 0)
      for (int g = 0; g < 8; ++g)
        mask |= ((load_le64(in + 8 * g) + add) >> 7 & kOnes) * 0x0102040810204080u >> 56 << 8 * g;
    masks[b] = mask;
  }
}

void unpack_entries(const PackedEntries& leaf, uint32_t from, uint32_t to, Entry* out) {
  const PackedEntries copy = leaf;  // which nothing that is written can change
  for (uint32_t i = from; i < to; ++i) *out++ = {copy.key(i), copy.tid(i)};
}

void unpack_tids(const PackedEntries& leaf, uint32_t from, uint32_t to, uint64_t* out) {
  const PackedEntries copy = leaf;
  for (uint32_t i = from; i < to; ++i) *out++ = copy.tid(i);
}

void sketch_round0(const uint64_t* x, size_t n, uint64_t seed_mix, uint32_t num_perm, uint32_t* components) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t h = mix64(x[i] ^ seed_mix);
    const uint32_t bin = static_cast<uint32_t>((static_cast<uint64_t>(static_cast<uint32_t>(h)) * num_perm) >> 32);
    const uint32_t v = static_cast<uint32_t>(h >> 33);
    if (v < components[bin]) components[bin] = v;
  }
}

// One block (kCount 1), or two that wait for each other less than a block's column waits for its last one; three no
// longer keep their state in registers. Word 0 of masks, vp and vn is the first block's, word -1 the second's.
template <unsigned kCount>
void edit_blocks(const uint64_t* masks, const uint16_t* column_masks, size_t columns, uint64_t* vp, uint64_t* vn,
                 uint64_t* p, uint64_t* n) {
  MyersColumn first = {*vp, *vn};
  MyersColumn second = {};
  if constexpr (kCount == 2) second = {*(vp - 1), *(vn - 1)};
  for (size_t j = 0; j < columns; j += 64, ++p, ++n) {
    const size_t count = columns - j < 64 ? columns - j : 64;
    uint64_t in_p = *p, in_n = *n, out_p = 0, out_n = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t* const mask = masks + column_masks[j + i];
      MyersCarry carry = {in_p >> 63, in_n >> 63};
      in_p <<= 1;
      in_n <<= 1;
      myers_step(*mask, first, carry);
      if constexpr (kCount == 2) myers_step(*(mask - 1), second, carry);
      out_p = out_p << 1 | carry.hp;
      out_n = out_n << 1 | carry.hn;
    }
    *p = out_p << (64 - count) % 64;
    *n = out_n << (64 - count) % 64;
  }
  *vp = first.vp;
  *vn = first.vn;
  if constexpr (kCount == 2) {
    *(vp - 1) = second.vp;
    *(vn - 1) = second.vn;
  }
}

size_t near_pairs(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, bool triangle, unsigned most,
                  uint32_t* out) {
  size_t n = 0;
  for (size_t i = 0; i < nx; ++i) {
    for (size_t j = triangle ? i + 1 : 0; j < ny; ++j) {
      out[n] = static_cast<uint32_t>(i << 16 | j);
      n += count_bits(x[i] ^ y[j]) <= most;
    }
  }
  return n;
}

size_t count_differing(const uint8_t* a, const uint8_t* b, size_t n) {
  size_t differing = 0;
  for (; n >= 8; n -= 8, a += 8, b += 8) {
    uint64_t word[2];
    std::memcpy(&word[0], a, 8);
    std::memcpy(&word[1], b, 8);
    differing += count_bits(word[0] ^ word[1]);
  }
  for (; n > 0; --n) differing += count_bits(static_cast<uint64_t>(*a++ ^ *b++));
  return differing;
}

size_t near_codes(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, size_t words, bool triangle,
                  unsigned most, uint32_t* out) {
  size_t n = 0;
  for (size_t i = 0; i < nx; ++i) {
    for (size_t j = triangle ? i + 1 : 0; j < ny; ++j) {
      size_t differing = 0;
      for (size_t w = 0; w < words; ++w) differing += count_bits(x[i * words + w] ^ y[j * words + w]);
      out[n] = static_cast<uint32_t>(i << 16 | j);
      n += differing <= most;
    }
  }
  return n;
}

}  // namespace

void edit_stripe_scalar(const uint64_t* masks, const uint16_t* column_masks, size_t columns, unsigned blocks,
                        uint64_t* vp, uint64_t* vn, uint64_t* p, uint64_t* n) {
  unsigned at = 7;
  for (; blocks >= 2; blocks -= 2, at -= 2) {
    edit_blocks<2>(masks + at, column_masks, columns, vp + at, vn + at, p, n);
  }
  if (blocks == 1) edit_blocks<1>(masks + at, column_masks, columns, vp + at, vn + at, p, n);
}

const Kernels kScalarKernels = {.name = "scalar",
                                .fold_ascii = fold_ascii,
                                .count_equal32 = count_equal<uint32_t>,
                                .count_equal16 = count_equal<uint16_t>,
                                .count_equal8 = count_equal<uint8_t>,
                                .equal_mask32 = equal_mask32,
                                .at_least8 = at_least8,
                                .sketch_round0 = sketch_round0,
                                .unpack_entries = unpack_entries,
                                .unpack_tids = unpack_tids,
                                .edit_stripe = edit_stripe_scalar,
                                .near_pairs = near_pairs,
                                .count_differing = count_differing,
                                .near_codes = near_codes,
                                .ctph = &kScalarCtphKernels,
                                .words = &kScalarWordKernels};

}  // namespace neardup
