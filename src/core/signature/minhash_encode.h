// The stored, wire and text forms of a minhash signature. Byte by byte: docs/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/signature/minhash.h"

namespace neardup {

inline constexpr uint8_t kMinhashFormat = 1;

enum class MinhashKind : uint8_t {
  word = 1,        // k-shingles of words of a text
  character = 2,   // k-shingles of code points of a text
  byte = 3,        // k-shingles of bytes
  text_set = 4,    // a caller's set of text elements
  bigint_set = 5,  // a caller's set of 64-bit elements
  imported = 6,    // components computed by other programs
  weighted = 7,    // text elements with weights: the components of weighted_minhash.h
  line = 8,        // k-shingles of lines of a text
  paragraph = 9,   // k-shingles of its paragraphs
  code = 10,       // k-shingles of its tokens, read as a program's
};
inline constexpr uint8_t kNewestMinhashKind = 10;

// True if the elements are shingles of a text: with the unit of the same number (shingle.h).
inline constexpr bool is_of_text(MinhashKind kind) noexcept {
  return kind == MinhashKind::word || kind == MinhashKind::character || kind == MinhashKind::line ||
         kind == MinhashKind::paragraph || kind == MinhashKind::code;
}

// The parameters of a signature. Two signatures are comparable when all fields but `empty` agree.
struct MinhashParams {
  MinhashKind kind = MinhashKind::word;
  uint8_t k = 3;          // 0 for sets
  uint8_t bits = 32;      // 8, 16, 32
  uint8_t tokenizer = 0;  // version of the rules of words or of code, else 0
  uint16_t num_perm = 128;
  int64_t seed = 0;
};

// The stored form: 16 bytes, then num_perm components of bits / 8 bytes in native order, absent when empty.
struct __attribute__((packed, aligned(4))) MinhashHeader {
  uint8_t format;
  uint8_t kind;
  uint8_t k;
  uint8_t bits;
  uint16_t num_perm;
  uint8_t tokenizer;
  uint8_t flags;  // kMinhashEmpty
  int64_t seed;
};
static_assert(sizeof(MinhashHeader) == 16);
inline constexpr uint8_t kMinhashEmpty = 1;
inline constexpr size_t kMaxMinhashSize = sizeof(MinhashHeader) + 4 * kMaxNumPerm;

// A validated stored signature; points into the caller's bytes (which must be 4-byte aligned).
struct MinhashView {
  const MinhashHeader* header;
  const void* components;  // null when empty
  size_t size;

  bool empty() const noexcept { return (header->flags & kMinhashEmpty) != 0; }
  uint32_t num_perm() const noexcept { return header->num_perm; }
  uint32_t bits() const noexcept { return header->bits; }
  size_t components_size() const noexcept { return size_t{header->num_perm} * header->bits / 8; }
};

// True if this library knows the format, kind and flags: a newer one writes others.
inline bool is_known(const MinhashHeader& h) noexcept {
  return h.format == kMinhashFormat && h.kind >= 1 && h.kind <= kNewestMinhashKind && (h.flags & ~kMinhashEmpty) == 0;
}

// Checks the header's fields and the length, which make every operation safe. Error{corrupt_data} names what is wrong.
MinhashView view_minhash(const void* bytes, size_t size);

MinhashParams header_params(const MinhashHeader& header) noexcept;

size_t minhash_size(const MinhashParams& params, bool empty) noexcept;

// Writes the stored form (minhash_size bytes) from 32-bit components, reduced to params.bits as the kind reduces them;
// components null: empty.
void write_minhash(const MinhashParams& params, const uint32_t* components, void* out) noexcept;

// Component i as stored; the empty signature gives the width's empty value (all ones).
uint32_t component_at(const MinhashView& view, uint32_t i) noexcept;

// Throws Error{incomparable} naming both unless they were made alike.
void check_comparable(const MinhashView& a, const MinhashView& b);
bool comparable(const MinhashHeader& a, const MinhashHeader& b) noexcept;

// Equal components of comparable signatures, and the estimated Jaccard similarity; an empty one has none with any. All
// that promises the same answer as jaccard() in SQL calls this one.
inline uint32_t count_matches(const MinhashView& a, const MinhashView& b) noexcept {
  return a.empty() || b.empty() ? 0 : count_matches(a.components, b.components, a.num_perm(), a.bits());
}
inline double estimate_jaccard(const MinhashView& a, const MinhashView& b) noexcept {
  return estimate_jaccard(count_matches(a, b), a.num_perm(), a.bits());
}

// "word 3, 128x32, seed 0", as error messages name parameters.
std::string describe(const MinhashParams& params);
// The first column of the text form after the version: "word3", "char5", "byte8", "text", "bigint", "import".
std::string kind_text(const MinhashParams& params);

// `mh1:word3:128x32:s0:t1:<base64url of the little-endian components, or "empty">`
std::string minhash_to_text(const MinhashView& view);
// The stored form. Error{invalid_text} with a hint.
std::vector<uint8_t> minhash_from_text(std::string_view text);

// The wire form: the header's fields and the components in network order.
std::vector<uint8_t> minhash_to_wire(const MinhashView& view);
std::vector<uint8_t> minhash_from_wire(const uint8_t* bytes, size_t size);

}  // namespace neardup
