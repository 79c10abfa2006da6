// How `jaccard(sig, q) > t` reaches an lsh index.
//
// PostgreSQL asks support functions about clauses `key op expression` and `function(.., key, ..)` only. In
// `jaccard(sig, q) > 0.8` (or `hamming(hash, q) <= 3`, and so on) the key is an argument below a core operator, so nobody asks us. The hook below makes, for
// the time of one call of create_index_paths(), `jaccard_at_least(sig, q, 0.8)` out of it, which implies it but for the
// rows at 0.8 itself; PostgreSQL finds the index by the support function, with all that it knows about joins, bitmaps,
// partial and expression indexes, security. Afterwards the paths are made to refer to the clauses of the query again.
#include "core/lsh/lsh_query.h"
#include "core/lsh/pair_sample.h"
#include "pg/lsh/planner/lsh_planner.h"

#include "pg/base/guc.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/builtins.h"
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
  List* calls;            // FuncExpr: the derived calls of predicates
  List* guarded;          // members of derived that are evaluated before row security
  const RelOptInfo* rel;  // whose boolean columns and guarded clauses are looked for; null: of none
  bool matched;           // a clause other than a call was derived, which an index of the relation matches
};

// Derivation ---------------------------------------------------------------------------------------------------------

// A number of another type is compared with the measure, or the measure is made one for it.
Node* without_cast(Node* node) {
  if (!IsA(node, FuncExpr)) return node;
  const auto* cast = reinterpret_cast<FuncExpr*>(node);
  switch (cast->funcid) {
    case F_FLOAT8_INT4:
    case F_INT8_INT4:
    case F_NUMERIC_INT4:
      return static_cast<Node*>(linitial(cast->args));
    default:
      return node;
  }
}

// How an expression says how near two values are.
struct Measured {
  const PlanMeasure* measure;
  List* values;     // the two
  bool complement;  // it is 1 - measure, an ordering operator of a similarity
  bool less;        // less is nearer
};

// False for other expressions.
bool measured(const Derivation& d, Node* node, Measured* out) {
  node = without_cast(node);
  Oid function = InvalidOid;
  if (IsA(node, FuncExpr)) {
    function = reinterpret_cast<FuncExpr*>(node)->funcid;
    out->values = reinterpret_cast<FuncExpr*>(node)->args;
  } else if (IsA(node, OpExpr)) {
    set_opfuncid(reinterpret_cast<OpExpr*>(node));
    function = reinterpret_cast<OpExpr*>(node)->opfuncid;
    out->values = reinterpret_cast<OpExpr*>(node)->args;
  }
  if (!OidIsValid(function) || list_length(out->values) != 2) return false;
  for (int i = 0; i < d.measures->n; ++i) {
    const PlanMeasure* m = &d.measures->at[i];
    if (function != m->function && function != m->order) continue;
    out->measure = m;
    out->complement = !m->is_distance && function == m->order;
    out->less = m->is_distance || out->complement;
    return true;
  }
  return false;
}

enum class Comparison { none, less, less_or_equal, greater, greater_or_equal, equal };

// Of two numbers.
Comparison comparison_of(Oid function) {
  switch (function) {
    case F_FLOAT8GT:
    case F_FLOAT84GT:
    case F_FLOAT48GT:
    case F_INT4GT:
    case F_INT42GT:
    case F_INT24GT:
    case F_INT48GT:
    case F_INT84GT:
    case F_INT8GT:
    case F_NUMERIC_GT:
      return Comparison::greater;
    case F_FLOAT8GE:
    case F_FLOAT84GE:
    case F_FLOAT48GE:
    case F_INT4GE:
    case F_INT42GE:
    case F_INT24GE:
    case F_INT48GE:
    case F_INT84GE:
    case F_INT8GE:
    case F_NUMERIC_GE:
      return Comparison::greater_or_equal;
    case F_FLOAT8LT:
    case F_FLOAT84LT:
    case F_FLOAT48LT:
    case F_INT4LT:
    case F_INT42LT:
    case F_INT24LT:
    case F_INT48LT:
    case F_INT84LT:
    case F_INT8LT:
    case F_NUMERIC_LT:
      return Comparison::less;
    case F_FLOAT8LE:
    case F_FLOAT84LE:
    case F_FLOAT48LE:
    case F_INT4LE:
    case F_INT42LE:
    case F_INT24LE:
    case F_INT48LE:
    case F_INT84LE:
    case F_INT8LE:
    case F_NUMERIC_LE:
      return Comparison::less_or_equal;
    case F_FLOAT8EQ:
    case F_FLOAT84EQ:
    case F_FLOAT48EQ:
    case F_INT4EQ:
    case F_INT42EQ:
    case F_INT24EQ:
    case F_INT48EQ:
    case F_INT84EQ:
    case F_INT8EQ:
    case F_NUMERIC_EQ:
      return Comparison::equal;
    default:
      return Comparison::none;
  }
}

// With the sides exchanged.
Comparison turned(Comparison c) {
  switch (c) {
    case Comparison::less:
      return Comparison::greater;
    case Comparison::less_or_equal:
      return Comparison::greater_or_equal;
    case Comparison::greater:
      return Comparison::less;
    case Comparison::greater_or_equal:
      return Comparison::less_or_equal;
    default:
      return c;
  }
}

// Whether `measured comparison bound` keeps near values; strict: not those at the bound.
bool asks_for_near(const Measured& m, Comparison comparison, bool* strict) {
  *strict = comparison == (m.less ? Comparison::less : Comparison::greater);
  return *strict || comparison == Comparison::equal ||
         comparison == (m.less ? Comparison::less_or_equal : Comparison::greater_or_equal);
}

// A whole number is below x where it is at most ceil(x) - 1, and above x where it is at least floor(x) + 1.
enum class Whole { as_it_is, below, above };

Node* call1(Oid function, Oid result, Node* argument) {
  return reinterpret_cast<Node*>(
      makeFuncExpr(function, result, list_make1(argument), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST));
}

Node* call2(Oid function, Oid result, Node* a, Node* b) {
  return reinterpret_cast<Node*>(
      makeFuncExpr(function, result, list_make2(a, b), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

Node* float8_const(double value) {
  return reinterpret_cast<Node*>(
      makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(value), false, FLOAT8PASSBYVAL));
}

Node* int4_const(int32 value) {
  return reinterpret_cast<Node*>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true));
}

Node* numeric_const(int64 value) {
  return reinterpret_cast<Node*>(makeConst(NUMERICOID, -1, InvalidOid, -1,
                                           DirectFunctionCall1(int8_numeric, Int64GetDatum(value)), false, false));
}

Node* extreme(MinMaxOp op, Oid type, Node* a, Node* b) {
  auto* node = makeNode(MinMaxExpr);
  node->minmaxtype = type;
  node->op = op;
  node->args = list_make2(a, b);
  node->location = -1;
  return reinterpret_cast<Node*>(node);
}

// The number as float8, without an error whatever it is; null for other types. Rounding is monotone and leaves whole
// numbers of a measure's size as they are, so that a comparison with `or equal` loses no row by it.
Node* as_float8(Node* bound, Whole whole) {
  if (exprType(bound) == NUMERICOID) {
    // Beyond the range of float8 a cast fails, and so near 0. LEAST and GREATEST pass over NULL, which has to stay one.
    constexpr int64 kFar = 1000000;
    constexpr int32 kDigits = 20;
    Node* number = extreme(IS_LEAST, NUMERICOID, extreme(IS_GREATEST, NUMERICOID, bound, numeric_const(-kFar)),
                           numeric_const(kFar));
    if (whole == Whole::below)
      number = call2(F_NUMERIC_SUB, NUMERICOID, call1(F_CEIL_NUMERIC, NUMERICOID, number), numeric_const(1));
    if (whole == Whole::above)
      number = call2(F_NUMERIC_ADD, NUMERICOID, call1(F_FLOOR_NUMERIC, NUMERICOID, number), numeric_const(1));
    number = call2(F_ROUND_NUMERIC_INT4, NUMERICOID, number, int4_const(kDigits));
    auto* is_null = makeNode(NullTest);
    is_null->arg = reinterpret_cast<Expr*>(bound);
    is_null->nulltesttype = IS_NULL;
    is_null->location = -1;
    auto* when = makeNode(CaseWhen);
    when->expr = reinterpret_cast<Expr*>(is_null);
    when->result = reinterpret_cast<Expr*>(makeNullConst(FLOAT8OID, -1, InvalidOid));
    when->location = -1;
    auto* choice = makeNode(CaseExpr);
    choice->casetype = FLOAT8OID;
    choice->args = list_make1(when);
    choice->defresult = reinterpret_cast<Expr*>(call1(F_FLOAT8_NUMERIC, FLOAT8OID, number));
    choice->location = -1;
    return reinterpret_cast<Node*>(choice);
  }
  Node* number;
  switch (exprType(bound)) {
    case FLOAT8OID:
      number = bound;
      break;
    case FLOAT4OID:
      number = call1(F_FLOAT8_FLOAT4, FLOAT8OID, bound);
      break;
    case INT2OID:
      number = call1(F_FLOAT8_INT2, FLOAT8OID, bound);
      break;
    case INT4OID:
      number = call1(F_FLOAT8_INT4, FLOAT8OID, bound);
      break;
    case INT8OID:
      number = call1(F_FLOAT8_INT8, FLOAT8OID, bound);
      break;
    default:
      return nullptr;
  }
  if (whole == Whole::below)
    return call2(F_FLOAT8MI, FLOAT8OID, call1(F_CEIL_FLOAT8, FLOAT8OID, number), float8_const(1));
  if (whole == Whole::above)
    return call2(F_FLOAT8PL, FLOAT8OID, call1(F_FLOOR_FLOAT8, FLOAT8OID, number), float8_const(1));
  return number;
}

// A predicate's call that is true wherever the comparison is; null for clauses of other forms.
FuncExpr* derive_comparison(Derivation* d, Node* clause) {
  if (!IsA(clause, OpExpr)) return nullptr;
  auto* op = reinterpret_cast<OpExpr*>(clause);
  if (list_length(op->args) != 2) return nullptr;
  set_opfuncid(op);
  const Comparison comparison = comparison_of(op->opfuncid);
  if (comparison == Comparison::none) return nullptr;
  Node* left = static_cast<Node*>(linitial(op->args));
  Node* right = static_cast<Node*>(lsecond(op->args));
  Measured m{};
  Node* bound;
  bool strict;
  if (measured(*d, left, &m) && asks_for_near(m, comparison, &strict))
    bound = right;
  else if (measured(*d, right, &m) && asks_for_near(m, turned(comparison), &strict))
    bound = left;
  else
    return nullptr;
  Whole whole = Whole::as_it_is;
  if (strict && m.measure->is_whole) whole = m.less ? Whole::below : Whole::above;
  Node* number = as_float8(bound, whole);
  if (number == nullptr) return nullptr;
  // What it is derived from is of another type, or rounded, or the other way round.
  const bool exact = !m.complement && comparison != Comparison::equal && exprType(bound) != NUMERICOID &&
                     (!strict || m.measure->is_whole);
  // 1 - similarity < bound. LEAST takes the sting out of NaN, which no distance reaches, and of NULL.
  if (m.complement)
    number = call2(F_FLOAT8MI, FLOAT8OID, float8_const(1 - kDistanceSlack),
                   extreme(IS_LEAST, FLOAT8OID, number, float8_const(2.0)));
  if (number != bound) number = eval_const_expressions(nullptr, number);
  FuncExpr* call = makeFuncExpr(m.measure->predicate, BOOLOID, list_make3(linitial(m.values), lsecond(m.values), number),
                                InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
  call->location = exact ? kEqualCall : kImpliedCall;
  d->calls = lappend(d->calls, call);
  return call;
}

// `column = true` for a condition that is a boolean column of an lsh index, as PostgreSQL makes it of `column = true`; null
// for other clauses.
Expr* derive_boolean(Derivation* d, Node* clause) {
  if (kPlannerFindsBooleans || d->rel == nullptr) return nullptr;
  bool wanted = true;
  if (is_notclause(clause)) {
    wanted = false;
    clause = reinterpret_cast<Node*>(get_notclausearg(reinterpret_cast<Expr*>(clause)));
  } else if (IsA(clause, BooleanTest)) {
    const auto* test = reinterpret_cast<BooleanTest*>(clause);
    if (test->booltesttype != IS_TRUE && test->booltesttype != IS_FALSE) return nullptr;
    wanted = test->booltesttype == IS_TRUE;
    clause = reinterpret_cast<Node*>(test->arg);
  }
  ListCell* cell;
  foreach (cell, d->rel->indexlist) {
    auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
    if (!is_lsh(index)) continue;
    for (int column = 0; column < planned_value_column(index); ++column) {
      if (index->opcintype[column] != BOOLOID || !match_index_to_operand(clause, column, index)) continue;
      d->matched = true;
      return make_opclause(BooleanEqualOperator, BOOLOID, false, reinterpret_cast<Expr*>(clause),
                           reinterpret_cast<Expr*>(makeBoolConst(wanted, false)), InvalidOid, InvalidOid);
    }
  }
  return nullptr;
}

// A copy of the clause, if that is a call of a predicate.
FuncExpr* copied_predicate(Derivation* d, Node* clause) {
  if (!IsA(clause, FuncExpr) || d->measures->of(reinterpret_cast<FuncExpr*>(clause)->funcid) == nullptr) return nullptr;
  auto* call = static_cast<FuncExpr*>(palloc(sizeof(FuncExpr)));
  memcpy(call, clause, sizeof(FuncExpr));
  d->calls = lappend(d->calls, call);
  return call;
}

// Whether what was derived of the clause may be evaluated before row security.
bool is_leakproof(const Derivation& d, const RestrictInfo* original, Expr* derived) {
  if (!IsA(derived, FuncExpr)) return tells_nothing(reinterpret_cast<Node*>(derived));
  const auto* call = reinterpret_cast<FuncExpr*>(derived);
  if (is_guarded(call->location)) return tells_nothing(reinterpret_cast<Node*>(call->args));
  // Operators of 0.2.0 have no twins, and its labels say that none is needed.
  const PlanMeasure* measure = d.measures->of(call->funcid);
  return original->leakproof && get_func_leakproof(get_opcode(measure->condition)) &&
         !contain_leaked_vars(reinterpret_cast<Node*>(derived));
}

// A copy for another clause with the same variables. All that a version adds comes along; what was cached about the
// clause does not.
RestrictInfo* copy_for(const RestrictInfo* original, Expr* clause, Expr* orclause, bool leakproof) {
  auto* copy = static_cast<RestrictInfo*>(palloc(sizeof(RestrictInfo)));
  memcpy(copy, original, sizeof(RestrictInfo));
  copy->clause = clause;
  copy->orclause = orclause;
  copy->can_join = false;
  copy->leakproof = leakproof;
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

// The clause with a quiet twin that an lsh index of the relation knows; else null.
Expr* derive_quiet_call(Derivation* d, Node* clause) {
  ListCell* cell;
  foreach (cell, d->rel->indexlist) {
    const auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
    Expr* quiet = is_lsh(index) ? quiet_call(index->opfamily[planned_value_column(index)], clause) : nullptr;
    if (quiet == nullptr) continue;
    d->matched = true;
    return quiet;
  }
  return nullptr;
}

// What an index may be asked for the clause before row security; null: nothing.
Expr* derive_guarded(Derivation* d, Node* clause) {
  FuncExpr* call = derive_comparison(d, clause);
  int origin = kGuardedCall;
  if (call == nullptr) {
    call = copied_predicate(d, clause);
    origin = kGuardedUsersCall;
  }
  if (call == nullptr) return derive_quiet_call(d, clause);
  if (OidIsValid(d->measures->of(call->funcid)->quiet)) call->location = origin;
  return reinterpret_cast<Expr*>(call);
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
    copy = copy_for(rinfo, without_restrictinfo(orclause), reinterpret_cast<Expr*>(orclause), false);
  } else {
    Node* clause = reinterpret_cast<Node*>(rinfo->clause);
    const bool guarded = d->rel != nullptr && rinfo->security_level > d->rel->baserestrict_min_security;
    Expr* derived = guarded ? derive_guarded(d, clause) : reinterpret_cast<Expr*>(derive_comparison(d, clause));
    if (derived == nullptr) derived = derive_boolean(d, clause);
    if (derived == nullptr) return node;
    const bool leakproof = guarded && is_leakproof(*d, rinfo, derived);
    if (guarded && !leakproof) return node;
    copy = copy_for(rinfo, derived, nullptr, leakproof);
    if (guarded) d->guarded = lappend(d->guarded, copy);
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
    // Of no table, or of one: the ON of an outer join may hold such a condition, too.
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
    SpecialJoinInfo* semi = semi_join_of(root, original);
    int table;
    if (semi == nullptr) {
      original->outer_selec = original->norm_selec;
    } else if (original->orclause == nullptr || bms_get_singleton_member(semi->min_righthand, &table)) {
      original->outer_selec = clause_selectivity(root, derived, 0, semi->jointype, semi);
    }  // else other operators of the OR would ask for the size of a join that is not planned yet
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
      const auto* call = static_cast<FuncExpr*>(lfirst(cell));
      List* args = call->args;
      bool exact;
      for (int column = 0; column < index->nkeycolumns; ++column)
        for (int i = 0; i < 2; ++i)
          if (match_index_to_operand(static_cast<Node*>(list_nth(args, i)), column, index) &&
              index_condition(root, index, column, call->funcid, args, i, call->location, &exact) != nullptr)
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

// Makes index paths refer to the query's own clauses; those that come before row security, to what the index was asked,
// since a bitmap's rows are checked by it. The query's own clause is no part of such a path and stays a filter.
void restore_path(Path* path, const Derivation& d) {
  if (IsA(path, IndexPath)) {
    ListCell* cell;
    foreach (cell, reinterpret_cast<IndexPath*>(path)->indexclauses) {
      auto* clause = static_cast<IndexClause*>(lfirst(cell));
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
    ListCell* cell;
    foreach (cell, members) restore_path(static_cast<Path*>(lfirst(cell)), d);
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

  if (usable && (d.matched || any_condition(root, rel, d))) {
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

// Estimates of the query's measures, and the paths that an index makes of them.
void add_derived(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte) {
  if (!guc_derive_conditions || IS_DUMMY_REL(rel)) return;
  PlanMeasures* measures = measures_of(root);
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
  ListCell* cell;
  foreach (cell, reinterpret_cast<const BitmapAndPath*>(path)->bitmapquals)
    if (searches(static_cast<const Path*>(lfirst(cell)))) return true;
  return false;
}

// A search by an lsh index that costs less than to start workers.
bool is_short_search(const Path* path) {
  return path->param_info == nullptr && path->total_cost < parallel_setup_cost && searches(path);
}

// The searches of many partitions together seem worth workers: each is charged some eighty pages from disk, as PostgreSQL does
// for all indexes. But they take a tenth of a millisecond each, and workers ten to start.
void keep_from_workers(RelOptInfo* rel) {
  if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL) return;
  ListCell* cell;
  foreach (cell, rel->pathlist) {
    auto* path = static_cast<Path*>(lfirst(cell));
    if (is_short_search(path)) path->parallel_safe = false;
  }
  foreach (cell, rel->partial_pathlist)
    if (is_short_search(static_cast<const Path*>(lfirst(cell))))
      rel->partial_pathlist = foreach_delete_current(rel->partial_pathlist, cell);
}

void lsh_set_rel_pathlist(PlannerInfo* root, RelOptInfo* rel, Index rti, RangeTblEntry* rte) {
  if (previous_hook != nullptr) previous_hook(root, rel, rti, rte);
  add_derived(root, rel, rte);
  guard_orders(root, rel);
  keep_from_workers(rel);
}

}  // namespace

FuncExpr* implied_call(const PlanMeasures* measures, Node* clause) {
  Derivation d{measures, NIL, NIL, NIL, NIL, nullptr, false};
  FuncExpr* call = derive_comparison(&d, clause);
  return call != nullptr ? call : copied_predicate(&d, clause);
}

void install_planner_hook() {
  previous_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = lsh_set_rel_pathlist;
}

}  // namespace neardup
