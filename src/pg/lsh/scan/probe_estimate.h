// Estimates for the planner of what a query reads of an index.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// The entries that a query's lists have, and the candidates that they give: counted up to `most` entries, else
// estimated. False when the index cannot serve the query exactly (every row is a candidate).
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
