// The costs of an index scan.
#include <cmath>

#include "core/kinds/measure.h"
#include "pg/base/each.h"
#include "pg/lsh/family.h"
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/planner/lsh_cost.h"
#include "pg/lsh/planner/lsh_support.h"
#include "pg/lsh/planner/facts/near_stats.h"
#include "pg/lsh/planner/nearest_paths.h"
#include "pg/lsh/planner/facts/plan_measures.h"

extern "C" {
#include "utils/selfuncs.h"
#include "utils/spccache.h"
}

namespace neardup {
namespace {

// Processor time in units of cpu_operator_cost.
constexpr double kOperatorsPerPage = 50;        // to read a page; PostgreSQL takes as many for a page of a B-tree
constexpr double kEntriesPerOperator = 1;       // that are counted in the time of an operator
constexpr double kPendingKeysPerOperator = 10;  // that are looked for among the probes in the time of an operator

constexpr uint32_t kSmallRun = 8;  // times as many leaves has the largest run

constexpr Cost kUnservedCost = 1.0e10;  // PostgreSQL's own price of "not that way"

// The conditions on the value. Of several, the one with the fewest candidates is looked up.
struct ValueConditions {
  bool served;  // the index finds what one of them asks for; else every row comes out
  LookUp look_up;
  Cost arguments;  // of evaluating their right sides
};

double members_of_lists(PlannerInfo* root, const IndexClause* clause) {
  double members = 1;
  for (const auto* qual : each<RestrictInfo>(clause->indexquals)) {
    if (!IsA(qual->clause, ScalarArrayOpExpr)) continue;
    Node* list = static_cast<Node*>(lsecond(reinterpret_cast<ScalarArrayOpExpr*>(qual->clause)->args));
    members *= Max(1.0, array_length_estimate(root, list));
  }
  return members;
}

void add_known_column(PlannerInfo* root, const IndexOptInfo* index, const IndexClause* clause, KnownColumns* known) {
  if (list_length(clause->indexquals) != 1) return;
  const Node* qual = reinterpret_cast<Node*>(linitial_node(RestrictInfo, clause->indexquals)->clause);
  if (!IsA(qual, OpExpr)) return;
  const auto* condition = reinterpret_cast<const OpExpr*>(qual);
  Node* value = estimate_expression_value(root, static_cast<Node*>(lsecond(condition->args)));
  if (!IsA(value, Const) || reinterpret_cast<Const*>(value)->constisnull) return;
  // The operator's own type, as a scan has it: a value's may be an enum, where the operator takes any.
  int strategy;
  Oid left;
  Oid right;
  get_op_opfamily_properties(condition->opno, index->opfamily[clause->indexcol], false, &strategy, &left, &right);
  ScanKey key = &known->keys[known->n++];
  key->sk_attno = static_cast<AttrNumber>(clause->indexcol + 1);
  key->sk_strategy = kStrategyEqual;
  key->sk_subtype = right;
  key->sk_argument = reinterpret_cast<Const*>(value)->constvalue;
}

EqualityConditions equality_conditions(PlannerInfo* root, const IndexPath* path) {
  const IndexOptInfo* index = path->indexinfo;
  EqualityConditions equal{};
  equal.share = equal.searches = 1;
  Bitmapset* seen = nullptr;
  for (const auto* clause : each<IndexClause>(path->indexclauses)) {
    if (clause->indexcol == planned_value_column(index) || bms_is_member(clause->indexcol, seen)) continue;
    seen = bms_add_member(seen, clause->indexcol);
    ++equal.columns;
    equal.searches *= members_of_lists(root, clause);
    add_known_column(root, index, clause, &equal.known);
    equal.share *= clause_selectivity(root, reinterpret_cast<Node*>(clause->rinfo), static_cast<int>(index->rel->relid),
                                      JOIN_INNER, nullptr);
  }
  return equal;
}

double usual_probes(const IndexFacts* facts, const KnownQuery& query) {
  if (facts == nullptr) return kUsualProbes;
  const FamilyPlan& family = *facts->family;
  return family.usual_probes == nullptr ? family.usual_look_ups : family.usual_probes(*facts, query);
}

double usual_entries(const IndexFacts* facts, const KnownQuery& query, double probes, const NearStats& stats) {
  if (facts == nullptr || facts->entries == 0) return 0;
  if (facts->family->usual_entries != nullptr) return facts->family->usual_entries(*facts, query, probes);
  // A row's keys lie with so many others on average.
  const double shared = facts->sum_sq / facts->entries;
  if (!stats.analyzed) return probes * shared;
  KnownQuery row = query;
  row.of_row = true;
  row.askers = stats.rows;
  const double less = expected_candidates(stats, query) / expected_candidates(stats, row);
  return probes * (1 + (shared - 1) * Min(less, 1.0));
}

void add_condition(PlannerInfo* root, const IndexOptInfo* index, const OpExpr* condition,
                   const EqualityConditions& equal, double loops, ValueConditions* out) {
  Node* key = static_cast<Node*>(linitial(condition->args));
  Node* operand = static_cast<Node*>(lsecond(condition->args));
  QualCost argument_cost;
  cost_qual_eval_node(&argument_cost, operand, root);
  out->arguments += argument_cost.startup + argument_cost.per_tuple;

  const IndexFacts* facts = index_facts(root, index);
  KnownQuery query{};
  const ProbeEstimate* counted = nullptr;
  if (operator_verdict(root, index, condition->opno, operand, &query, &counted, &equal.known) != Verdict::usable)
    return;
  query.askers = loops;
  out->served = true;
  if (query.none || (facts != nullptr && !facts->bound) || (counted != nullptr && counted->nothing)) {
    out->look_up = LookUp{};
    return;
  }
  const LookUp look_up = expected_look_up(root, index, key, query, counted, equal.share);
  if (out->look_up.probes == 0 || look_up.candidates < out->look_up.candidates) out->look_up = look_up;
}

ValueConditions value_conditions(PlannerInfo* root, const IndexPath* path, const EqualityConditions& equal,
                                 double loops) {
  const IndexOptInfo* index = path->indexinfo;
  const int value_column = planned_value_column(index);
  ValueConditions conditions{false, {0, 0, table_rows(index)}, 0};
  for (const auto* clause : each<IndexClause>(path->indexclauses)) {
    if (clause->indexcol != value_column) continue;
    for (const auto* qual : each<RestrictInfo>(clause->indexquals)) {
      if (!IsA(qual->clause, OpExpr)) continue;
      add_condition(root, index, reinterpret_cast<OpExpr*>(qual->clause), equal, loops, &conditions);
      if (conditions.served && conditions.look_up.candidates == 0) break;
    }
    if (conditions.served && conditions.look_up.candidates == 0) break;
  }
  // Without a value in each of the other columns there are no keys to look up.
  if (equal.columns < value_column) {
    conditions.served = false;
    conditions.look_up = {0, 0, table_rows(index)};
  }
  return conditions;
}

struct PagesRead {
  double all;
  double cold;  // of these: where a page of disk has to be paid for
};

// One search of so many look-ups. A session keeps the directory, roots and inner pages (tree_cache.h). Small runs,
// which hold the latest rows, stay in memory: a query reads so many of their leaves.
PagesRead pages_of_search(const IndexFacts& facts, double probes) {
  uint32_t largest = 0;
  for (int i = 0; i < facts.nruns; ++i) largest = Max(largest, facts.leaves[i]);
  PagesRead pages = {1, 1};
  for (int i = 0; i < facts.nruns; ++i) {
    const double read = Min(probes, facts.leaves[i]);
    pages.all += read;
    if (facts.leaves[i] >= largest / kSmallRun) pages.cold += read;
  }
  return pages;
}

PagesRead pages_of_scan(const IndexOptInfo* index, const IndexFacts* facts, const ValueConditions& value,
                        double searches) {
  PagesRead pages = {1, 1};
  if (!value.served) {
    pages.all = pages.cold = index->pages;
    return pages;
  }
  if (facts == nullptr)
    pages.all = pages.cold = Min(kUsualProbes, static_cast<double>(index->pages));
  else if (value.look_up.probes > 0)
    pages = pages_of_search(*facts, value.look_up.probes);
  return {pages.all * searches, pages.cold * searches};
}

// Rows come in the table's order, so that a plain scan reads each of its pages once, as a bitmap does; it asks for rows
// ahead (row_prefetch.h), and checks them itself. But PostgreSQL prices a plain scan between a random order and a table
// that is sorted by the index: this correlation makes its price that of a bitmap.
double correlation_of_bitmap(PlannerInfo* root, const IndexOptInfo* index, double rows, double loops) {
  double random_page_cost;
  get_tablespace_page_costs(index->rel->reltablespace, &random_page_cost, nullptr);
  const double table_pages = index->rel->pages;
  const auto fetched_pages = [&](double n) { return index_pages_fetched(n, index->rel->pages, index->pages, root); };
  Cost unsorted;
  Cost sorted;
  // cost_index()
  if (loops > 1) {
    unsorted = fetched_pages(rows * loops) * random_page_cost / loops;
    sorted = fetched_pages(std::ceil(rows / table_rows(index) * table_pages) * loops) * random_page_cost / loops;
  } else {
    double page_cost;
    get_tablespace_page_costs(index->rel->reltablespace, nullptr, &page_cost);
    unsorted = fetched_pages(rows) * random_page_cost;
    const double pages = std::ceil(rows / table_rows(index) * table_pages);
    sorted = pages > 0 ? random_page_cost + (pages - 1) * page_cost : 0;
  }
  if (unsorted <= sorted) return 0;
  const double share = (unsorted - cost_of_rows(root, index, rows, loops)) / (unsorted - sorted);
  return std::sqrt(Min(Max(share, 0.0), 1.0));
}

// loops: how often the scan is made, for which pages are read once.
Cost cost_of_pages(PlannerInfo* root, const IndexOptInfo* index, double pages, double loops) {
  double random_page_cost;
  get_tablespace_page_costs(index->reltablespace, &random_page_cost, nullptr);
  if (loops <= 1) return pages * random_page_cost;
  const double read = index_pages_fetched(pages * loops, index->pages, static_cast<double>(index->pages), root);
  return read * random_page_cost / loops;
}

Cost processor_cost(const IndexFacts* facts, const LookUp& look_up, double searches, double pages) {
  const double pending_keys = facts != nullptr && look_up.probes > 0 ? facts->pending_keys : 0;
  return cpu_operator_cost * (kOperatorsPerPage * pages + searches * look_up.entries / kEntriesPerOperator +
                              searches * (pending_keys / kPendingKeysPerOperator));
}

}  // namespace

LookUp expected_look_up(PlannerInfo* root, const IndexOptInfo* index, Node* key, KnownQuery query,
                        const ProbeEstimate* counted, double equal_share) {
  const double rows = table_rows(index);
  const IndexFacts* facts = index_facts(root, index);
  // At a high similarity few of the bands that are located are read.
  const double probes =
      counted != nullptr && measure_kind(query.measure) != Kind::minhash ? counted->probes : usual_probes(facts, query);
  if (counted != nullptr && counted->measured) return {probes, counted->entries, Min(counted->candidates, rows)};
  VariableStatData variable;
  examine_variable(root, key, 0, &variable);
  const NearStats stats = near_stats(root, &variable, query.measure);
  ReleaseVariableStats(variable);
  // A partial index has its share of the candidates.
  const double share = index->indpred == NIL ? 1 : Min(1.0, Max(index->tuples, 1.0) / rows);
  const double entries = usual_entries(facts, query, probes, stats);
  double candidates = expected_candidates(stats, query) * share * equal_share;
  if (!stats.analyzed && facts != nullptr) candidates = Min(candidates, Max(entries, 1.0));
  return {probes, entries, Min(candidates, rows)};
}

Cost cost_of_look_ups(PlannerInfo* root, const IndexOptInfo* index, const LookUp& look_up, double searches,
                      double loops, double* pages) {
  const IndexFacts* facts = index_facts(root, index);
  const PagesRead read = pages_of_scan(index, facts, {true, look_up, 0}, searches);
  *pages = read.all;
  return cost_of_pages(root, index, read.cold, loops) + processor_cost(facts, look_up, searches, read.all);
}

// As compute_bitmap_pages() and cost_bitmap_heap_scan() have it.
Cost cost_of_rows(PlannerInfo* root, const IndexOptInfo* index, double rows, double loops) {
  double random_page_cost;
  double page_cost;
  get_tablespace_page_costs(index->rel->reltablespace, &random_page_cost, &page_cost);
  const double all = Max(1.0, static_cast<double>(index->rel->pages));
  double pages = 2 * all * rows / (2 * all + rows);
  if (loops > 1) pages = index_pages_fetched(rows * loops, index->rel->pages, index->pages, root) / loops;
  pages = Min(std::ceil(pages), all);
  if (pages < 2) return pages * random_page_cost;
  return pages * (random_page_cost - (random_page_cost - page_cost) * std::sqrt(pages / all));
}

// All candidates are collected before the first comes out, so startup = total.
void lshcostestimate(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup, Cost* total,
                     Selectivity* selectivity, double* correlation, double* pages) {
  const IndexOptInfo* index = path->indexinfo;
  const IndexFacts* facts = index_facts(root, index);
  const EqualityConditions equal = equality_conditions(root, path);
  if (is_nearest(path)) {
    *startup = *total = nearest_cost(root, path, equal, loop_count, pages);
    *selectivity = 1;
    *correlation = 0;
    return;
  }
  const ValueConditions value = value_conditions(root, path, equal, loop_count);
  const PagesRead read = pages_of_scan(index, facts, value, equal.searches);

  Cost cost = cost_of_pages(root, index, read.cold, loop_count);
  cost += value.arguments;
  cost += processor_cost(facts, value.look_up, equal.searches, read.all);
  if (!value.served) {
    cost += kUnservedCost;
    disable_path(&path->path);
  }

  *startup = *total = cost;
  *selectivity = Min(1.0, value.look_up.candidates / table_rows(index));
  const bool ascends = value.served && path->indexorderbys == NIL;
  *correlation = ascends ? correlation_of_bitmap(root, index, clamp_row_est(value.look_up.candidates), loop_count) : 0;
  *pages = read.all;
}

}  // namespace neardup
