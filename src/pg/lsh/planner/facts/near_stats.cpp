// See near_stats.h.
#include "pg/lsh/planner/facts/near_stats.h"

#include <algorithm>
#include <cmath>

#include "pg/values/ctph_value.h"
#include "pg/values/values.h"
#include "pg/values/simhash_value.h"

extern "C" {
#include "catalog/pg_statistic.h"
#include "commands/vacuum.h"
}

namespace neardup {
namespace {

// A kind for private use; pg_statistic.h leaves numbers from 10000 on to whoever takes them.
// stanumbers: rows of the table at ANALYZE, matches per row and candidates per row at pair_level(0), (1) .., then the
// same per document, which statistics made before 2026-11-23 do not have.
constexpr int16 kStatisticKind = 19551;
constexpr int16 kEditRateKind = 19552;  // of ctph, whose other measure has the first
constexpr int kRowStatistics = 1 + 2 * kPairLevels;
constexpr int kAllStatistics = kRowStatistics + 2 * kPairLevels;

// Near duplicates of a row where ANALYZE has not been.
constexpr double kGuessedMatches = 10;

constexpr int kMaxSampleRows = 30000;           // what the default statistics target takes
constexpr uint32_t kMaxSampledPairs = 1 << 19;  // compared, some 0.1 s
constexpr int kMaxSimhashRows = 15000;          // all pairs are compared, some 0.1 s
constexpr int kMaxCtphRows = 30000;

// Between the levels the logarithm is taken as linear, below 0.5 it goes to all rows at 0. At least a hundredth, for
// what a sample did not meet.
double interpolate(const float4* values, double rows, double bound) {
  if (!(bound <= 1)) return 0;
  if (bound <= 0) return rows;
  const auto at = [values](uint32_t i) { return std::log(std::max(static_cast<double>(values[i]), 0.01)); };
  const double all = std::log(std::max(rows, 1.0));
  double lower;
  double upper;
  double share;
  if (bound < pair_level(0)) {
    lower = std::max(all, at(0));
    upper = at(0);
    share = bound / pair_level(0);
  } else {
    const double place = (bound - pair_level(0)) * (kPairLevels - 1) / (1 - pair_level(0));
    const uint32_t i = std::min(static_cast<uint32_t>(place), kPairLevels - 2);
    lower = at(i);
    upper = at(i + 1);
    share = place - i;
  }
  return std::min(std::exp(lower + (upper - lower) * share), rows);
}

// ANALYZE

struct AnalyzeState {
  AnalyzeAttrComputeStatsFunc compute;  // PostgreSQL's own
  void* data;
};

// Copies the sample's signatures, those made like the first one, side by side. Counts nulls and empty ones as rows.
uint32_t collect_sample(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sample_rows, uint8_t** rows,
                        MinhashHeader* made, uint32_t* seen) {
  *rows = nullptr;
  *seen = 0;
  uint32_t n = 0;
  size_t row_bytes = 0;
  Size most = 0;
  int step = 1;
  for (int i = 0; i < sample_rows; i += step) {
    ANALYZE_DELAY_POINT();
    bool null;
    const Datum datum = fetch(stats, i, &null);
    ++*seen;
    if (null) continue;
    auto* value = reinterpret_cast<struct varlena*>(DatumGetPointer(datum));
    struct varlena* plain = PG_DETOAST_DATUM_PACKED(datum);
    const MinhashView view = minhash_view(plain);
    if (!view.empty()) {
      if (*rows == nullptr) {
        *made = *view.header;
        row_bytes = view.components_size();
        // As many rows as the sample has, as the level of detail needs, and as memory allows.
        const size_t each = row_bytes + pair_sample_bytes(made->num_perm, made->bits);
        most = std::min<Size>(kMaxSampleRows, static_cast<size_t>(maintenance_work_mem) * 1024 / each);
        most = std::max<Size>(most, 100);
        step = static_cast<int>((static_cast<Size>(sample_rows - i) + most - 1) / most);
        *rows = static_cast<uint8_t*>(MemoryContextAllocHuge(CurrentMemoryContext, most * row_bytes));
      }
      if (comparable(*made, *view.header) && n < most) memcpy(*rows + n++ * row_bytes, view.components, row_bytes);
    }
    if (plain != value) pfree(plain);
  }
  return n;
}

// Calls visit(value) for at most `most` rows of the sample that have one. Returns how many rows it looked at.
template <class Visit>
uint32_t visit_sample(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sample_rows, int most, Visit visit) {
  uint32_t seen = 0;
  for (int i = 0; i < sample_rows; i += (sample_rows + most - 1) / most) {
    ANALYZE_DELAY_POINT();
    bool is_null;
    const Datum value = fetch(stats, i, &is_null);
    ++seen;
    if (!is_null) visit(value);
  }
  return seen;
}

// Runs PostgreSQL's own computation, as it was prepared. False when there is nothing to add.
bool compute_own_stats(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sample_rows, double total_rows) {
  auto* state = static_cast<AnalyzeState*>(stats->extra_data);
  stats->extra_data = state->data;
  state->compute(stats, fetch, sample_rows, total_rows);
  stats->extra_data = state;
  return stats->stats_valid;
}

// seen: rows of the sample. replaces: a kind of statistics of PostgreSQL that says nothing of this type; 0: none.
void store_pairs(VacAttrStatsP stats, int16 kind, int16 replaces, const PairSample& pairs, uint32_t seen,
                 double total_rows) {
  int slot = 0;
  while (slot < STATISTIC_NUM_SLOTS && stats->stakind[slot] != 0 && stats->stakind[slot] != replaces) ++slot;
  if (slot == STATISTIC_NUM_SLOTS) return;
  MemoryContext old = MemoryContextSwitchTo(stats->anl_context);
  auto* numbers = static_cast<float4*>(palloc(kAllStatistics * sizeof(float4)));
  MemoryContextSwitchTo(old);
  // Each of the seen rows met seen - 1 others; in the table it has total_rows - 1.
  const double others = seen > 1 ? (std::max(total_rows, static_cast<double>(seen)) - 1) / (seen - 1) : 0;
  const double of_pairs = seen > 1 ? 2.0 / seen * others : 0;
  numbers[0] = static_cast<float4>(total_rows);
  for (uint32_t i = 0; i < kPairLevels; ++i) {
    numbers[1 + i] = static_cast<float4>(pairs.similar[i] * of_pairs);
    numbers[1 + kPairLevels + i] = static_cast<float4>(pairs.candidates[i] * of_pairs);
    numbers[kRowStatistics + i] = static_cast<float4>(pairs.document_similar[i] * others);
    numbers[kRowStatistics + kPairLevels + i] = static_cast<float4>(pairs.document_candidates[i] * others);
  }
  stats->stakind[slot] = kind;
  stats->staop[slot] = InvalidOid;
  stats->stacoll[slot] = InvalidOid;
  stats->stanumbers[slot] = numbers;
  stats->numnumbers[slot] = kAllStatistics;
  stats->stavalues[slot] = nullptr;
  stats->numvalues[slot] = 0;
}

void compute_minhash_stats(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sample_rows, double total_rows) {
  if (!compute_own_stats(stats, fetch, sample_rows, total_rows)) return;
  uint8_t* rows;
  MinhashHeader made;
  uint32_t seen;
  const uint32_t n = collect_sample(stats, fetch, sample_rows, &rows, &made, &seen);
  PairSample pairs{};
  if (n > 1) {
    call_core([&] {
      PgStop stop;
      pairs = sample_pairs(rows, n, made.num_perm, made.bits, kMaxSampledPairs, &stop);
    });
  }
  if (rows != nullptr) pfree(rows);
  // The order of signatures means nothing: a histogram of them would be 50 kB that nobody asks for.
  store_pairs(stats, kStatisticKind, STATISTIC_KIND_HISTOGRAM, pairs, seen, total_rows);
}

void compute_simhash_stats(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sample_rows, double total_rows) {
  if (!compute_own_stats(stats, fetch, sample_rows, total_rows)) return;
  auto* values = static_cast<uint64_t*>(palloc(sizeof(uint64_t) * kMaxSimhashRows));
  uint32_t n = 0;
  const uint32_t seen = visit_sample(stats, fetch, sample_rows, kMaxSimhashRows,
                                     [&](Datum value) { values[n++] = simhash_of_datum(value); });
  PairSample pairs{};
  call_core([&] {
    PgStop stop;
    pairs = sample_simhash_pairs(values, n, &stop);
  });
  pfree(values);
  store_pairs(stats, kStatisticKind, STATISTIC_KIND_HISTOGRAM, pairs, seen, total_rows);
}

void compute_ctph_stats(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sample_rows, double total_rows) {
  if (!compute_own_stats(stats, fetch, sample_rows, total_rows)) return;
  auto* digests = static_cast<CtphView*>(palloc(sizeof(CtphView) * kMaxCtphRows));
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "digests", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  uint32_t n = 0;
  const uint32_t seen = visit_sample(stats, fetch, sample_rows, kMaxCtphRows, [&](Datum value) {
    const CtphView digest = ctph_of_datum(value);
    if (n == 0 || digest.is_long() == digests[0].is_long()) digests[n++] = digest;
  });
  MemoryContextSwitchTo(old);
  PairSample scores{};
  PairSample rates{};
  call_core([&] {
    PgStop stop;
    sample_ctph_pairs(digests, n, kMaxSampledPairs, &stop, &scores, &rates);
  });
  MemoryContextDelete(context);
  pfree(digests);
  store_pairs(stats, kStatisticKind, STATISTIC_KIND_HISTOGRAM, scores, seen, total_rows);
  store_pairs(stats, kEditRateKind, 0, rates, seen, total_rows);
}

Datum typanalyze(FunctionCallInfo fcinfo, AnalyzeAttrComputeStatsFunc compute) {
  auto* stats = reinterpret_cast<VacAttrStats*>(PG_GETARG_POINTER(0));
  if (!std_typanalyze(stats)) PG_RETURN_BOOL(false);
  auto* state = static_cast<AnalyzeState*>(palloc(sizeof(AnalyzeState)));
  state->compute = stats->compute_stats;
  state->data = stats->extra_data;
  stats->compute_stats = compute;
  stats->extra_data = state;
  PG_RETURN_BOOL(true);
}

// Between a document's and a row's, on a scale of logarithms as the number of rows that ask is between 1 and all.
double between(double of_document, double of_row, const NearStats& stats, const KnownQuery& query) {
  if (!query.of_row || query.askers <= 1 || stats.rows <= 1) return of_document;
  const double share = std::log(std::min(query.askers, stats.rows)) / std::log(stats.rows);
  return of_document * std::pow(of_row / of_document, share);
}

}  // namespace

// Numbers of the whole table, as the number of distinct values is one: whoever may plan may know them. PostgreSQL's
// rule for values in statistics (statistic_proc_security_check()) is about functions that are called with them; none is
// here.
NearStats near_stats(PlannerInfo* root, const VariableStatData* variable, Measure measure) {
  NearStats stats{};
  stats.rows = variable->rel != nullptr ? variable->rel->tuples : 0;
  const int16 kind = measure == Measure::ctph_edit_rate ? kEditRateKind : kStatisticKind;
  AttStatsSlot slot;
  if (HeapTupleIsValid(variable->statsTuple) &&
      get_attstatsslot(&slot, variable->statsTuple, kind, InvalidOid, ATTSTATSSLOT_NUMBERS)) {
    if (slot.nnumbers == kAllStatistics || slot.nnumbers == kRowStatistics) {
      stats.analyzed = true;
      memcpy(&stats.of_row, slot.numbers + 1, sizeof stats.of_row);
      memcpy(&stats.of_document, slot.numbers + (slot.nnumbers == kAllStatistics ? kRowStatistics : 1),
             sizeof stats.of_document);
      // A parent of partitions knows its rows only after the conditions.
      if (variable->rel == nullptr || root->simple_rte_array[variable->rel->relid]->inh) stats.rows = slot.numbers[0];
    }
    free_attstatsslot(&slot);
  }
  stats.rows = std::max(stats.rows, 1.0);
  if (!stats.analyzed) {
    const auto guess = static_cast<float4>(std::min(kGuessedMatches, stats.rows));
    for (uint32_t i = 0; i < kPairLevels; ++i) stats.of_row.matches[i] = stats.of_row.candidates[i] = guess;
    stats.of_document = stats.of_row;
  }
  return stats;
}

double expected_matches(const NearStats& stats, const KnownQuery& query) {
  const double closeness = query_closeness(query);
  return between(interpolate(stats.of_document.matches, stats.rows, closeness),
                 interpolate(stats.of_row.matches, stats.rows, closeness), stats, query);
}

double expected_candidates(const NearStats& stats, const KnownQuery& query) {
  const double closeness = query_closeness(query);
  return between(interpolate(stats.of_document.candidates, stats.rows, closeness),
                 interpolate(stats.of_row.candidates, stats.rows, closeness), stats, query);
}

}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(minhash_typanalyze);
Datum minhash_typanalyze(PG_FUNCTION_ARGS) { return typanalyze(fcinfo, compute_minhash_stats); }

PG_FUNCTION_INFO_V1(simhash_typanalyze);
Datum simhash_typanalyze(PG_FUNCTION_ARGS) { return typanalyze(fcinfo, compute_simhash_stats); }

PG_FUNCTION_INFO_V1(ctph_typanalyze);
Datum ctph_typanalyze(PG_FUNCTION_ARGS) { return typanalyze(fcinfo, compute_ctph_stats); }

}  // extern "C"
