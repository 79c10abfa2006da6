// Pairs of a sample that are near duplicates, and those that an index would hand out to be checked, as ANALYZE keeps
// them for the planner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/stop.h"
#include "core/signature/ctph.h"

namespace neardup {

// Least similarities 0.50, 0.55 .. 1.00.
inline constexpr uint32_t kPairLevels = 11;
constexpr double pair_level(uint32_t i) noexcept { return (50 + 5 * i) / 100.0; }

// Estimated numbers of unordered pairs, and what a document has of them on average. Rows that are copies of each other
// are one document there, as equal values are for ANALYZE's number of distinct ones: each of c copies counts 1 / c.
struct PairSample {
  double similar[kPairLevels];           // jaccard >= pair_level(i); of other measures what closeness() puts there
  double candidates[kPairLevels];        // that an index hands out to be checked at that level
  double document_similar[kPairLevels];  // rows of the sample that are similar to a document, its own copies among them
  double document_candidates[kPairLevels];
};

// rows: n signatures of num_perm components of `bits` bits, one behind the other, none of them empty. Pairs that share
// a band of an index of threshold 0.75 are met; of those at most some `most_pairs` are compared, drawn by chance (the
// same ones each time), so that hot bands cost no more than others. From 0.75 on, and with few enough pairs, the result
// is exact; below, pairs that share no band are made up for by the chance of sharing one. A row's copies are as many as
// have its key in the median band. Memory: 6 bytes a row and band, 24 a row. Time: about 1 us a row, 0.1 us a pair
// compared. Error{cancelled}.
PairSample sample_pairs(const void* rows, uint32_t n, uint32_t num_perm, uint32_t bits, uint32_t most_pairs,
                        StopCheck* stop);

// The same of simhashes at hamming <= 20 (1 - level), that is 10, 9 .. 0; all pairs of distinct ones are compared, some
// ns each. Copies are equal values.
PairSample sample_simhash_pairs(const uint64_t* values, uint32_t n, StopCheck* stop);

// The same of ctph digests, all of one kind: at ctph_score >= 200 (level - 0.5), that is 1, 10, 20 .. 100, and at
// ctph_edit_rate <= 1 - level. Pairs that share a run of 7 characters are met, of which at most some `most_pairs` are
// compared: others have no score, and hardly a small rate.
void sample_ctph_pairs(const CtphView* digests, uint32_t n, uint32_t most_pairs, StopCheck* stop, PairSample* scores,
                       PairSample* rates);

// Bytes that sample_pairs() takes for each row, besides the rows themselves.
size_t pair_sample_bytes(uint32_t num_perm, uint32_t bits);

}  // namespace neardup
