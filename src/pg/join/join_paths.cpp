// See join_paths.h.
#include "pg/join/join_paths.h"

#include "pg/base/guc.h"
#include "pg/join/join_plan.h"
#include "pg/join/self_join.h"

extern "C" {
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
}

namespace neardup {
namespace {

set_join_pathlist_hook_type previous_hook = nullptr;

// In units of the planner, of which a sequential page is one. Against a search by an lsh index, about 25 units, as
// measured by bench/join_bench.sh.
constexpr Cost kStartCost = 20;    // to make an engine, and end its threads
constexpr Cost kRowCost = 0.15;    // to evaluate a value, keep the row, sort it by its bands
constexpr Cost kPairCost = 0.05;   // to fetch a pair's rows again
constexpr double kKeptBytes = 40;  // of a row beside its columns

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

// One condition that the engine takes; false where there is none, or where other clauses forbid a node of ours.
bool choose_condition(PlannerInfo* root, const RelOptInfo* outer, const RelOptInfo* inner, const RelOptInfo* join,
                      JoinType type, List* clauses, JoinCondition* condition) {
  bool found = false;
  ListCell* cell;
  foreach (cell, clauses) {
    auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    // PostgreSQL evaluates such a clause once, above the join, of joins that it makes itself.
    if (clause->pseudoconstant) return false;
    if (found || (IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(clause, join->relids))) continue;
    if (!bms_overlap(clause->clause_relids, outer->relids) || !bms_overlap(clause->clause_relids, inner->relids))
      continue;
    found = find_join_condition(root, outer->relids, inner->relids, clause, condition);
  }
  return found;
}

// inner: null in a self-join.
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
    path->startup_cost += side->total_cost + kRowCost * side->rows;
    bytes += side->rows * (side->pathtarget->width + kKeptBytes);
  }
  path->total_cost = path->startup_cost + pairs * (kPairCost + conditions.per_tuple + cpu_tuple_cost) +
                     path->rows * path->pathtarget->cost.per_tuple;
  // what does not fit is written and read once
  if (bytes > static_cast<double>(join_memory())) path->total_cost += 2 * seq_page_cost * bytes / BLCKSZ;
}

void add_join_path(PlannerInfo* root, RelOptInfo* join, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
                   const JoinPathExtraData* extra) {
  if (!guc_enable_join || !has_engine(type) || !bms_is_empty(join->lateral_relids)) return;
  JoinCondition condition = {};
  if (!choose_condition(root, outer, inner, join, type, extra->restrictlist, &condition)) return;
  Path* outer_path = free_path(outer);
  Path* inner_path = free_path(inner);
  if (outer_path == nullptr || inner_path == nullptr) return;
  auto* path = static_cast<JoinPath*>(palloc0(sizeof(JoinPath)));
  Path* both = is_self_join(root, outer, inner, condition) ? path_for_both(root, outer, inner, outer_path) : nullptr;
  if (both != nullptr) {
    path->is_self = true;
    path->outer = outer->relid;
    path->inner = inner->relid;
    outer_path = both;
    inner_path = nullptr;
  }
  path->type = type;
  path->condition = condition;
  path->clauses = extra->restrictlist;
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
  add_path(join, &custom->path);
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
