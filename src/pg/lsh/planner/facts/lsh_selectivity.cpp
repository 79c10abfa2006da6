// See lsh_selectivity.h.
#include "core/kinds/measure.h"
#include <algorithm>
#include <cmath>

#include "pg/base/each.h"
#include "pg/base/guc.h"
#include "pg/lsh/family.h"
#include "pg/lsh/planner/facts/index_facts.h"
#include "pg/lsh/planner/facts/known_query.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/lsh/planner/facts/lsh_selectivity.h"
#include "pg/lsh/planner/facts/near_stats.h"
#include "pg/lsh/planner/facts/plan_measures.h"

extern "C" {
#include "optimizer/paths.h"
}

namespace neardup {
namespace {

// PostgreSQL's own estimate for a comparison that it knows nothing of.
constexpr double kUnknown = 1.0 / 3;

// An index whose look-ups can be counted for conditions on the variable; null without one.
const IndexOptInfo* counting_index(const VariableStatData* variable) {
  if (variable->rel == nullptr) return nullptr;
  for (auto* index : each<IndexOptInfo>(variable->rel->indexlist)) {
    if (is_lsh(index) && planned_value_column(index) == 0 && !index->hypothetical &&
        (index->indpred == NIL || index->predOK) && match_index_to_operand(variable->var, 0, index))
      return index;
  }
  return nullptr;
}

double clamp(double selectivity) { return std::min(std::max(selectivity, 0.0), 1.0); }

// One table, a query from elsewhere.
double restriction(PlannerInfo* root, const VariableStatData* variable, const KnownQuery& query) {
  if (query.none) return 0;
  const NearStats stats = near_stats(root, variable, query.measure);
  const IndexOptInfo* index =
      query.has_query && may_count_rows(root, variable->rel) ? counting_index(variable) : nullptr;
  const ProbeEstimate* found = nullptr;
  if (index != nullptr && index_verdict(root, index, query, &found) == Verdict::usable && found != nullptr) {
    if (found->nothing) return 0;
    if (found->measured) return clamp(found->candidates / stats.rows);
  }
  return clamp(expected_matches(stats, query) / stats.rows);
}

// Rows of one side of a join.
double rows_that_ask(const VariableStatData* side, const NearStats& stats) {
  return side->rel != nullptr && side->rel->rows > 0 ? side->rel->rows : stats.rows;
}

// Two tables: the share of pairs; for semi and anti joins the share of outer rows that have a partner.
double join(PlannerInfo* root, const VariableStatData* a, const VariableStatData* b, KnownQuery query,
            JoinType jointype, const SpecialJoinInfo* sjinfo) {
  const NearStats of_a = near_stats(root, a, query.measure);
  const NearStats of_b = near_stats(root, b, query.measure);
  query.of_row = true;
  query.askers = std::min(rows_that_ask(a, of_a), rows_that_ask(b, of_b));
  // A row finds in a table what one of the table's own rows finds; the larger table knows more of the pairs.
  const NearStats& larger = of_a.rows >= of_b.rows ? of_a : of_b;
  const double share = clamp(expected_matches(larger, query) / larger.rows);
  if ((jointype != JOIN_SEMI && jointype != JOIN_ANTI) || sjinfo == nullptr) return share;
  const bool b_inside = b->rel != nullptr && bms_is_subset(b->rel->relids, sjinfo->min_righthand);
  const VariableStatData* inner = b_inside ? b : a;
  const double inner_rows = inner->rel != nullptr ? inner->rel->rows : 1;
  return clamp(1 - std::exp(-share * inner_rows));
}

// The join's bound as far as it is known: % has the setting, the others one side's with_threshold(.., bound).
KnownQuery join_query(PlannerInfo* root, uint16_t strategy, List* args) {
  KnownQuery known{};
  known.measure = Measure::jaccard;
  if (strategy == kStrategySimilar) {
    known.has_bound = true;
    known.bound = guc_jaccard_threshold;
    return known;
  }
  // value %> query: the left one is no lsh_query.
  if (strategy == kStrategyAtLeast) args = list_make1(lsecond(args));
  for (auto* arg : each<Node>(args)) {
    const KnownQuery side = known_operand(root, strategy, arg, true);
    if (side.has_bound && (!known.has_bound || query_closeness(side) > query_closeness(known))) known = side;
  }
  return known;
}

}  // namespace

double predicate_selectivity(PlannerInfo* root, Measure measure, Oid predicate, List* args, int var_relid,
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
        if (measures[i].predicate == predicate) make_query = measures[i].maker(a.rel != nullptr ? 0 : 1);
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
  const uint16_t strategy = search_strategy(opno);
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
  const uint16_t strategy = search_strategy(opno);
  const double result =
      strategy == 0 ? kUnknown : join(root, &a, &b, join_query(root, strategy, args), jointype, sjinfo);
  ReleaseVariableStats(a);
  ReleaseVariableStats(b);
  PG_RETURN_FLOAT8(result);
}

}  // extern "C"
