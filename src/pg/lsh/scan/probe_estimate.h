// What a query will read of an index, for the planner.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// For the planner: how many entries a query's lists have and how many candidates they give; counted, up to `most`
// entries. False when the index cannot serve the query exactly (every row is a candidate).
struct ProbeEstimate {
  bool nothing;   // no row can qualify
  bool complete;  // counted to the end
  double probes;
  double entries;
  double candidates;
};
bool estimate_probes(Relation index, uint16_t strategy, Datum query, double most, ProbeEstimate* out);

// The same for a search in the order of distance, which reaches ever farther until there are so many candidates. False:
// the index does not reach so far.
bool estimate_nearest(Relation index, Datum value, double rows, double most, ProbeEstimate* out);

}  // namespace neardup
