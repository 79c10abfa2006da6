// See family_plans.h.
#include "pg/lsh/planner/facts/family_plans.h"

#include <cmath>

#include "core/lsh/bit_keys.h"
#include "core/lsh/simhash_keys.h"
#include "pg/lsh/families/families.h"
#include "pg/lsh/planner/facts/index_facts.h"
#include "pg/lsh/planner/facts/known_query.h"

namespace neardup {
namespace {

constexpr double kBoundTolerance = 1e-9;  // a scan decides exactly; this only chooses the plan

bool serves_jaccard(const IndexFacts& facts, const KnownQuery& query) {
  return query.bound >= facts.threshold - kBoundTolerance;
}

// An index of b bands allows b - 1 mismatches at its threshold and so, roughly, fewer in proportion above it.
double usual_bands(const IndexFacts& facts, const KnownQuery& query) {
  if (facts.nbands == 0) return kUsualProbes;
  double p = facts.nbands;
  if (facts.threshold < 1) p = 1 + (p - 1) * (1 - query_closeness(query)) / (1 - facts.threshold);
  return Max(1.0, Min(p, static_cast<double>(facts.nbands)));
}

bool farthest_jaccard(const IndexFacts& facts, KnownQuery* query) {
  query->measure = Measure::jaccard;
  query->bound = facts.threshold;
  return true;
}

constexpr double kUsualHammingBound = 3;

bool serves_hamming(const IndexFacts& facts, const KnownQuery& query) {
  return simhash_index_probes(facts.nbands, query.bound) > 0;
}

double usual_blocks(const IndexFacts& facts, const KnownQuery& query) {
  const double bound = query.has_bound ? query.bound : kUsualHammingBound;
  return Max(1.0, static_cast<double>(simhash_index_probes(facts.nbands, bound)));
}

// A key is a block of the simhash, and probes are prefixes of whole keys.
double entries_of_blocks(const IndexFacts& facts, const KnownQuery&, double probes) {
  return probes * facts.entries / facts.nbands / std::exp2(info(Measure::hamming).range.most / facts.nbands);
}

bool farthest_hamming(const IndexFacts& facts, KnownQuery* query) {
  uint32_t distance;
  query->measure = Measure::hamming;
  query->bound = -1;
  while (next_reach(facts.nbands, query->bound, &distance)) query->bound = distance;
  return query->bound >= 0;
}

bool serves_digests(const IndexFacts& facts, const KnownQuery& query) {
  return info(query.measure).is_similarity ? query.bound > 0 : query.bound <= facts.max_rate + kBoundTolerance;
}

bool farthest_rate(const IndexFacts& facts, KnownQuery* query) {
  query->measure = Measure::ctph_edit_rate;
  query->bound = facts.max_rate;
  return facts.max_rate > 0;
}

bool serves_sets(const IndexFacts&, const KnownQuery& query) { return query.bound > 0; }

bool serves_codes(const IndexFacts& facts, const KnownQuery& query) { return query.bound < facts.layout.most + 1.0; }

// At the bound or, where it is not known, the greatest that the index is made for.
CodePlan plan_of_codes(const IndexFacts& facts, const KnownQuery& query) {
  CodePlan plan{};
  const double most = facts.layout.most;
  const double distance = query.has_bound && query.bound < most ? Max(query.bound, 0.0) : most;
  if (facts.bound) plan_codes(facts.layout, static_cast<uint32_t>(distance), &plan);
  return plan;
}

double usual_codes(const IndexFacts& facts, const KnownQuery& query) {
  return Max(1.0, static_cast<double>(plan_of_codes(facts, query).probes));
}

double entries_of_codes(const IndexFacts& facts, const KnownQuery& query, double) {
  return plan_of_codes(facts, query).entries * facts.entries / Max(1.0, static_cast<double>(facts.nbands));
}

bool farthest_code(const IndexFacts& facts, KnownQuery* query) {
  query->measure = Measure::bit_hamming;
  query->bound = facts.layout.most;
  return true;
}

constexpr FamilyPlan kFamilies[] = {
    {.name = "minhash",
     .kind = Kind::minhash,
     .serves = serves_jaccard,
     .usual_probes = usual_bands,
     .farthest = farthest_jaccard},
    {.name = "simhash",
     .kind = Kind::simhash,
     .serves = serves_hamming,
     .usual_probes = usual_blocks,
     .usual_entries = entries_of_blocks,
     .farthest = farthest_hamming},
    {.name = "ctph",
     .kind = Kind::ctph,
     .read_params = [](const LshConfig* config, IndexFacts* facts) { facts->max_rate = ctph_index_max_rate(config); },
     .usual_look_ups = 90,  // grams of two parts, of 64 and 32 characters
     .serves = serves_digests,
     .farthest = farthest_rate},
    {.name = "set", .kind = Kind::set, .usual_look_ups = 50, .serves = serves_sets},
    {.name = "minutiae", .kind = Kind::set, .is_for_jaccard = true, .usual_look_ups = 8, .serves = serves_sets},
    {.name = "bits",
     .kind = Kind::bits,
     .beyond = Verdict::beyond_distance,
     .limit = [](const IndexFacts& facts) -> double { return facts.layout.most; },
     .read_params = [](const LshConfig* config, IndexFacts* facts) { read_bit_layout(config, &facts->layout); },
     .serves = serves_codes,
     .usual_probes = usual_codes,
     .usual_entries = entries_of_codes,
     .farthest = farthest_code},
};

// Judged as minhashes are.
constexpr FamilyPlan kOtherFamily = {
    .name = nullptr, .kind = Kind::minhash, .serves = serves_jaccard, .usual_probes = usual_bands};

}  // namespace

const FamilyPlan* find_family(const LshConfig& config) {
  for (const FamilyPlan& family : kFamilies)
    if (strncmp(config.family, family.name, sizeof config.family) == 0) return &family;
  return &kOtherFamily;
}

bool serves_measure(const FamilyPlan& family, Measure measure) {
  if (!family.is_own()) return true;
  return measure_kind(measure) == family.kind && (!family.is_for_jaccard || measure == Measure::set_jaccard);
}

}  // namespace neardup
