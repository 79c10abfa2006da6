// The plain form of the ctph kernels: the specification, and what runs on machines without AVX2 or NEON.
#include "core/kernels/ctph_kernels.h"
#include "core/kernels/myers.h"

namespace neardup {
namespace {

size_t window_candidates(const uint8_t* data, size_t n, uint32_t mask, uint32_t* out) {
  if (n == 0) return 0;
  uint32_t sum = 0;
  uint32_t linear = 0;
  uint32_t shifted = 0;
  // As if the byte before these were 0: it leaves before it counts.
  for (int i = 1; i <= 6; ++i) {
    sum += data[-i];
    linear += (9u - static_cast<uint32_t>(i)) * data[-i];
    shifted ^= static_cast<uint32_t>(data[-i]) << 5 * (i - 1);
  }
  size_t found = 0;
  uint32_t oldest = 0;
  for (size_t p = 0; p < n; ++p) {
    const uint32_t c = data[p];
    linear = linear - sum - oldest + 8 * c;
    sum = sum - oldest + c;
    shifted = shifted << 5 ^ c;
    out[found] = static_cast<uint32_t>(p);
    found += ((linear + shifted + 1) & mask) == 0;
    oldest = *(data + p - 6);
  }
  return found;
}

void levenshtein64(const uint8_t* text, size_t n, const LevenshteinGroup* groups, size_t num_groups,
                   uint32_t* distances) {
  for (size_t g = 0; g < num_groups; ++g, distances += kLevenshteinLanes) {
    for (size_t lane = 0; lane < kLevenshteinLanes; ++lane) {
      const uint64_t rows = groups[g].rows[lane];
      MyersColumn column = kMyersStart;
      if (rows != 0)
        for (size_t j = 0; j < n; ++j) myers_step(groups[g].match[text[j]][lane], column);
      distances[lane] = myers_distance(n, column, rows);
    }
  }
}

// Levels are nested, so a symbol common to 0..3 of them is a number of two bits: parity, and common to level 1. Both
// are counted at once, by pairs of bits, nibbles, bytes.
size_t bag_candidates(const SymbolBag* subject, const SymbolBags* others, size_t first, size_t last, uint32_t need,
                      uint32_t* out) {
  constexpr uint64_t kTwoBitFields = 0x5555555555555555, kNibbles = 0x3333333333333333, kBytes = 0x0f0f0f0f0f0f0f0f;
  const auto nibbles = [](uint64_t v) {
    v -= v >> 1 & kTwoBitFields;
    return (v & kNibbles) + (v >> 2 & kNibbles);
  };
  size_t found = 0;
  for (size_t j = first; j < last; ++j) {
    const uint64_t common0 = subject->level[0] & others->level[0][j];
    const uint64_t common1 = subject->level[1] & others->level[1][j];
    const uint64_t common2 = subject->level[2] & others->level[2][j];
    const uint64_t sums = nibbles(common0 ^ common1 ^ common2) + 2 * nibbles(common1);
    const uint64_t bytes = (sums & kBytes) + (sums >> 4 & kBytes);
    const uint32_t rest = others->rest[j];
    out[found] = static_cast<uint32_t>(j);
    found += (bytes * 0x0101010101010101 >> 56) + (subject->rest < rest ? subject->rest : rest) >= need;
  }
  return found;
}

uint32_t common_bits(const uint64_t* a, const uint64_t* b) {
  constexpr uint64_t kTwoBitFields = 0x5555555555555555, kNibbles = 0x3333333333333333, kBytes = 0x0f0f0f0f0f0f0f0f;
  uint64_t sum = 0;  // in bytes: 8 at most from each word
  uint32_t total = 0;
  for (size_t i = 0; i < kBitSetWords; ++i) {
    uint64_t v = a[i] & b[i];
    v -= v >> 1 & kTwoBitFields;
    v = (v & kNibbles) + (v >> 2 & kNibbles);
    sum += (v + (v >> 4)) & kBytes;
    if (i % 16 == 15) {
      constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
      total += static_cast<uint32_t>(((sum & kEven) + (sum >> 8 & kEven)) * 0x0001000100010001 >> 48);
      sum = 0;
    }
  }
  return total;
}

}  // namespace

const CtphKernels kScalarCtphKernels = {.window_candidates = window_candidates,
                                        .levenshtein64 = levenshtein64,
                                        .bag_candidates = bag_candidates,
                                        .common_bits = common_bits};

}  // namespace neardup
