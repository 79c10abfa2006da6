// The planner's knowledge of each hash family: one table.
#pragma once

#include "core/kinds/measure.h"
#include "pg/lsh/lsh.h"
#include "pg/lsh/planner/facts/verdict.h"

namespace neardup {

struct IndexFacts;
struct KnownQuery;

// Look-ups of a query whose value, or whose index, is not known: those of a jaccard of 0.8, where 25 of 128 components
// may differ.
inline constexpr double kUsualProbes = 26;

struct FamilyPlan {
  bool is_own() const { return name != nullptr; }

  const char* name;  // in an index's LshConfig; null: the family is another extension's
  Kind kind;
  bool is_for_jaccard = false;                // alone, of the measures of sets
  Verdict beyond = Verdict::below_threshold;  // of a bound that the index does not reach
  // The farthest bound that an index reaches. Null: its threshold.
  double (*limit)(const IndexFacts& facts) = nullptr;
  // Reads from a bound index's parameters what the functions below need. May be null.
  void (*read_params)(const LshConfig* config, IndexFacts* facts) = nullptr;
  double usual_look_ups = kUsualProbes;
  // True if a query whose value is not known is served, by its bound.
  bool (*serves)(const IndexFacts& facts, const KnownQuery& query);
  // Its look-ups. Null: usual_look_ups.
  double (*usual_probes)(const IndexFacts& facts, const KnownQuery& query) = nullptr;
  // The entries that so many look-ups meet. Null: those of an average key of the index.
  double (*usual_entries)(const IndexFacts& facts, const KnownQuery& query, double probes) = nullptr;
  // The farthest search, where the family takes one. May be null.
  bool (*farthest)(const IndexFacts& facts, KnownQuery* query) = nullptr;
};

const FamilyPlan* find_family(const LshConfig& config);

bool serves_measure(const FamilyPlan& family, Measure measure);

}  // namespace neardup
