// The cost of a search in the order of distance without a condition on the value: a step. As long as the rows that the
// index reaches are as many as are asked for, it is a look-up; beyond, the table is read, too. For a value that is not
// known the price lies between, as some values have so many near rows.
#include "pg/lsh/planner/facts/near_stats.h"
#include "pg/lsh/planner/lsh_cost.h"
#include "pg/lsh/planner/facts/plan_measures.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/lsh/store/lsh_columns.h"

extern "C" {
#include "utils/selfuncs.h"
#include "utils/spccache.h"
}

namespace neardup {
namespace {

struct Reach {
  LookUp look_up;
  double suffices;  // 1: rows enough; 0: the table has to be read
};
constexpr Reach kNoReach = {{0, 0, 0}, 0};

// Rows that are taken of the ordered ones: of each row that the query's other conditions leave there are some that they
// do not.
double rows_needed(const PlannerInfo* root, const IndexOptInfo* index, double equal_share) {
  const double all = table_rows(index) * equal_share;
  if (root->limit_tuples < 0) return all;
  return Min(all, root->limit_tuples * Max(1.0, all / Max(index->rel->rows, 1.0)));
}

// Asks statistics, for a value that is not known, or whose rows may not be counted.
Reach expected_reach(PlannerInfo* root, const IndexOptInfo* index, Node* key, const IndexFacts& facts, KnownQuery query,
                     double equal_share, double needed) {
  query.has_bound = true;
  if (facts.family->farthest == nullptr || !facts.family->farthest(facts, &query)) return kNoReach;
  VariableStatData variable;
  examine_variable(root, key, 0, &variable);
  const NearStats stats = near_stats(root, &variable, query.measure);
  ReleaseVariableStats(variable);
  // A row that asks is mostly one of the table's, and finds itself.
  const double near = expected_matches(stats, query) * equal_share + (query.of_row ? 1 : 0);
  return {expected_look_up(root, index, key, query, nullptr, equal_share), Min(1.0, near / Max(needed, 1.0))};
}

Reach find_reach(PlannerInfo* root, const IndexPath* path, const EqualityConditions& equal, double needed,
                 double loops) {
  const IndexOptInfo* index = path->indexinfo;
  const IndexFacts* facts = index_facts(root, index);
  if (facts == nullptr || !facts->bound) return kNoReach;
  const auto* order = static_cast<OpExpr*>(linitial(path->indexorderbys));
  Node* key = static_cast<Node*>(linitial(order->args));
  Node* value = estimate_expression_value(root, static_cast<Node*>(lsecond(order->args)));
  const bool is_known =
      IsA(value, Const) && may_count_rows(root, index->rel) && equal.known.n == planned_value_column(index);
  if (!is_known) {
    KnownQuery query{};
    query.of_row = comes_from_row(value);
    query.askers = loops;
    return expected_reach(root, index, key, *facts, query, equal.share, needed);
  }
  if (reinterpret_cast<Const*>(value)->constisnull) return kNoReach;
  Relation opened = index_open(index->indexoid, NoLock);
  ProbeEstimate counted{};
  uint64_t salt = 0;
  const bool suffices =
      salt_of_keys(opened, equal.known.keys, equal.known.n, &salt) &&
      estimate_nearest(opened, salt, reinterpret_cast<Const*>(value)->constvalue, needed, kMaxCounted, &counted);
  index_close(opened, NoLock);
  return {{counted.probes, counted.entries, counted.candidates}, suffices ? 1.0 : 0.0};
}

Cost cost_of_table(PlannerInfo* root, const IndexPath* path) {
  const RelOptInfo* rel = path->indexinfo->rel;
  double page_cost;
  get_tablespace_page_costs(rel->reltablespace, nullptr, &page_cost);
  QualCost measure;
  cost_qual_eval(&measure, path->indexorderbys, root);
  return rel->pages * page_cost + rel->tuples * (cpu_tuple_cost + measure.per_tuple + cpu_operator_cost);
}

}  // namespace

Cost nearest_cost(PlannerInfo* root, const IndexPath* path, const EqualityConditions& equal, double loops,
                  double* pages) {
  const double needed = rows_needed(root, path->indexinfo, equal.share);
  // Without a value in each of the other columns there are no keys to look up.
  const bool has_keys = equal.columns == planned_value_column(path->indexinfo);
  const Reach reach = has_keys ? find_reach(root, path, equal, needed, loops) : kNoReach;
  Cost cost = cost_of_look_ups(root, path->indexinfo, reach.look_up, equal.searches, loops, pages);
  cost += cost_of_rows(root, path->indexinfo, reach.look_up.candidates, loops) +
          reach.look_up.candidates * (cpu_tuple_cost + cpu_index_tuple_cost);
  return cost + (1 - reach.suffices) * cost_of_table(root, path);
}

}  // namespace neardup
