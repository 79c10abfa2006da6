#include "pg/join/self_join.h"

extern "C" {
#include "optimizer/clauses.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
}

namespace neardup {
namespace {

// True if the relation is the table itself: PostgreSQL 19 has relations of its distinct rows, too.
bool is_table_itself(const PlannerInfo* root, const RelOptInfo* rel) {
  return rel->reloptkind == RELOPT_BASEREL && root->simple_rel_array[rel->relid] == rel;
}

bool is_plain_table(const RangeTblEntry* rte) {
  return rte->rtekind == RTE_RELATION && !rte->inh && rte->tablesample == nullptr &&
         (rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW);
}

bool only_reads(const PlannerInfo* root) {
  return root->parse->commandType == CMD_SELECT && root->parse->rowMarks == NIL && root->rowMarks == NIL;
}

// True if each condition of one side has an equal one at the same place on the other.
bool have_equal_conditions(const RelOptInfo* outer, const RelOptInfo* inner) {
  if (list_length(outer->baserestrictinfo) != list_length(inner->baserestrictinfo)) return false;
  ListCell* a;
  ListCell* b;
  forboth(a, outer->baserestrictinfo, b, inner->baserestrictinfo) {
    auto* x = reinterpret_cast<Node*>(static_cast<RestrictInfo*>(lfirst(a))->clause);
    auto* y = reinterpret_cast<Node*>(static_cast<RestrictInfo*>(lfirst(b))->clause);
    if (contain_volatile_functions(x) || contain_subplans(x)) return false;
    if (!equal(over_other_side(x, outer->relid, inner->relid), y)) return false;
  }
  return true;
}

Path* copied_scan(const Path* path) {
  Size size = 0;
  if (IsA(path, Path) && path->pathtype == T_SeqScan) size = sizeof(Path);
  if (IsA(path, IndexPath) && path->pathtype == T_IndexScan) size = sizeof(IndexPath);
  if (IsA(path, BitmapHeapPath)) size = sizeof(BitmapHeapPath);
  return size == 0 ? nullptr : static_cast<Path*>(memcpy(palloc(size), path, size));
}

}  // namespace

Node* over_other_side(const Node* expression, Index from, Index to) {
  auto* copy = static_cast<Node*>(copyObjectImpl(expression));
  ChangeVarNodes(copy, static_cast<int>(from), static_cast<int>(to), 0);
  return copy;
}

bool is_self_join(PlannerInfo* root, const RelOptInfo* outer, const RelOptInfo* inner, const JoinCondition& condition,
                  const JoinKeys& keys) {
  if (!only_reads(root) || !is_table_itself(root, outer) || !is_table_itself(root, inner)) return false;
  const RangeTblEntry* a = root->simple_rte_array[outer->relid];
  const RangeTblEntry* b = root->simple_rte_array[inner->relid];
  return is_plain_table(a) && is_plain_table(b) && a->relid == b->relid && have_equal_conditions(outer, inner) &&
         equal(over_other_side(condition.outer, outer->relid, inner->relid), condition.inner) &&
         equal(over_other_side(reinterpret_cast<Node*>(keys.outer), outer->relid, inner->relid), keys.inner) &&
         equal(keys.outer_hash, keys.inner_hash);
}

bool omits_itself(const RelOptInfo* outer, const RelOptInfo* inner, List* clauses) {
  ListCell* cell;
  foreach (cell, clauses) {
    auto* clause = reinterpret_cast<Node*>(static_cast<RestrictInfo*>(lfirst(cell))->clause);
    if (!IsA(clause, OpExpr) || !is_strict_comparison(reinterpret_cast<OpExpr*>(clause)->opno)) continue;
    if (contain_volatile_functions(clause) || contain_subplans(clause)) continue;
    List* sides = reinterpret_cast<OpExpr*>(clause)->args;
    if (equal(over_other_side(static_cast<Node*>(linitial(sides)), outer->relid, inner->relid),
              over_other_side(static_cast<Node*>(lsecond(sides)), outer->relid, inner->relid)))
      return true;
  }
  return false;
}

Path* path_for_both(PlannerInfo* root, const RelOptInfo* outer, const RelOptInfo* inner, const Path* path) {
  Path* both = copied_scan(path);
  if (both == nullptr) return nullptr;
  PathTarget* target = copy_pathtarget(path->pathtarget);
  ListCell* cell;
  foreach (cell, target->exprs)
    if (!IsA(lfirst(cell), Var)) return nullptr;
  foreach (cell, inner->reltarget->exprs) {
    if (!IsA(lfirst(cell), Var)) return nullptr;
    auto* column =
        reinterpret_cast<Expr*>(over_other_side(static_cast<Node*>(lfirst(cell)), inner->relid, outer->relid));
    add_new_column_to_pathtarget(target, column);
  }
  both->pathtarget = set_pathtarget_cost_width(root, target);
  return both;
}

}  // namespace neardup
