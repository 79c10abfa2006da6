// The stored, wire and text forms of lsh_query: a value and how near to it another one has to be. Byte by byte:
// docs/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/signature/bit_code.h"
#include "core/signature/ctph.h"
#include "core/signature/minhash_encode.h"

namespace neardup {

inline constexpr uint8_t kLshQueryFormat = 1;

// What the bound is a bound of; tells the type of the value, too.
enum class LshMeasure : uint8_t {
  jaccard = 1,         // of minhash signatures: similarity >= bound
  hamming = 2,         // of simhashes: distance <= bound
  ctph_score = 3,      // of ctph digests: score >= bound
  ctph_edit_rate = 4,  // of ctph digests: rate <= bound
  // Of sets of integers:
  set_jaccard = 5,   // similarity >= bound
  set_in_query = 6,  // share of the set's elements that the query has >= bound
  query_in_set = 7,  // share of the query's elements that the set has >= bound
  set_overlap = 8,   // elements that both have >= bound
  bit_hamming = 9,   // of bit codes: distance <= bound
};

inline constexpr bool is_of_sets(LshMeasure m) noexcept {
  return m >= LshMeasure::set_jaccard && m <= LshMeasure::set_overlap;
}

// Whether near means much of it; else little.
inline constexpr bool is_similarity(LshMeasure m) noexcept {
  return m == LshMeasure::jaccard || m == LshMeasure::ctph_score || is_of_sets(m);
}

// As SQL compares numbers: NaN is above all others. value is none.
inline constexpr bool within(LshMeasure m, double value, double bound) noexcept {
  return is_similarity(m) ? value >= bound : !(value > bound);
}

// The stored form: 12 bytes, then the value: the stored form of a minhash or a ctph, the 8 bytes of a simhash in the
// machine's order, or those of each element of a set, ascending.
struct __attribute__((packed, aligned(4))) LshQueryHeader {
  uint8_t format;
  uint8_t measure;
  uint16_t reserved;  // 0
  double bound;       // any; one NaN, one zero
};
static_assert(sizeof(LshQueryHeader) == 12);

// Elements of a set: int64_t, ascending, without repeats; perhaps unaligned.
struct SetView {
  const uint8_t* bytes = nullptr;
  size_t n = 0;

  int64_t operator[](size_t i) const noexcept {
    int64_t v;
    std::memcpy(&v, bytes + i * sizeof v, sizeof v);
    return v;
  }
};

// A validated stored value, or one to be written; points into the caller's bytes. Of the values the one of the measure.
struct LshQueryView {
  LshMeasure measure = LshMeasure::jaccard;
  double bound = 0;
  MinhashView signature{};
  uint64_t simhash = 0;
  CtphView digest{};
  SetView set{};
  BitCode code{};  // a bit string of another length than a code's has no bytes: only how long it is matters
};

// Checks all of it. bytes must be 4-byte aligned. Error{corrupt_data} names what is wrong.
LshQueryView view_lsh_query(const void* bytes, size_t size);

size_t lsh_query_size(const LshQueryView& query) noexcept;

// Writes the stored form, lsh_query_size bytes.
void write_lsh_query(const LshQueryView& query, void* out) noexcept;

// `jaccard>=0.8 mh1:word3:...`, `hamming<=3 00ff...`, `ctph_score>=70 96:...`, `ctph_edit_rate<=0.1 96:...`,
// `set_jaccard>=0.8 {1,2,3}`, `set_in_query>=0.8 {1,2,3}`, `query_in_set>=0.8 {1,2,3}`, `set_overlap>=2 {1,2,3}`,
// `bit_hamming<=31 0101..`, of a bit string that is no code `bit_hamming<=31 [8]`, the number of its bits; the bound in
// the fewest digits that give it back, or NaN, Infinity, -Infinity.
std::string lsh_query_to_text(const LshQueryView& query);
// The stored form. Error{invalid_text} with a hint.
std::vector<uint8_t> lsh_query_from_text(std::string_view text);

// The wire form: the header's fields in network order, then the wire form of the value.
std::vector<uint8_t> lsh_query_to_wire(const LshQueryView& query);
std::vector<uint8_t> lsh_query_from_wire(const uint8_t* bytes, size_t size);

// The value of a measure of sets between the elements of a set and those of a query; both ascend, without repeats.
double compare_sets(LshMeasure measure, const int64_t* set, size_t n, const int64_t* query, size_t m) noexcept;

// How strict a bound is, on a scale that all measures share: 1 is the strictest that anything reaches, 0 admits all (or
// so many that it does not matter). For estimates; monotone in the bound. NaN: as within() takes it.
double closeness(LshMeasure measure, double bound) noexcept;

// Whether no value reaches the bound.
inline bool beyond_reach(LshMeasure measure, double bound) noexcept { return closeness(measure, bound) > 1; }

}  // namespace neardup
