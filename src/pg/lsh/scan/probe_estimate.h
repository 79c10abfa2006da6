// What a query will read of an index, for the planner.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// For the planner: how many entries a query's lists have and how many candidates they give; up to `most` entries are
// counted, of more it is estimated. False when the index cannot serve the query exactly (every row is a candidate).
struct ProbeEstimate {
  bool nothing;   // no row can qualify
  bool measured;  // the following is known but for the probes, which always are
  double probes;
  double entries;
  double candidates;
};
// salt: of the index's equality columns; null where it is not known: then nothing is measured.
bool estimate_probes(Relation index, const uint64_t* salt, uint16_t strategy, Datum query, double most,
                     ProbeEstimate* out);

// The same for a search in the order of distance, which reaches ever farther until so many rows are likely to be within
// its reach; candidates are those of all stages. False: the index does not reach so far.
bool estimate_nearest(Relation index, uint64_t salt, Datum value, double rows, double most, ProbeEstimate* out);

}  // namespace neardup
