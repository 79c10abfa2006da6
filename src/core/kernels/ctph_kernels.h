// The hot loops of ctph digests; part of the table of kernels.h. Scalar is the specification.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

inline constexpr size_t kLevenshteinLanes = 8;

// Up to 8 patterns of at most 64 symbols each, transposed for one text against all of them.
struct alignas(64) LevenshteinGroup {
  uint64_t match[64][kLevenshteinLanes];  // bit i of match[s][lane]: symbol i of the pattern is s
  uint64_t rows[kLevenshteinLanes];       // the low bits that the pattern fills
};

// The multiset of a part's symbols: bit v of level[k] is set when v occurs more than k times; rest is how many
// characters the levels leave out.
inline constexpr size_t kBagLevels = 3;
struct SymbolBag {
  uint64_t level[kBagLevels];
  uint32_t rest;
};
// Those of many parts.
struct SymbolBags {
  const uint64_t* level[kBagLevels];
  const uint16_t* rest;
};

inline constexpr size_t kBitSetWords = 64;

struct CtphKernels {
  // Positions 0..n-1 of data where the low bits of v + 1 named in mask are all 0, ascending (v: ctph.h); returns how
  // many. 6 bytes before data are read. mask = 2^k - 1, k <= 16. out has room for n.
  size_t (*window_candidates)(const uint8_t* data, size_t n, uint32_t mask, uint32_t* out);

  // distances[8 * g + lane] = Levenshtein distance of the text (n symbols 0..63) to the pattern of that lane of
  // groups[g]. A lane without pattern (rows 0) gives n. n < 2^31.
  void (*levenshtein64)(const uint8_t* text, size_t n, const LevenshteinGroup* groups, size_t num_groups,
                        uint32_t* distances);

  // Those i of first..last-1 whose bags b may have `need` symbols or more in common with the subject a: the bits that
  // levels of the same k have in common, and the lesser of both rests, add up to that; ascending; returns how many. The
  // levels must be nested, as they are. out has room for last - first.
  size_t (*bag_candidates)(const SymbolBag* subject, const SymbolBags* others, size_t first, size_t last, uint32_t need,
                           uint32_t* out);

  // Bits set in both of two sets of 4096.
  uint32_t (*common_bits)(const uint64_t* a, const uint64_t* b);
};

extern const CtphKernels kScalarCtphKernels;
#if defined(__x86_64__)
extern const CtphKernels kAvx2CtphKernels;
extern const CtphKernels kAvx512CtphKernels;
#elif defined(__aarch64__)
extern const CtphKernels kNeonCtphKernels;
#endif

}  // namespace neardup
