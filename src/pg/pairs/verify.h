// Pairs of signatures verified on the documents that they are of.
#pragma once

#include "pg/pairs/pair_result.h"

namespace neardup {

// Moves those of n pairs, in ascending order, whose documents are near enough to the front, with the documents'
// similarity. Returns how many.
size_t verify_pairs(PairResult* result, RowPair* pairs, double* similarity, size_t n);

// Frees what verify_pairs() has kept for further pairs.
void end_verifying(PairResult* result);

}  // namespace neardup
