// The hot loops of similar words; part of the table of kernels.h. Scalar is the specification.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

// Words whose values of a dense feature lie one after the other.
inline constexpr size_t kTileWords = 256;
// Inverted lists name a word of a lane, and give its value, in 32 bits: word << 16 | value.
inline constexpr size_t kLaneWords = 8192;

// A feature of a row that is probed, by where it stands in the block. Values have 15 bits, here and in tiles.
struct WordProbe {
  uint32_t at;
  uint32_t value;
};

struct WordKernels {
  // The share of words with a feature from which add_dense is faster than add_list. Measured.
  double dense_share;

  // Adds value + (e & 0xffff) to sums[e >> 16] for each entry e of an inverted list. No word stands twice in a list.
  void (*add_list)(const uint32_t* entries, size_t n, uint32_t value, uint32_t* sums);

  // tile[feature * kTileWords + c]: the value of word c, 0 for none. For each of n features of a row, and each word c
  // that has it, sums[c] += the values of both.
  void (*add_dense)(const WordProbe* row, size_t n, const uint16_t* tile, uint32_t* sums);

  // Those i of 0..n-1 with sums[i] > 0 and float(sums[i]) >= (weights[i] + weight) * min(least[i], own), computed in
  // single precision in any order of operations; ascending; returns how many. out has room for n + 16.
  size_t (*candidates)(const uint32_t* sums, const float* weights, const float* least, size_t n, float weight,
                       float own, uint32_t* out);
};

extern const WordKernels kScalarWordKernels;
void add_list_scalar(const uint32_t* entries, size_t n, uint32_t value, uint32_t* sums);
#if defined(__x86_64__)
extern const WordKernels kAvx2WordKernels;
extern const WordKernels kAvx512WordKernels;
#elif defined(__aarch64__)
extern const WordKernels kNeonWordKernels;
#endif

}  // namespace neardup
