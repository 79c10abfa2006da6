// The plain form of every kernel: the specification, and what runs on machines without AVX2.
#include "core/hash.h"
#include "core/kernels.h"

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

void sketch_round0(const uint64_t* x, size_t n, uint64_t seed_mix, uint32_t num_perm, uint32_t* components) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t h = mix64(x[i] ^ seed_mix);
    const uint32_t bin = static_cast<uint32_t>((static_cast<uint64_t>(static_cast<uint32_t>(h)) * num_perm) >> 32);
    const uint32_t v = static_cast<uint32_t>(h >> 33);
    if (v < components[bin]) components[bin] = v;
  }
}

}  // namespace

const Kernels kScalarKernels = {
    "scalar", fold_ascii, count_equal<uint32_t>, count_equal<uint16_t>, count_equal<uint8_t>, equal_mask32, sketch_round0,
};

}  // namespace neardup
