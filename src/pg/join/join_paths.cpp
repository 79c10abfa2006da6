#include "pg/join/join_paths.h"

#include "pg/base/guc.h"
#include "pg/join/join_plan.h"
#include "pg/join/self_join.h"

extern "C" {
#include "catalog/pg_statistic.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace neardup {
namespace {

set_join_pathlist_hook_type previous_hook = nullptr;

// In units of the planner, of which a sequential page is one. Against a search by an lsh index, about 25 units, as
// measured by bench/join_bench.sh.
constexpr Cost kStartCost = 20;           // to make an engine, and end its threads
constexpr Cost kKeptRowCost = 0.15;       // to evaluate a value, keep the row, sort it by its bands
constexpr Cost kPassedCost = 0.08;        // of a row of the second side, of which few are kept
constexpr Cost kElementCost = 0.02;       // of a set: to rank it, look it up
constexpr Cost kRefetchCost = 0.05;       // to fetch a pair's rows again
constexpr double kKeptBytes = 40;         // of a row beside its columns
constexpr double kUnknownElements = 100;  // of a set without statistics

bool has_engine(JoinType type) {
  return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI;
}

// The cheapest path that needs no values of other relations, and whose columns are plain; null where there is none.
Path* free_path(const RelOptInfo* rel) {
  Path* best = nullptr;
  ListCell* cell;
  foreach (cell, rel->pathlist) {
    auto* path = static_cast<Path*>(lfirst(cell));
    if (path->param_info != nullptr) continue;
    if (best == nullptr || compare_path_costs(path, best, TOTAL_COST) < 0) best = path;
  }
  if (best == nullptr) return nullptr;
  foreach (cell, best->pathtarget->exprs) {
    const auto* column = static_cast<Node*>(lfirst(cell));
    if (!IsA(column, Var) && !IsA(column, PlaceHolderVar)) return nullptr;
  }
  return best;
}

// The first condition that the engine takes, of those that decide whether rows match; false where there is none.
bool choose_condition(PlannerInfo* root, const RelOptInfo* outer, const RelOptInfo* inner, List* clauses,
                      JoinCondition* condition) {
  ListCell* cell;
  foreach (cell, clauses) {
    auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    if (bms_overlap(clause->clause_relids, outer->relids) && bms_overlap(clause->clause_relids, inner->relids) &&
        find_join_condition(root, outer->relids, inner->relids, clause, condition))
      return true;
  }
  return false;
}

// PostgreSQL evaluates such a clause once, above the join, of joins that it makes itself.
bool has_pseudoconstant(List* clauses) {
  ListCell* cell;
  foreach (cell, clauses)
    if (static_cast<RestrictInfo*>(lfirst(cell))->pseudoconstant) return true;
  return false;
}

// The average number of elements of a set.
double expected_elements(PlannerInfo* root, Node* set) {
  VariableStatData variable;
  examine_variable(root, set, 0, &variable);
  double elements = kUnknownElements;
  AttStatsSlot slot;
  if (HeapTupleIsValid(variable.statsTuple) &&
      get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_DECHIST, InvalidOid, ATTSTATSSLOT_NUMBERS)) {
    if (slot.nnumbers > 0) elements = slot.numbers[slot.nnumbers - 1];  // behind the histogram
    free_attstatsslot(&slot);
  }
  ReleaseVariableStats(variable);
  return elements;
}

Cost cost_of_row(PlannerInfo* root, const JoinPath* join, Node* value, bool is_first) {
  if (is_of_sets(join->condition.measure)) return kKeptRowCost + kElementCost * expected_elements(root, value);
  const bool is_passed = !is_first && join->keys.outer == NIL && measure_kind(join->condition.measure) == Kind::minhash;
  return is_passed ? kPassedCost : kKeptRowCost;
}

// The costs of reading the sides: the first one is kept, of the second one the rows that keys do not rule out. inner:
// null in a self-join.
void set_costs(PlannerInfo* root, JoinPath* join, const Path* outer, const Path* inner) {
  Path* path = &join->path.path;
  QualCost conditions;
  cost_qual_eval(&conditions, join->clauses, root);
  const double pairs = Max(path->rows, 1);
  double bytes = 0;  // of rows
  path->startup_cost = kStartCost + conditions.startup;
  for (const Path* side : {outer, inner}) {
    if (side == nullptr) continue;
    add_disabled_nodes(path, side);
    Node* value = side == outer ? join->condition.outer : join->condition.inner;
    const bool is_first = (side == inner) == join->inner_first;
    path->startup_cost += side->total_cost + side->rows * cost_of_row(root, join, value, is_first);
    bytes += side->rows * (side->pathtarget->width + kKeptBytes);
  }
  path->total_cost = path->startup_cost + pairs * (kRefetchCost + conditions.per_tuple + cpu_tuple_cost) +
                     path->rows * path->pathtarget->cost.per_tuple;
  // Rows that do not fit into memory are written to disk and read once.
  if (bytes > static_cast<double>(join_memory())) path->total_cost += 2 * seq_page_cost * bytes / BLCKSZ;
}

// True if another server makes the whole join: there the join is planned again.
bool is_sent(const RelOptInfo* join) {
  ListCell* cell;
  foreach (cell, join->pathlist)
    if (IsA(lfirst(cell), ForeignPath)) return true;
  return false;
}

// The least cost of a hash or merge join that checks each pair of a group.
Cost cost_of_groups(PlannerInfo* root, const JoinPath* join, const RelOptInfo* outer, const RelOptInfo* inner) {
  const double groups = estimate_num_groups(root, join->keys.inner, inner->rows, nullptr, nullptr);
  QualCost conditions;
  cost_qual_eval(&conditions, join->clauses, root);
  return outer->rows * inner->rows / Max(groups, 1) * conditions.per_tuple;
}

// PostgreSQL counts the filter of a hash semi join for matching rows only, as if rows with equal keys matched. Where
// such a path seems the cheapest, and would cost more than the node for its pairs alone, the node is to be chosen.
void undercut_semi_joins(PlannerInfo* root, JoinPath* join, const RelOptInfo* outer, const RelOptInfo* inner) {
  constexpr double kUndercut = 0.99;
  if ((join->type != JOIN_SEMI && join->type != JOIN_ANTI) || join->keys.inner == NIL) return;
  Path* path = &join->path.path;
  const Path* rival = free_path(path->parent);
  if (rival == nullptr || (!IsA(rival, HashPath) && !IsA(rival, MergePath))) return;
  if (rival->total_cost >= path->total_cost || cost_of_groups(root, join, outer, inner) < path->total_cost) return;
  path->total_cost = kUndercut * rival->total_cost;
  path->startup_cost = Min(path->startup_cost, path->total_cost);
}

// Most rows of the side that is read second need not be kept: those of other groups, or of other MinHash signatures.
bool reads_inner_first(const JoinPath* join, const Path* outer, const Path* inner) {
  const bool keeps_few = measure_kind(join->condition.measure) == Kind::minhash || join->keys.outer != NIL;
  return keeps_few && inner->rows < outer->rows;
}

// Makes it a self-join, where it is one.
void try_self_join(PlannerInfo* root, JoinPath* path, const RelOptInfo* outer, const RelOptInfo* inner, List* matching,
                   Path** outer_path, Path** inner_path) {
  if (!is_self_join(root, outer, inner, path->condition, path->keys)) return;
  Path* both = path_for_both(root, outer, inner, *outer_path);
  if (both == nullptr) return;
  path->is_self = true;
  path->omits_itself = omits_itself(outer, inner, matching);
  path->outer = outer->relid;
  path->inner = inner->relid;
  *outer_path = both;
  *inner_path = nullptr;
}

bool has_row_identities(const RelOptInfo* join) {
  ListCell* cell;
  foreach (cell, join->reltarget->exprs)
    if (is_row_identity(static_cast<Node*>(lfirst(cell)))) return true;
  return false;
}

// The nodes above find row identities by their columns, and a scan tuple must not have those. An Append hands its
// child's columns on by number, whatever they are called, and one of a single child is left out of the plan in the end.
Path* below_append(Path* path) {
  AppendPath* append = makeNode(AppendPath);
  append->path = *path;
  NodeSetTag(append, T_AppendPath);
  append->path.pathtype = T_Append;
  append->path.pathkeys = NIL;  // else it asks the child for columns to sort by
  append->subpaths = list_make1(path);
  append->first_partial_path = 1;
  append->limit_tuples = -1;
  return &append->path;
}

void add_join_path(PlannerInfo* root, RelOptInfo* join, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
                   const JoinPathExtraData* extra) {
  if (!guc_enable_join || !has_engine(type) || !bms_is_empty(join->lateral_relids)) return;
  if (has_pseudoconstant(extra->restrictlist) || is_sent(join)) return;
  List* matching = NIL;
  List* filters = NIL;
  divide_clauses(join, type, extra->restrictlist, &matching, &filters);
  JoinCondition condition = {};
  if (!choose_condition(root, outer, inner, matching, &condition)) return;
  Path* outer_path = free_path(outer);
  Path* inner_path = free_path(inner);
  if (outer_path == nullptr || inner_path == nullptr) return;
  auto* path = static_cast<JoinPath*>(palloc0(sizeof(JoinPath)));
  path->type = type;
  path->condition = condition;
  path->keys = find_join_keys(outer, inner, matching);
  path->clauses = extra->restrictlist;
  try_self_join(root, path, outer, inner, matching, &outer_path, &inner_path);
  path->inner_first = !path->is_self && reads_inner_first(path, outer_path, inner_path);
  CustomPath* custom = &path->path;
  NodeSetTag(custom, T_CustomPath);
  custom->path.pathtype = T_CustomScan;
  custom->path.parent = join;
  custom->path.pathtarget = join->reltarget;
  custom->path.rows = join->rows;
  custom->path.pathkeys = outer_path->pathkeys;  // rows come in the order of the outer side
  custom->flags = NEARDUP_CUSTOM_PATH_PROJECTS;
  custom->custom_paths = inner_path == nullptr ? list_make1(outer_path) : list_make2(outer_path, inner_path);
  custom->methods = &join_path_methods;
  set_costs(root, path, outer_path, inner_path);
  undercut_semi_joins(root, path, outer, inner);
  add_path(join, has_row_identities(join) ? below_append(&custom->path) : &custom->path);
}

void set_join_paths(PlannerInfo* root, RelOptInfo* join, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
                    JoinPathExtraData* extra) {
  if (previous_hook != nullptr) previous_hook(root, join, outer, inner, type, extra);
  add_join_path(root, join, outer, inner, type, extra);
}

}  // namespace

void install_join_hook() {
  previous_hook = set_join_pathlist_hook;
  set_join_pathlist_hook = set_join_paths;
  register_join_scan();
}

}  // namespace neardup
