// See row_estimates.h.
#include "pg/lsh/planner/row_estimates.h"

#include "pg/base/each.h"
#include "pg/lsh/planner/derived_conditions.h"

namespace neardup {
namespace {

SpecialJoinInfo* find_semi_join(PlannerInfo* root, const RestrictInfo* clause) {
  for (auto* join : each<SpecialJoinInfo>(root->join_info_list)) {
    if ((join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI) &&
        bms_overlap(clause->clause_relids, join->syn_righthand) &&
        bms_overlap(clause->clause_relids, join->syn_lefthand))
      return join;
  }
  return nullptr;
}

// PostgreSQL takes a third for a comparison of an expression. What we know of the derived clause goes where it looks
// first: the selectivity cached with the clause of the query.
void set_clause_selectivities(PlannerInfo* root, Derivation* d, List* clauses, bool joins) {
  for (auto* original : each<RestrictInfo>(clauses)) {
    Node* derived = derive(d, reinterpret_cast<Node*>(original));
    if (derived == reinterpret_cast<Node*>(original)) continue;
    if (!joins) {
      original->norm_selec = clause_selectivity(root, derived, 0, JOIN_INNER, nullptr);
      continue;
    }
    // The ON of an outer join may hold a condition on no table, or on one.
    if (bms_membership(original->clause_relids) != BMS_MULTIPLE) {
      original->norm_selec = original->outer_selec = clause_selectivity(root, derived, 0, JOIN_INNER, nullptr);
      continue;
    }
    // A join's, for estimators that want to be told of one.
    SpecialJoinInfo inner{};
    inner.type = T_SpecialJoinInfo;
    inner.jointype = JOIN_INNER;
    inner.min_lefthand = inner.syn_lefthand = bms_make_singleton(bms_next_member(original->clause_relids, -1));
    inner.min_righthand = inner.syn_righthand = bms_difference(original->clause_relids, inner.min_lefthand);
    original->norm_selec = clause_selectivity(root, derived, 0, JOIN_INNER, &inner);
    SpecialJoinInfo* semi = find_semi_join(root, original);
    int table;
    if (semi == nullptr) {
      original->outer_selec = original->norm_selec;
    } else if (original->orclause == nullptr || bms_get_singleton_member(semi->min_righthand, &table)) {
      original->outer_selec = clause_selectivity(root, derived, 0, semi->jointype, semi);
    }  // else other operators of the OR would ask for the size of a join that is not planned yet
  }
}

void set_path_rows(RelOptInfo* rel, double before) {
  for (auto* path : each<Path>(rel->pathlist)) {
    if (path->param_info == nullptr && path->rows == before) path->rows = rel->rows;
  }
  for (auto* path : each<Path>(rel->partial_pathlist)) {
    path->rows = clamp_row_est(path->rows * rel->rows / before);
  }
}

// Rows of an append relation are those of its members.
bool sum_members(PlannerInfo* root, RelOptInfo* parent, const Bitmapset* changed) {
  double rows = 0;
  bool any = false;
  for (const auto* link : each<AppendRelInfo>(root->append_rel_list)) {
    if (link->parent_relid != parent->relid) continue;
    RelOptInfo* child = root->simple_rel_array[link->child_relid];
    if (child == nullptr || IS_DUMMY_REL(child)) continue;
    rows += child->rows;
    any = any || bms_is_member(static_cast<int>(child->relid), changed);
  }
  if (any && rows > 0) set_append_rows(parent, rows);
  return any && rows > 0;
}

}  // namespace

// Members of append relations have higher numbers than their parents.
void estimate_rows(PlannerInfo* root, const PlanMeasures* measures) {
  Derivation d{measures, NIL, NIL, NIL, NIL, nullptr, false};
  Bitmapset* changed = nullptr;
  for (int i = root->simple_rel_array_size - 1; i > 0; --i) {
    RelOptInfo* rel = root->simple_rel_array[i];
    if (rel == nullptr || !is_base(rel) || IS_DUMMY_REL(rel)) continue;
    const double before = rel->rows;
    set_clause_selectivities(root, &d, rel->joininfo, true);
    set_clause_selectivities(root, &d, rel->baserestrictinfo, false);
    if (root->simple_rte_array[i]->inh) {
      if (!sum_members(root, rel, changed)) continue;
    } else {
      // A range `BETWEEN` two bounds of the originals would be taken as one of a plain number.
      List* derived = derive_list(&d, rel->baserestrictinfo);
      if (derived == rel->baserestrictinfo || rel->rtekind != RTE_RELATION || rel->fdwroutine != nullptr) continue;
      rel->rows = clamp_row_est(rel->tuples * clauselist_selectivity(root, derived, 0, JOIN_INNER, nullptr));
    }
    if (rel->rows == before) continue;
    changed = bms_add_member(changed, i);
    if (before > 0) set_path_rows(rel, before);
  }
}

}  // namespace neardup
