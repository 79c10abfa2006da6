// Index paths for `jaccard(sig, q) > t`.
//
// PostgreSQL asks support functions about clauses `key op expression` and `function(.., key, ..)` only. In
// `jaccard(sig, q) > 0.8` (or `hamming(hash, q) <= 3`, and so on) the key is an argument below a core operator, so
// nobody asks us. The hook below makes, for the time of one call of create_index_paths(), `jaccard_at_least(sig, q,
// 0.8)` out of it, which implies it but for the rows at 0.8 itself; PostgreSQL finds the index by the support function,
// with all that it knows about joins, bitmaps, partial and expression indexes, security. Afterwards the paths are made
// to refer to the clauses of the query again.
#include "pg/lsh/planner/index_paths.h"

#include "pg/base/each.h"
#include "pg/base/guc.h"
#include "pg/lsh/planner/condition_notes.h"
#include "pg/lsh/planner/derived_conditions.h"
#include "pg/lsh/planner/nearest_paths.h"
#include "pg/lsh/planner/partial_indexes.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/lsh/planner/lsh_support.h"
#include "pg/lsh/planner/facts/plan_measures.h"
#include "pg/lsh/planner/row_estimates.h"

extern "C" {
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
}

namespace neardup {
namespace {

set_rel_pathlist_hook_type previous_hook = nullptr;

// The member of `to` at the place that `member` has in `from`, else itself.
void* exchanged(void* member, const List* from, const List* to) {
  ListCell* a;
  ListCell* b;
  forboth(a, from, b, to) if (lfirst(a) == member) return lfirst(b);
  return member;
}

void exchange_members(List* list, const List* from, const List* to) {
  ListCell* cell;
  foreach (cell, list) lfirst(cell) = exchanged(lfirst(cell), from, to);
}

bool any_condition(PlannerInfo* root, RelOptInfo* rel, const Derivation& d) {
  for (auto* index : each<IndexOptInfo>(rel->indexlist)) {
    if (!is_lsh(index)) continue;
    for (const auto* call : each<FuncExpr>(d.calls))
      if (index_condition(root, index, call).condition != nullptr) return true;
  }
  return false;
}

bool may_use_index(const RelOptInfo* rel, const RangeTblEntry* rte) {
  if (!is_base(rel) || rte->rtekind != RTE_RELATION || rte->inh || rte->tablesample != nullptr) return false;
  if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) return false;
  for (auto* index : each<IndexOptInfo>(rel->indexlist))
    if (is_lsh(index)) return true;
  return false;
}

// Makes index paths refer to the query's own clauses; those that come before row security, to what the index was asked,
// since a bitmap's rows are checked by it. The query's own clause is no part of such a path and stays a filter.
void restore_path(Path* path, const Derivation& d) {
  if (IsA(path, IndexPath)) {
    for (auto* clause : each<IndexClause>(reinterpret_cast<IndexPath*>(path)->indexclauses)) {
      if (list_member_ptr(d.guarded, clause->rinfo))
        clause->rinfo = linitial_node(RestrictInfo, clause->indexquals);
      else
        clause->rinfo = static_cast<RestrictInfo*>(exchanged(clause->rinfo, d.derived, d.originals));
    }
  } else if (IsA(path, BitmapHeapPath)) {
    restore_path(reinterpret_cast<BitmapHeapPath*>(path)->bitmapqual, d);
  } else if (IsA(path, BitmapAndPath) || IsA(path, BitmapOrPath)) {
    List* members = IsA(path, BitmapAndPath) ? reinterpret_cast<BitmapAndPath*>(path)->bitmapquals
                                             : reinterpret_cast<BitmapOrPath*>(path)->bitmapquals;
    for (auto* member : each<Path>(members)) restore_path(member, d);
  }
}

void add_paths(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte, const PlanMeasures* measures) {
  // Parameterised paths of foreign tables are there only where the remote planner was asked: it knows the sizes.
  if (rel->fdwroutine != nullptr) return;
  const bool usable = may_use_index(rel, rte);
  if (!usable && rel->ppilist == NIL) return;
  Derivation d{measures, NIL, NIL, NIL, NIL, rel, false};
  List* restrictions = rel->baserestrictinfo;
  List* joins = rel->joininfo;
  List* derived_restrictions = derive_list(&d, restrictions);
  List* derived_joins = derive_list(&d, joins);
  if (d.derived == NIL) return;

  rel->baserestrictinfo = derived_restrictions;
  rel->joininfo = derived_joins;
  // Sizes of parameterised paths, too, were made with a third.
  for (auto* info : each<ParamPathInfo>(rel->ppilist)) {
    exchange_members(info->ppi_clauses, d.originals, d.derived);
    info->ppi_rows = get_parameterized_baserel_size(root, rel, info->ppi_clauses);
  }
  for (auto* path : each<Path>(rel->pathlist))
    if (path->param_info != nullptr) path->rows = path->param_info->ppi_rows;

  if (usable && (d.matched || any_condition(root, rel, d))) {
    List* saved = NIL;
    for (auto* index : each<IndexOptInfo>(rel->indexlist)) {
      saved = lappend(saved, index->indrestrictinfo);
      // The index's list leaves out clauses that its predicate implies; the others are the same.
      index->indrestrictinfo = list_copy(index->indrestrictinfo);
      exchange_members(index->indrestrictinfo, d.originals, d.derived);
    }
    create_index_paths(root, rel);
    int place = 0;
    for (auto* index : each<IndexOptInfo>(rel->indexlist))
      index->indrestrictinfo = static_cast<List*>(list_nth(saved, place++));
    for (auto* path : each<Path>(rel->pathlist)) restore_path(path, d);
    for (auto* path : each<Path>(rel->partial_pathlist)) restore_path(path, d);
  }

  rel->baserestrictinfo = restrictions;
  rel->joininfo = joins;
  for (auto* info : each<ParamPathInfo>(rel->ppilist)) exchange_members(info->ppi_clauses, d.derived, d.originals);
}

void add_derived(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte) {
  if (!guc_derive_conditions || IS_DUMMY_REL(rel)) return;
  PlanMeasures* measures = plan_measures(root);
  if (measures->n == 0 && !hides_rows(root, rel)) return;
  if (!measures->rows_estimated) {
    measures->rows_estimated = true;
    estimate_rows(root, measures);
  }
  if (rel->baserestrictinfo != NIL || rel->joininfo != NIL) add_paths(root, rel, rte, measures);
}

bool searches(const Path* path) {
  if (IsA(path, IndexPath)) return is_lsh(reinterpret_cast<const IndexPath*>(path)->indexinfo);
  if (IsA(path, BitmapHeapPath)) return searches(reinterpret_cast<const BitmapHeapPath*>(path)->bitmapqual);
  if (!IsA(path, BitmapAndPath)) return false;
  for (const auto* member : each<Path>(reinterpret_cast<const BitmapAndPath*>(path)->bitmapquals))
    if (searches(member)) return true;
  return false;
}

// A search by an lsh index that costs less than to start workers.
bool is_short_search(const Path* path) {
  return path->param_info == nullptr && path->total_cost < parallel_setup_cost && searches(path);
}

// The searches of many partitions together seem worth workers: each is charged some eighty pages from disk, as
// PostgreSQL does for all indexes. But they take a tenth of a millisecond each, and workers ten to start.
void keep_from_workers(RelOptInfo* rel) {
  if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL) return;
  ListCell* cell;
  for (auto* path : each<Path>(rel->pathlist)) {
    if (is_short_search(path)) path->parallel_safe = false;
  }
  foreach (cell, rel->partial_pathlist)
    if (is_short_search(static_cast<const Path*>(lfirst(cell))))
      rel->partial_pathlist = foreach_delete_current(rel->partial_pathlist, cell);
}

void lsh_set_rel_pathlist(PlannerInfo* root, RelOptInfo* rel, Index rti, RangeTblEntry* rte) {
  if (previous_hook != nullptr) previous_hook(root, rel, rti, rte);
  if (are_conditions_noted(root)) note_conditions(root, rel, rte);
  add_derived(root, rel, rte);
  guard_orders(root, rel);
  order_by_first(rel);
  if (may_use_index(rel, rte)) {
    add_nearest_paths(root, rel);
    avoid_predicates(rel);
  }
  keep_from_workers(rel);
}

}  // namespace

void install_planner_hook() {
  previous_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = lsh_set_rel_pathlist;
}

}  // namespace neardup
