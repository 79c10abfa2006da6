// The stored, wire and text forms of lsh_query: a value and how near to it another one has to be. Byte by byte:
// docs/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/kinds/measure.h"

namespace neardup {

inline constexpr uint8_t kLshQueryFormat = 1;

// The stored form: 12 bytes, then the value: the stored form of a minhash or a ctph, the 8 bytes of a simhash in the
// machine's order, or those of each element of a set, ascending.
struct __attribute__((packed, aligned(4))) LshQueryHeader {
  uint8_t format;
  uint8_t measure;
  uint16_t reserved;  // 0
  double bound;       // any; one NaN, one zero
};
static_assert(sizeof(LshQueryHeader) == 12);

// A validated stored value, or one to be written; points into the caller's bytes. The measure says of which kind it is.
struct LshQueryView : AnyValue {
  Measure measure = Measure::jaccard;
  double bound = 0;
};

// Checks all of it. bytes must be 4-byte aligned. Error{corrupt_data} names what is wrong.
LshQueryView view_lsh_query(const void* bytes, size_t size);

size_t lsh_query_size(const LshQueryView& query) noexcept;

void write_lsh_query(const LshQueryView& query, void* out) noexcept;

// `jaccard>=0.8 mh1:word3:...`, `hamming<=3 00ff...`, `ctph_score>=70 96:...`, `ctph_edit_rate<=0.1 96:...`,
// `set_jaccard>=0.8 {1,2,3}` and so on for the other measures of sets, `set_overlap>=2 {1,2,3}`,
// `bit_hamming<=31 0101..`, of a bit string that is no code `bit_hamming<=31 [8]`, the number of its bits; the bound in
// the fewest digits that give it back, or NaN, Infinity, -Infinity.
std::string lsh_query_to_text(const LshQueryView& query);
// The stored form. Error{invalid_text} with a hint.
std::vector<uint8_t> lsh_query_from_text(std::string_view text);

// The wire form: the header's fields in network order, then the wire form of the value.
std::vector<uint8_t> lsh_query_to_wire(const LshQueryView& query);
std::vector<uint8_t> lsh_query_from_wire(const uint8_t* bytes, size_t size);

}  // namespace neardup
