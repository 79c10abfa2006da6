// The stored, wire and text forms of lsh_query: a signature and the least similarity to it. Byte by byte:
// docs/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/encode.h"

namespace neardup {

inline constexpr uint8_t kLshQueryFormat = 1;

// What the bound is a bound of; tells the type of the value, too.
enum class LshMeasure : uint8_t {
  jaccard = 1,  // a minhash signature, similarity >= bound
};

// The stored form: 12 bytes, then the stored form of the value.
struct __attribute__((packed, aligned(4))) LshQueryHeader {
  uint8_t format;
  uint8_t measure;
  uint16_t reserved;  // 0
  double bound;       // any; one NaN, one zero
};
static_assert(sizeof(LshQueryHeader) == 12);

// A validated stored value; points into the caller's bytes (which must be 4-byte aligned).
struct LshQueryView {
  double bound;
  MinhashView signature;
};

// Checks all of it. Error{corrupt_data} names what is wrong.
LshQueryView view_lsh_query(const void* bytes, size_t size);

inline size_t lsh_query_size(const MinhashView& signature) noexcept { return sizeof(LshQueryHeader) + signature.size; }

// Writes the stored form, lsh_query_size bytes.
void write_lsh_query(double bound, const MinhashView& signature, void* out) noexcept;

// `jaccard>=0.8 mh1:word3:...`, the bound in the fewest digits that give it back, or NaN, Infinity, -Infinity.
std::string lsh_query_to_text(const LshQueryView& query);
// The stored form. Error{invalid_text} with a hint.
std::vector<uint8_t> lsh_query_from_text(std::string_view text);

// The wire form: the header's fields in network order, then the wire form of the value.
std::vector<uint8_t> lsh_query_to_wire(const LshQueryView& query);
std::vector<uint8_t> lsh_query_from_wire(const uint8_t* bytes, size_t size);

}  // namespace neardup
