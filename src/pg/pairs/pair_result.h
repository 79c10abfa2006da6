// The pairs of rows that were read: searched, verified on their documents where that is wanted, and handed over in
// order.
#pragma once

#include "core/pairs/pair_collector.h"
#include "pg/pairs/pair_rows.h"

namespace neardup {

struct Verifier;

struct PairResult {
  PairRows* rows;
  Owned<PairCollector>* pairs;  // of all groups; null: the rows' engine has them
  uint64 left_out;              // as SearchStats
  RowPair* batch;
  double* similarity;  // of the batch
  size_t batch_size;
  uint64 reported;     // pairs, to neardup_progress()
  Verifier* verifier;  // null until the first pair is verified
  uint64 verified;
};

// Returns a line on what a search has done, for neardup.log_stages.
const char* search_story(const SearchStats& stats);

// Searches all rows.
PairResult search_pairs(PairRows* rows);

// The next pairs that the search found, into the batch; false at the end.
bool fetch_pairs(PairResult* result);
// Keeps the pairs of the batch whose documents are near enough, with their similarity.
void verify_batch(PairResult* result);
// The similarity of the signatures of all of the batch.
void estimate_batch(PairResult* result);
// After the batch was handed over.
void report_batch(PairResult* result);

// All pairs in ascending (a, b), a and b in ids of side a (with two sets: b in those of side b): take(pair,
// similarity). Where documents are compared, pairs for which wants(pair) is false are not.
template <typename Wants, typename Take>
void for_each_pair(PairResult* result, Wants wants, Take take) {
  while (fetch_pairs(result)) {
    if (result->rows->options.verify == Verify::no) {
      estimate_batch(result);
    } else {
      size_t kept = 0;
      for (size_t i = 0; i < result->batch_size; ++i)
        if (wants(result->batch[i])) result->batch[kept++] = result->batch[i];
      result->batch_size = kept;
      verify_batch(result);
    }
    for (size_t i = 0; i < result->batch_size; ++i) take(result->batch[i], result->similarity[i]);
    report_batch(result);
  }
}

template <typename Take>
void for_each_pair(PairResult* result, Take take) {
  for_each_pair(
      result, [](const RowPair&) { return true; }, take);
}

// Tells what was left out, and frees all but the ids.
void end_pairs(PairResult* result);

}  // namespace neardup
