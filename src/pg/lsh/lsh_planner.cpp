// How `jaccard(sig, q) > t` reaches an lsh index.
//
// PostgreSQL asks support functions about clauses `key op expression` and `function(.., key, ..)` only. In
// `jaccard(sig, q) > 0.8` the key is an argument below a core operator, so nobody asks us. The hook below makes, for
// the time of one call of create_index_paths(), `jaccard_at_least(sig, q, 0.8)` out of it, which implies it but for the
// rows at 0.8 itself; PostgreSQL finds the index by the support function, with all that it knows about joins, bitmaps,
// partial and expression indexes, security. Afterwards the paths are made to refer to the clauses of the query again.
#include "pg/lsh/lsh_planner.h"

#include "pg/guc.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
}

namespace neardup {
namespace {

set_rel_pathlist_hook_type previous_hook = nullptr;

// The part of <%> that 1 - x may lose by rounding, and more.
constexpr double kDistanceSlack = 1e-12;

struct Derivation {
  const PlanMeasures* measures;
  List* originals;  // RestrictInfo, at the place of the one that was derived from it in:
  List* derived;
  List* calls;  // FuncExpr: the derived calls of at_least
};

// Derivation ---------------------------------------------------------------------------------------------------------

// The two values whose similarity, or distance, the expression is. False for other expressions.
bool measured(const Derivation& d, Node* node, const PlanMeasure** measure, bool* distance, List** values) {
  Oid function = InvalidOid;
  if (IsA(node, FuncExpr)) {
    function = reinterpret_cast<FuncExpr*>(node)->funcid;
    *values = reinterpret_cast<FuncExpr*>(node)->args;
  } else if (IsA(node, OpExpr)) {
    set_opfuncid(reinterpret_cast<OpExpr*>(node));
    function = reinterpret_cast<OpExpr*>(node)->opfuncid;
    *values = reinterpret_cast<OpExpr*>(node)->args;
  }
  if (!OidIsValid(function) || list_length(*values) != 2) return false;
  for (int i = 0; i < d.measures->n; ++i) {
    *measure = &d.measures->at[i];
    *distance = function == (*measure)->distance;
    if (function == (*measure)->similarity || *distance) return true;
  }
  return false;
}

// at_least(..) that is true wherever the comparison is; null for clauses of other forms.
FuncExpr* derive_comparison(Derivation* d, Node* clause) {
  if (!IsA(clause, OpExpr)) return nullptr;
  auto* op = reinterpret_cast<OpExpr*>(clause);
  if (list_length(op->args) != 2) return nullptr;
  set_opfuncid(op);
  bool greater;  // the left side is the greater one
  bool real_left = false;
  bool real_right = false;
  switch (op->opfuncid) {
    case F_FLOAT8GT:
    case F_FLOAT8GE:
      greater = true;
      break;
    case F_FLOAT8LT:
    case F_FLOAT8LE:
      greater = false;
      break;
    case F_FLOAT84GT:
    case F_FLOAT84GE:
      greater = real_right = true;
      break;
    case F_FLOAT84LT:
    case F_FLOAT84LE:
      greater = false;
      real_right = true;
      break;
    case F_FLOAT48GT:
    case F_FLOAT48GE:
      greater = real_left = true;
      break;
    case F_FLOAT48LT:
    case F_FLOAT48LE:
      greater = false;
      real_left = true;
      break;
    default:
      return nullptr;
  }
  Node* left = static_cast<Node*>(linitial(op->args));
  Node* right = static_cast<Node*>(lsecond(op->args));
  const PlanMeasure* measure;
  bool distance;
  List* values;
  Node* bound;
  bool real;
  // A similarity is on the greater side, a distance on the smaller one.
  if (measured(*d, left, &measure, &distance, &values) && greater != distance) {
    bound = right;
    real = real_right;
  } else if (measured(*d, right, &measure, &distance, &values) && greater == distance) {
    bound = left;
    real = real_left;
  } else {
    return nullptr;
  }
  if (real)
    bound = reinterpret_cast<Node*>(
        makeFuncExpr(F_FLOAT8_FLOAT4, FLOAT8OID, list_make1(bound), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST));
  if (distance) {
    // 1 - similarity < bound. LEAST takes the sting out of NaN, which no distance reaches, and of NULL.
    auto* least = makeNode(MinMaxExpr);
    least->minmaxtype = FLOAT8OID;
    least->op = IS_LEAST;
    least->args = list_make2(
        bound, makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(2.0), false, FLOAT8PASSBYVAL));
    least->location = -1;
    Node* one = reinterpret_cast<Node*>(makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
                                                  Float8GetDatum(1 - kDistanceSlack), false, FLOAT8PASSBYVAL));
    bound = reinterpret_cast<Node*>(
        makeFuncExpr(F_FLOAT8MI, FLOAT8OID, list_make2(one, least), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
  }
  if (real || distance) bound = eval_const_expressions(nullptr, bound);
  FuncExpr* call = makeFuncExpr(measure->at_least, BOOLOID, list_make3(linitial(values), lsecond(values), bound),
                                InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
  call->location = kDerivedLocation;
  d->calls = lappend(d->calls, call);
  return call;
}

bool is_leakproof(const Derivation& d, Node* clause) {
  for (int i = 0; i < d.measures->n; ++i)
    if (!get_func_leakproof(get_opcode(d.measures->at[i].condition)))
      return false;  // rechecked before all other conditions
  return !contain_leaked_vars(clause);
}

// A copy for another clause with the same variables. All that a version adds comes along; what was cached about the
// clause does not.
RestrictInfo* copy_for(const Derivation& d, const RestrictInfo* original, Expr* clause, Expr* orclause) {
  auto* copy = static_cast<RestrictInfo*>(palloc(sizeof(RestrictInfo)));
  memcpy(copy, original, sizeof(RestrictInfo));
  copy->clause = clause;
  copy->orclause = orclause;
  copy->can_join = false;
  copy->leakproof = copy->security_level > 0 && original->leakproof && is_leakproof(d, reinterpret_cast<Node*>(clause));
  copy->left_relids = copy->right_relids = nullptr;
  copy->parent_ec = nullptr;
  copy->eval_cost.startup = -1;
  copy->norm_selec = copy->outer_selec = -1;
  copy->mergeopfamilies = NIL;
  copy->left_ec = copy->right_ec = nullptr;
  copy->left_em = copy->right_em = nullptr;
  copy->scansel_cache = NIL;
  copy->outer_is_left = false;
  copy->hashjoinoperator = InvalidOid;
  copy->left_bucketsize = copy->right_bucketsize = -1;
  copy->left_mcvfreq = copy->right_mcvfreq = -1;
  return copy;
}

Node* derive(Derivation* d, Node* node);

// The list with its members derived; the same list when none was.
List* derive_list(Derivation* d, List* list) {
  List* result = NIL;
  bool changed = false;
  ListCell* cell;
  foreach (cell, list) {
    Node* member = static_cast<Node*>(lfirst(cell));
    Node* derived = derive(d, member);
    changed = changed || derived != member;
    result = lappend(result, derived);
  }
  if (changed) return result;
  list_free(result);
  return list;
}

Expr* without_restrictinfo(Node* node) {
  if (IsA(node, RestrictInfo)) return reinterpret_cast<RestrictInfo*>(node)->clause;
  if (!IsA(node, BoolExpr)) return reinterpret_cast<Expr*>(node);
  const auto* b = reinterpret_cast<BoolExpr*>(node);
  List* args = NIL;
  ListCell* cell;
  foreach (cell, b->args) args = lappend(args, without_restrictinfo(static_cast<Node*>(lfirst(cell))));
  return makeBoolExpr(b->boolop, args, b->location);
}

// node: a RestrictInfo, or AND or OR of such as RestrictInfo.orclause has them. The same pointer when nothing was
// derived.
Node* derive(Derivation* d, Node* node) {
  if (IsA(node, BoolExpr)) {
    auto* b = reinterpret_cast<BoolExpr*>(node);
    if (b->boolop == NOT_EXPR) return node;
    List* args = derive_list(d, b->args);
    return args == b->args ? node : reinterpret_cast<Node*>(makeBoolExpr(b->boolop, args, b->location));
  }
  if (!IsA(node, RestrictInfo)) return node;
  auto* rinfo = reinterpret_cast<RestrictInfo*>(node);
  if (rinfo->pseudoconstant) return node;
  RestrictInfo* copy;
  if (rinfo->orclause != nullptr) {
    Node* orclause = derive(d, reinterpret_cast<Node*>(rinfo->orclause));
    if (orclause == reinterpret_cast<Node*>(rinfo->orclause)) return node;
    copy = copy_for(*d, rinfo, without_restrictinfo(orclause), reinterpret_cast<Expr*>(orclause));
  } else {
    FuncExpr* call = derive_comparison(d, reinterpret_cast<Node*>(rinfo->clause));
    if (call == nullptr) return node;
    copy = copy_for(*d, rinfo, reinterpret_cast<Expr*>(call), nullptr);
  }
  d->originals = lappend(d->originals, rinfo);
  d->derived = lappend(d->derived, copy);
  return reinterpret_cast<Node*>(copy);
}

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

// Estimates ----------------------------------------------------------------------------------------------------------

bool is_base(const RelOptInfo* rel) {
  return rel->reloptkind == RELOPT_BASEREL || rel->reloptkind == RELOPT_OTHER_MEMBER_REL;
}

// The kind of join that the clause is a condition of, when that is a semi or anti join.
SpecialJoinInfo* semi_join_of(PlannerInfo* root, const RestrictInfo* clause) {
  ListCell* cell;
  foreach (cell, root->join_info_list) {
    auto* join = static_cast<SpecialJoinInfo*>(lfirst(cell));
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
  ListCell* cell;
  foreach (cell, clauses) {
    auto* original = lfirst_node(RestrictInfo, cell);
    Node* derived = derive(d, reinterpret_cast<Node*>(original));
    if (derived == reinterpret_cast<Node*>(original)) continue;
    if (!joins) {
      original->norm_selec = clause_selectivity(root, derived, 0, JOIN_INNER, nullptr);
      continue;
    }
    // A join's, for estimators that want to be told of one.
    SpecialJoinInfo inner{};
    inner.type = T_SpecialJoinInfo;
    inner.jointype = JOIN_INNER;
    inner.min_lefthand = inner.syn_lefthand = bms_make_singleton(bms_next_member(original->clause_relids, -1));
    inner.min_righthand = inner.syn_righthand = bms_difference(original->clause_relids, inner.min_lefthand);
    original->norm_selec = clause_selectivity(root, derived, 0, JOIN_INNER, &inner);
    SpecialJoinInfo* semi = semi_join_of(root, original);
    original->outer_selec =
        semi == nullptr ? original->norm_selec : clause_selectivity(root, derived, 0, semi->jointype, semi);
  }
}

void set_path_rows(RelOptInfo* rel, double before) {
  ListCell* cell;
  foreach (cell, rel->pathlist) {
    auto* path = static_cast<Path*>(lfirst(cell));
    if (path->param_info == nullptr && path->rows == before) path->rows = rel->rows;
  }
  foreach (cell, rel->partial_pathlist) {
    auto* path = static_cast<Path*>(lfirst(cell));
    path->rows = clamp_row_est(path->rows * rel->rows / before);
  }
}

// Rows of an append relation are those of its members.
bool sum_members(PlannerInfo* root, RelOptInfo* parent, const Bitmapset* changed) {
  double rows = 0;
  bool any = false;
  ListCell* cell;
  foreach (cell, root->append_rel_list) {
    const auto* link = static_cast<AppendRelInfo*>(lfirst(cell));
    if (link->parent_relid != parent->relid) continue;
    RelOptInfo* child = root->simple_rel_array[link->child_relid];
    if (child == nullptr || IS_DUMMY_REL(child)) continue;
    rows += child->rows;
    any = any || bms_is_member(static_cast<int>(child->relid), changed);
  }
  if (any && rows > 0) set_append_rows(parent, rows);
  return any && rows > 0;
}

// For all relations of the query level, once, at the first call of the hook: before that no path was made that joins or
// appends. Members of append relations have higher numbers than their parents.
void estimate_rows(PlannerInfo* root, const PlanMeasures* measures) {
  Derivation d{measures, NIL, NIL, NIL};
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
      // Not of the originals: a range `BETWEEN` two bounds would be taken as one of a plain number.
      List* derived = derive_list(&d, rel->baserestrictinfo);
      if (derived == rel->baserestrictinfo || rel->rtekind != RTE_RELATION || rel->fdwroutine != nullptr) continue;
      rel->rows = clamp_row_est(rel->tuples * clauselist_selectivity(root, derived, 0, JOIN_INNER, nullptr));
    }
    if (rel->rows == before) continue;
    changed = bms_add_member(changed, i);
    if (before > 0) set_path_rows(rel, before);
  }
}

// Paths --------------------------------------------------------------------------------------------------------------

// Can one of the derived calls be looked up in an index of the relation?
bool any_condition(PlannerInfo* root, RelOptInfo* rel, const Derivation& d) {
  ListCell* index_cell;
  foreach (index_cell, rel->indexlist) {
    auto* index = static_cast<IndexOptInfo*>(lfirst(index_cell));
    if (!is_lsh(index)) continue;
    ListCell* cell;
    foreach (cell, d.calls) {
      List* args = static_cast<FuncExpr*>(lfirst(cell))->args;
      for (int column = 0; column < index->nkeycolumns; ++column)
        for (int i = 0; i < 2; ++i)
          if (match_index_to_operand(static_cast<Node*>(list_nth(args, i)), column, index) &&
              index_condition(root, index, column, args, i, true) != nullptr)
            return true;
    }
  }
  return false;
}

bool may_use_index(const RelOptInfo* rel, const RangeTblEntry* rte) {
  if (!is_base(rel) || rte->rtekind != RTE_RELATION || rte->inh || rte->tablesample != nullptr) return false;
  if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) return false;
  ListCell* cell;
  foreach (cell, rel->indexlist)
    if (is_lsh(static_cast<IndexOptInfo*>(lfirst(cell)))) return true;
  return false;
}

// Makes index paths refer to the query's own clauses.
void restore_path(Path* path, const Derivation& d) {
  if (IsA(path, IndexPath)) {
    ListCell* cell;
    foreach (cell, reinterpret_cast<IndexPath*>(path)->indexclauses) {
      auto* clause = static_cast<IndexClause*>(lfirst(cell));
      clause->rinfo = static_cast<RestrictInfo*>(exchanged(clause->rinfo, d.derived, d.originals));
    }
  } else if (IsA(path, BitmapHeapPath)) {
    restore_path(reinterpret_cast<BitmapHeapPath*>(path)->bitmapqual, d);
  } else if (IsA(path, BitmapAndPath) || IsA(path, BitmapOrPath)) {
    List* members = IsA(path, BitmapAndPath) ? reinterpret_cast<BitmapAndPath*>(path)->bitmapquals
                                             : reinterpret_cast<BitmapOrPath*>(path)->bitmapquals;
    ListCell* cell;
    foreach (cell, members) restore_path(static_cast<Path*>(lfirst(cell)), d);
  }
}

void add_paths(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte, const PlanMeasures* measures) {
  const bool usable = may_use_index(rel, rte);
  if (!usable && rel->ppilist == NIL) return;
  Derivation d{measures, NIL, NIL, NIL};
  List* restrictions = rel->baserestrictinfo;
  List* joins = rel->joininfo;
  List* derived_restrictions = derive_list(&d, restrictions);
  List* derived_joins = derive_list(&d, joins);
  if (d.derived == NIL) return;

  rel->baserestrictinfo = derived_restrictions;
  rel->joininfo = derived_joins;
  // Sizes of parameterised paths, too, were made with a third.
  ListCell* cell;
  foreach (cell, rel->ppilist) {
    auto* info = static_cast<ParamPathInfo*>(lfirst(cell));
    exchange_members(info->ppi_clauses, d.originals, d.derived);
    info->ppi_rows = get_parameterized_baserel_size(root, rel, info->ppi_clauses);
  }
  foreach (cell, rel->pathlist) {
    auto* path = static_cast<Path*>(lfirst(cell));
    if (path->param_info != nullptr) path->rows = path->param_info->ppi_rows;
  }

  if (usable && any_condition(root, rel, d)) {
    List* saved = NIL;
    foreach (cell, rel->indexlist) {
      auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
      saved = lappend(saved, index->indrestrictinfo);
      // Without clauses that the index's predicate implies; the clauses are the same.
      index->indrestrictinfo = list_copy(index->indrestrictinfo);
      exchange_members(index->indrestrictinfo, d.originals, d.derived);
    }
    create_index_paths(root, rel);
    ListCell* saved_cell;
    forboth(cell, rel->indexlist, saved_cell, saved) {
      static_cast<IndexOptInfo*>(lfirst(cell))->indrestrictinfo = static_cast<List*>(lfirst(saved_cell));
    }
    foreach (cell, rel->pathlist) restore_path(static_cast<Path*>(lfirst(cell)), d);
    foreach (cell, rel->partial_pathlist) restore_path(static_cast<Path*>(lfirst(cell)), d);
  }

  rel->baserestrictinfo = restrictions;
  rel->joininfo = joins;
  foreach (cell, rel->ppilist)
    exchange_members(static_cast<ParamPathInfo*>(lfirst(cell))->ppi_clauses, d.derived, d.originals);
}

void lsh_set_rel_pathlist(PlannerInfo* root, RelOptInfo* rel, Index rti, RangeTblEntry* rte) {
  if (previous_hook != nullptr) previous_hook(root, rel, rti, rte);
  if (!guc_derive_conditions || IS_DUMMY_REL(rel)) return;
  PlanMeasures* measures = measures_of(root);
  if (measures->n == 0) return;
  if (!measures->rows_estimated) {
    measures->rows_estimated = true;
    estimate_rows(root, measures);
  }
  if (rel->baserestrictinfo != NIL || rel->joininfo != NIL) add_paths(root, rel, rte, measures);
}

}  // namespace

void install_planner_hook() {
  previous_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = lsh_set_rel_pathlist;
}

}  // namespace neardup
