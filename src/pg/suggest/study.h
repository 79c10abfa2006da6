// The pairs of a sample by which forms of signatures are judged, and what is proposed because of them.
#pragma once

#include <span>
#include <vector>

#include "core/suggest/proposals.h"
#include "core/suggest/sample_pairs.h"
#include "core/suggest/shingle_forms.h"
#include "pg/base/context.h"
#include "pg/base/progress.h"
#include "pg/base/result_row.h"
#include "pg/suggest/sample.h"

namespace neardup {

struct StudiedPairs {
  std::vector<SamplePair> pairs;                 // those that are looked at
  std::vector<std::vector<float>> similarities;  // by form, of each pair
};

struct Study {
  Sample* sample;    // without labels, equal documents are left out
  bool has_labels;   // labels say which pairs are duplicates, else edit_rate() and the numbers in documents
  bool only_judged;  // labels say also which pairs are none, and only labelled ones count
  double edit_similarity;
  double unspaced;  // share of letters that are of scripts without spaces
  std::span<const ShingleForm> forms;
  uint64 copies;      // equal documents that are left out
  uint64 strange;     // labels of ids that are not in the sample
  uint64 near_pairs;  // pairs that count, whether they are looked at or others stand for them
  uint64 looked_at;
  PairTotals totals;
  Owned<StudiedPairs>* pairs;
  std::span<const Proposal> proposals;  // best first
};

// The arguments of neardup_suggest() and neardup_suggest_examples().
struct SuggestArguments {
  const char* query;
  const char* labels;  // or null
  double edit_similarity;
};
SuggestArguments suggest_arguments(FunctionCallInfo fcinfo);

// Finds and judges the pairs of what the queries return, and compares the forms by them. An error where no pair is a
// duplicate. SPI must be connected. function: the SQL function that is called.
Study study_query(const SuggestArguments& arguments, Oid function);

// A call of one of the two functions: put(study, rows) returns the rows of what was found.
template <typename Put>
Datum return_of_study(FunctionCallInfo fcinfo, Put put) {
  const SuggestArguments arguments = suggest_arguments(fcinfo);
  ReturnSetInfo* rows = begin_rows(fcinfo);
  SPI_connect();
  begin_progress(Searching::suggest);
  const Study study = study_query(arguments, fcinfo->flinfo->fn_oid);
  put(study, rows);
  destroy_owned(study.pairs);
  end_progress();
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // namespace neardup
