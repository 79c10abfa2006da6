// The hot loops that exist in several forms, behind one table of pointers that is picked once per process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

// Bounds of edit_stripe.
inline constexpr unsigned kEditBlocks = 8;
inline constexpr size_t kMaxEditColumns = 4096;
inline constexpr size_t kEditMargin = 8;

struct CtphKernels;    // ctph_kernels.h
struct Entry;          // packed_leaf.h
struct PackedEntries;  // packed_leaf.h
struct WordKernels;    // word_kernels.h

// Every form of a kernel gives the same result; scalar is the specification. Kernels never fail.
struct Kernels {
  const char* name;

  // Blocks of 64 bytes: out = in with A-Z lower-cased; bit i of word[block] is set when byte i is an ASCII letter,
  // digit or '_'; bit i of high[block] when byte i is 0x80 or above.
  void (*fold_ascii)(const uint8_t* in, size_t blocks, uint8_t* out, uint64_t* word, uint64_t* high);

  // The number of equal components of n. Any n, any alignment of the element type.
  uint32_t (*count_equal32)(const uint32_t* a, const uint32_t* b, size_t n);
  uint32_t (*count_equal16)(const uint16_t* a, const uint16_t* b, size_t n);
  uint32_t (*count_equal8)(const uint8_t* a, const uint8_t* b, size_t n);

  // Bit i is set when a[i] == b[i]. n is a multiple of 16, at most 64.
  uint64_t (*equal_mask32)(const uint32_t* a, const uint32_t* b, size_t n);

  // Blocks of 64 bytes, none above 127: bit i of masks[block] is set when byte i is at least `least`, 1..127.
  void (*at_least8)(const uint8_t* in, size_t blocks, uint8_t least, uint64_t* masks);

  // Round 0 of Fast Similarity Sketching for n shingle hashes (see minhash.h): for each x, with
  // h = mix64(x ^ seed_mix), components[(u32(h) * num_perm) >> 32] = min(itself, h >> 33).
  void (*sketch_round0)(const uint64_t* x, size_t n, uint64_t seed_mix, uint32_t num_perm, uint32_t* components);

  // The entries from..to-1 of a leaf, or their TIDs only; to is at most leaf.n.
  void (*unpack_entries)(const PackedEntries& leaf, uint32_t from, uint32_t to, Entry* out);
  void (*unpack_tids)(const PackedEntries& leaf, uint32_t from, uint32_t to, uint64_t* out);

  // Myers' bit vectors over a stripe of 1..8 blocks of 64 rows and n columns, 1..4096 (edit_impl.h). Bit i of a mask
  // of block b tells whether its row i has the column's symbol; the masks of column j are the 8 words from
  // masks + column_masks[j] on. Word 7 - b of masks, vp and vn belongs to block b; vp and vn are the differences down
  // the column before the first one, +1 and -1, then down the last; those of absent blocks mean nothing afterwards. p
  // and n are the differences along the row above the stripe, column 64 w + i in bit 63 - i of word w, then those along
  // its last row; bits behind the last column mean nothing. 8 elements before and behind column_masks can be read.
  void (*edit_stripe)(const uint64_t* masks, const uint16_t* column_masks, size_t columns, unsigned blocks,
                      uint64_t* vp, uint64_t* vn, uint64_t* p, uint64_t* n);

  // Pairs (i, j) with at most `most` different bits in x[i] and y[j], as i << 16 | j, ascending; returns how many.
  // triangle: x is y, and only j > i counts. nx, ny <= 256; out has room for nx * ny.
  size_t (*near_pairs)(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, bool triangle, unsigned most,
                       uint32_t* out);

  // The number of bits that differ in n bytes. Any n, any alignment.
  size_t (*count_differing)(const uint8_t* a, const uint8_t* b, size_t n);

  // The same of values of `words` words each, 1..64, one behind the other.
  size_t (*near_codes)(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, size_t words, bool triangle,
                       unsigned most, uint32_t* out);

  const CtphKernels* ctph;
  const WordKernels* words;
};

// The names of the forms: on every machine all of them, whichever it can run.
inline constexpr const char* kKernelForms[] = {"scalar", "avx2", "avx512", "neon"};

// The best form that this CPU and operating system can run, or the one forced by force_kernels().
const Kernels& kernels() noexcept;

// name: "auto" or one of kKernelForms. False, changing nothing, when the name is unknown or this machine cannot run it.
bool force_kernels(const char* name) noexcept;

// True if this machine can run the named form ("auto" and "scalar": always).
bool kernels_available(const char* name) noexcept;

}  // namespace neardup
