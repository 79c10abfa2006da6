// The pairs of a sample by which forms of signatures are judged.
#pragma once

#include <span>
#include <vector>

#include "core/suggest/sample_pairs.h"
#include "core/suggest/shingle_forms.h"
#include "pg/base/context.h"
#include "pg/suggest/sample.h"

namespace neardup {

struct Study {
  Sample* sample;    // without labels, equal documents are left out, and documents no longer go with ids
  bool has_labels;   // labels say which pairs are duplicates, else edit_rate()
  bool only_judged;  // labels say also which pairs are none, and only labelled ones count
  double edit_similarity;
  double unspaced;  // share of letters that are of scripts without spaces
  std::span<const ShingleForm> forms;
  uint64 copies;      // equal documents that are left out
  uint64 strange;     // labels of ids that are not in the sample
  uint64 near_pairs;  // pairs that count, whether they are looked at or others stand for them
  uint64 looked_at;
  PairTotals totals;
  Owned<std::vector<SamplePair>>* pairs;  // those that are looked at
};

// Finds and judges the pairs; an error where none of them is a duplicate. labels may be null. *sample stays in use.
Study study_sample(Sample* sample, const Labels* labels, double edit_similarity);

}  // namespace neardup
