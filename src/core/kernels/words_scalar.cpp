// The plain form of the kernels of similar words: the specification, and what runs on machines without AVX2 or NEON.
#include <algorithm>

#include "core/kernels/word_kernels.h"

namespace neardup {
namespace {

void add_dense(const WordProbe* row, size_t n, const uint16_t* tile, uint32_t* sums) {
  for (size_t i = 0; i < n; ++i) {
    const uint16_t* values = tile + row[i].at * kTileWords;
    for (size_t c = 0; c < kTileWords; ++c) sums[c] += values[c] == 0 ? 0 : row[i].value + values[c];
  }
}

size_t candidates(const uint32_t* sums, const float* weights, const float* least, size_t n, float weight, float own,
                  uint32_t* out) {
  size_t found = 0;
  for (size_t i = 0; i < n; ++i) {
    out[found] = static_cast<uint32_t>(i);
    found += sums[i] > 0 && static_cast<float>(sums[i]) >= (weights[i] + weight) * std::min(least[i], own);
  }
  return found;
}

}  // namespace

void add_list_scalar(const uint32_t* entries, size_t n, uint32_t value, uint32_t* sums) {
  for (size_t i = 0; i < n; ++i) sums[entries[i] >> 16] += value + (entries[i] & 0xffff);
}

const WordKernels kScalarWordKernels = {
    .dense_share = 0.15, .add_list = add_list_scalar, .add_dense = add_dense, .candidates = candidates};

}  // namespace neardup
