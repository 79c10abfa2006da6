// How many rows and pairs a similarity condition keeps: estimators of the operators, and the statistics behind them.
#include <algorithm>
#include <cmath>

#include "core/lsh/lsh_query.h"
#include "core/lsh/pair_sample.h"
#include "pg/values/ctph_value.h"
#include "pg/base/guc.h"
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/planner/lsh_planner.h"
#include "pg/values/lsh_query_value.h"
#include "pg/values/simhash_value.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/scan/probe_estimate.h"

extern "C" {
#include "access/amapi.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_statistic.h"
#include "commands/vacuum.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/catcache.h"
}

namespace neardup {
namespace {

// A kind for private use; pg_statistic.h leaves numbers from 10000 on to whoever takes them.
// stanumbers: rows of the table at ANALYZE, matches per row and candidates per row at pair_level(0), (1) .., then the
// same per document, which statistics made before 2026-11-23 do not have.
constexpr int16 kStatisticKind = 19551;
constexpr int16 kEditRateKind = 19552;  // of ctph, whose other measure has the first
constexpr int kRowNumbers = 1 + 2 * kPairLevels;
constexpr int kStatisticNumbers = kRowNumbers + 2 * kPairLevels;

// Where the bound is not known: a jaccard of 0.8, 3 bits, a score of 70, a rate of 0.15.
constexpr double kUsualBound = 0.8;
constexpr double kUsualCloseness = 0.85;

// What PostgreSQL takes for a comparison that it knows nothing of.
constexpr double kUnknown = 1.0 / 3;

// Near duplicates of a row where ANALYZE has not been.
constexpr double kGuessedMatches = 10;

constexpr int kMaxSampleRows = 30000;    // what the default statistics target takes
constexpr uint32_t kMaxPairs = 1 << 19;  // compared, some 0.1 s
constexpr int kMaxSimhashRows = 15000;   // all pairs are compared, some 0.1 s
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

// An index whose look-ups can be counted for conditions on the variable; null without one.
const IndexOptInfo* counting_index(const VariableStatData* variable) {
  if (variable->rel == nullptr) return nullptr;
  ListCell* cell;
  foreach (cell, variable->rel->indexlist) {
    auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
    if (is_lsh(index) && planned_value_column(index) == 0 && !index->hypothetical && (index->indpred == NIL || index->predOK) &&
        match_index_to_operand(variable->var, 0, index))
      return index;
  }
  return nullptr;
}

double clamp(double selectivity) { return std::min(std::max(selectivity, 0.0), 1.0); }

// One table, a query from elsewhere.
double restriction(PlannerInfo* root, const VariableStatData* variable, const KnownQuery& query) {
  if (query.none) return 0;
  const NearStats stats = near_stats(root, variable, query.measure);
  const IndexOptInfo* index = query.has_query && !hides_rows(root, variable->rel) ? counting_index(variable) : nullptr;
  ProbeEstimate found{};
  bool counted = false;
  if (index != nullptr && index_serves(root, index, query, &found, &counted) && counted) {
    if (found.nothing) return 0;
    if (found.complete) return clamp(found.candidates / stats.rows);
    // More than are counted: a popular one.
    KnownQuery popular = query;
    popular.of_row = true;
    return clamp(std::max(expected_matches(stats, popular), found.candidates) / stats.rows);
  }
  return clamp(expected_matches(stats, query) / stats.rows);
}

// Two tables: the share of pairs; for semi and anti joins the share of outer rows that have a partner.
double join(PlannerInfo* root, const VariableStatData* a, const VariableStatData* b, KnownQuery query,
            JoinType jointype, const SpecialJoinInfo* sjinfo) {
  query.of_row = true;
  const NearStats of_a = near_stats(root, a, query.measure);
  const NearStats of_b = near_stats(root, b, query.measure);
  // A row finds in a table what one of the table's own rows finds; the larger table knows more of the pairs.
  const NearStats& larger = of_a.rows >= of_b.rows ? of_a : of_b;
  const double share = clamp(expected_matches(larger, query) / larger.rows);
  if ((jointype != JOIN_SEMI && jointype != JOIN_ANTI) || sjinfo == nullptr) return share;
  const bool b_inside = b->rel != nullptr && bms_is_subset(b->rel->relids, sjinfo->min_righthand);
  const VariableStatData* inner = b_inside ? b : a;
  const double inner_rows = inner->rel != nullptr ? inner->rel->rows : 1;
  return clamp(1 - std::exp(-share * inner_rows));
}

// Which condition of our operator classes the operator is; 0: none.
uint16_t strategy_of(Oid opno) {
  uint16_t strategy = 0;
  CatCList* list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(opno));
  for (int i = 0; i < list->n_members && strategy == 0; ++i) {
    const auto* entry = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&list->members[i]->tuple));
    if (entry->amoppurpose != AMOP_SEARCH) continue;
    const IndexAmRoutine* routine = GetIndexAmRoutineByAmId(entry->amopmethod, true);
    if (routine != nullptr && routine->amcostestimate == lshcostestimate)
      strategy = own_strategy(static_cast<uint16_t>(entry->amopstrategy));
  }
  ReleaseCatCacheList(list);
  return strategy;
}

// What is known of a join's bound: % has the setting, the others one side's with_threshold(.., bound).
KnownQuery join_query(PlannerInfo* root, uint16_t strategy, List* args) {
  KnownQuery known{};
  known.measure = LshMeasure::jaccard;
  if (strategy == kStrategySimilar) {
    known.has_bound = true;
    known.bound = guc_jaccard_threshold;
    return known;
  }
  // value %> query: the left one is no lsh_query.
  if (strategy == kStrategyAtLeast) args = list_make1(lsecond(args));
  ListCell* cell;
  foreach (cell, args) {
    const KnownQuery side = known_operand(root, strategy, static_cast<Node*>(lfirst(cell)), true);
    if (side.has_bound && (!known.has_bound || closeness_of(side) > closeness_of(known))) known = side;
  }
  return known;
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
  auto* numbers = static_cast<float4*>(palloc(kStatisticNumbers * sizeof(float4)));
  MemoryContextSwitchTo(old);
  // Each of the seen rows met seen - 1 others; in the table it has total_rows - 1.
  const double others = seen > 1 ? (std::max(total_rows, static_cast<double>(seen)) - 1) / (seen - 1) : 0;
  const double of_pairs = seen > 1 ? 2.0 / seen * others : 0;
  numbers[0] = static_cast<float4>(total_rows);
  for (uint32_t i = 0; i < kPairLevels; ++i) {
    numbers[1 + i] = static_cast<float4>(pairs.similar[i] * of_pairs);
    numbers[1 + kPairLevels + i] = static_cast<float4>(pairs.candidates[i] * of_pairs);
    numbers[kRowNumbers + i] = static_cast<float4>(pairs.document_similar[i] * others);
    numbers[kRowNumbers + kPairLevels + i] = static_cast<float4>(pairs.document_candidates[i] * others);
  }
  stats->stakind[slot] = kind;
  stats->staop[slot] = InvalidOid;
  stats->stacoll[slot] = InvalidOid;
  stats->stanumbers[slot] = numbers;
  stats->numnumbers[slot] = kStatisticNumbers;
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
      pairs = sample_pairs(rows, n, made.num_perm, made.bits, kMaxPairs, &stop);
    });
  }
  if (rows != nullptr) pfree(rows);
  // The order of signatures means nothing: a histogram of them would be 50 kB that nobody asks for.
  store_pairs(stats, kStatisticKind, STATISTIC_KIND_HISTOGRAM, pairs, seen, total_rows);
}

void compute_simhash_stats(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sample_rows, double total_rows) {
  if (!compute_own_stats(stats, fetch, sample_rows, total_rows)) return;
  auto* values = static_cast<uint64_t*>(palloc(sizeof(uint64_t) * kMaxSimhashRows));
  const int step = (sample_rows + kMaxSimhashRows - 1) / kMaxSimhashRows;
  uint32_t n = 0;
  uint32_t seen = 0;
  for (int i = 0; i < sample_rows; i += step) {
    ANALYZE_DELAY_POINT();
    bool null;
    const Datum value = fetch(stats, i, &null);
    ++seen;
    if (!null) values[n++] = simhash_of_datum(value);
  }
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
  const int step = (sample_rows + kMaxCtphRows - 1) / kMaxCtphRows;
  auto* digests = static_cast<CtphView*>(palloc(sizeof(CtphView) * kMaxCtphRows));
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "digests", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  uint32_t n = 0;
  uint32_t seen = 0;
  for (int i = 0; i < sample_rows; i += step) {
    ANALYZE_DELAY_POINT();
    bool null;
    const Datum value = fetch(stats, i, &null);
    ++seen;
    if (null) continue;
    // Those of the first one's kind.
    const CtphView digest = ctph_of_datum(value);
    if (n == 0 || digest.is_long() == digests[0].is_long()) digests[n++] = digest;
  }
  MemoryContextSwitchTo(old);
  PairSample scores{};
  PairSample rates{};
  call_core([&] {
    PgStop stop;
    sample_ctph_pairs(digests, n, kMaxPairs, &stop, &scores, &rates);
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

}  // namespace

// Numbers of the whole table, as the number of distinct values is one: whoever may plan may know them. PostgreSQL's rule for
// values in statistics (statistic_proc_security_check()) is about functions that are called with them; none is here.
NearStats near_stats(PlannerInfo* root, const VariableStatData* variable, LshMeasure measure) {
  NearStats stats{};
  stats.rows = variable->rel != nullptr ? variable->rel->tuples : 0;
  const int16 kind = measure == LshMeasure::ctph_edit_rate ? kEditRateKind : kStatisticKind;
  AttStatsSlot slot;
  if (HeapTupleIsValid(variable->statsTuple) &&
      get_attstatsslot(&slot, variable->statsTuple, kind, InvalidOid, ATTSTATSSLOT_NUMBERS)) {
    if (slot.nnumbers == kStatisticNumbers || slot.nnumbers == kRowNumbers) {
      stats.analyzed = true;
      memcpy(&stats.of_row, slot.numbers + 1, sizeof stats.of_row);
      memcpy(&stats.of_document, slot.numbers + (slot.nnumbers == kStatisticNumbers ? kRowNumbers : 1), sizeof stats.of_document);
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
  const NearLevels& levels = query.of_row ? stats.of_row : stats.of_document;
  return interpolate(levels.matches, stats.rows, closeness_of(query));
}

double expected_candidates(const NearStats& stats, const KnownQuery& query) {
  const NearLevels& levels = query.of_row ? stats.of_row : stats.of_document;
  return interpolate(levels.candidates, stats.rows, closeness_of(query));
}

double closeness_of(const KnownQuery& query) {
  if (query.has_bound) return closeness(query.measure, query.bound);
  return query.measure == LshMeasure::jaccard ? kUsualBound : kUsualCloseness;
}

double predicate_selectivity(PlannerInfo* root, LshMeasure measure, Oid predicate, List* args, int var_relid,
                             JoinType jointype, const SpecialJoinInfo* sjinfo) {
  VariableStatData a;
  VariableStatData b;
  examine_variable(root, static_cast<Node*>(linitial(args)), var_relid, &a);
  examine_variable(root, static_cast<Node*>(lsecond(args)), var_relid, &b);
  Node* bound = static_cast<Node*>(lthird(args));
  double result = kUnknown;  // two columns of one row, or no column at all
  if ((a.rel != nullptr) != (b.rel != nullptr)) {
    const VariableStatData* variable = a.rel != nullptr ? &a : &b;
    Node* other = static_cast<Node*>(a.rel != nullptr ? lsecond(args) : linitial(args));
    Oid make_query = InvalidOid;
    if (const IndexOptInfo* index = counting_index(variable)) {
      PlanMeasure measures[kMaxMeasures];
      for (int i = find_measures(index, planned_value_column(index), measures); i-- > 0;)
        if (measures[i].predicate == predicate) make_query = measures[i].make_query;
    }
    result = restriction(root, variable, known_arguments(root, measure, make_query, other, bound));
  } else if (a.rel != b.rel) {
    const KnownQuery query = known_arguments(root, measure, InvalidOid, static_cast<Node*>(linitial(args)), bound);
    result = query.none ? 0 : join(root, &a, &b, query, jointype, sjinfo);
  }
  ReleaseVariableStats(a);
  ReleaseVariableStats(b);
  return result;
}

}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(lsh_sel);
Datum lsh_sel(PG_FUNCTION_ARGS) {
  auto* root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
  const Oid opno = PG_GETARG_OID(1);
  List* args = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
  const int var_relid = PG_GETARG_INT32(3);
  VariableStatData variable;
  Node* other;
  bool on_left;
  if (!get_restriction_variable(root, args, var_relid, &variable, &other, &on_left)) PG_RETURN_FLOAT8(kUnknown);
  const uint16_t strategy = strategy_of(opno);
  // value %> query, of which the query is a column: then the other one is no lsh_query.
  const bool readable = on_left || strategy != kStrategyAtLeast;
  const double result =
      strategy == 0 || !readable ? kUnknown : restriction(root, &variable, known_operand(root, strategy, other, true));
  ReleaseVariableStats(variable);
  PG_RETURN_FLOAT8(result);
}

PG_FUNCTION_INFO_V1(lsh_joinsel);
Datum lsh_joinsel(PG_FUNCTION_ARGS) {
  auto* root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
  const Oid opno = PG_GETARG_OID(1);
  List* args = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
  const auto jointype = static_cast<JoinType>(PG_GETARG_INT16(3));
  auto* sjinfo = reinterpret_cast<SpecialJoinInfo*>(PG_GETARG_POINTER(4));
  VariableStatData a;
  VariableStatData b;
  bool reversed;
  get_join_variables(root, args, sjinfo, &a, &b, &reversed);
  const uint16_t strategy = strategy_of(opno);
  const double result =
      strategy == 0 ? kUnknown : join(root, &a, &b, join_query(root, strategy, args), jointype, sjinfo);
  ReleaseVariableStats(a);
  ReleaseVariableStats(b);
  PG_RETURN_FLOAT8(result);
}

PG_FUNCTION_INFO_V1(minhash_typanalyze);
Datum minhash_typanalyze(PG_FUNCTION_ARGS) { return typanalyze(fcinfo, compute_minhash_stats); }

PG_FUNCTION_INFO_V1(simhash_typanalyze);
Datum simhash_typanalyze(PG_FUNCTION_ARGS) { return typanalyze(fcinfo, compute_simhash_stats); }

PG_FUNCTION_INFO_V1(ctph_typanalyze);
Datum ctph_typanalyze(PG_FUNCTION_ARGS) { return typanalyze(fcinfo, compute_ctph_stats); }

}  // extern "C"
