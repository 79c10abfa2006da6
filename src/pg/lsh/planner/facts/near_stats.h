// The statistics of ANALYZE on near duplicates.
#pragma once

#include "core/lsh/pair_sample.h"
#include "pg/lsh/planner/facts/known_query.h"

extern "C" {
#include "utils/selfuncs.h"
}

namespace neardup {

// Rows that match a value at least pair_level(i) near on the scale of closeness(), and those that are handed out to be
// checked; guesses without ANALYZE.
struct NearLevels {
  float4 matches[kPairLevels];
  float4 candidates[kPairLevels];
};
struct NearStats {
  double rows;  // that the table has
  bool analyzed;
  NearLevels of_row;
  NearLevels of_document;  // copies of each other taken as one
};
NearStats near_stats(PlannerInfo* root, const VariableStatData* variable, Measure measure);
// A query from outside is as likely one document as another, as PostgreSQL takes it for equality: a popular row is not
// asked for more often. All rows of a table have the mean of its rows, most of which a few popular texts make. The
// share of these among some of its rows is not known: the fewer rows ask, the fewer are expected.
double expected_matches(const NearStats& stats, const KnownQuery& query);
double expected_candidates(const NearStats& stats, const KnownQuery& query);

}  // namespace neardup
