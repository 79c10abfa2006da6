// The planner's view of an index: its meta page, and the lists of a query.
#pragma once

#include "core/lsh/bit_keys.h"
#include "pg/lsh/planner/facts/family_plans.h"
#include "pg/lsh/planner/facts/known_query.h"
#include "pg/lsh/scan/probe_estimate.h"

extern "C" {
#include "access/skey.h"
}

namespace neardup {

inline constexpr double kMaxCounted = 10000;  // entries that are read at plan time, some 20 us

// An index as the planner sees it: from its meta page, once per planning.
struct IndexFacts {
  Oid index;
  bool bound;
  const FamilyPlan* family;
  double threshold;
  double max_rate;   // of the family ctph
  BitLayout layout;  // of the family bits
  uint16_t nbands;
  double entries;  // but the roster's
  double sum_sq;   // over the keys, of the squared number of entries
  double pending_keys;
  int nruns;
  uint32_t leaves[FLEXIBLE_ARRAY_MEMBER];  // of each run
};

// Null for an index that has no pages: of a partitioned table, as 16 and later list them, or seen by an adviser only.
const IndexFacts* index_facts(PlannerInfo* root, const IndexOptInfo* index);

// The conditions on the columns before the value whose values are known.
struct KnownColumns {
  int n;
  ScanKeyData keys[INDEX_MAX_KEYS];
};

// Verdict::usable if the index finds all rows that the query asks for (or what its `recall` promises) by looking keys
// up. A query that is not known yet counts as usable: a scan that turns out not to be hands out every row. *counted, if
// asked for: the counts of the index, of several columns by those that are known; null where the query is not known, or
// rows may not be counted. Never raises an error for a query that the index cannot take.
Verdict index_verdict(PlannerInfo* root, const IndexOptInfo* index, const KnownQuery& query,
                      const ProbeEstimate** counted = nullptr, const KnownColumns* columns = nullptr);

// The bound beyond which the index finds nothing: its threshold, or the greatest distance of bit strings.
double farthest_bound(const IndexFacts& facts);

}  // namespace neardup
