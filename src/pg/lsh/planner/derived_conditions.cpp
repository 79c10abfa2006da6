// See derived_conditions.h.
#include "pg/lsh/planner/derived_conditions.h"

#include "pg/base/each.h"
#include "pg/lsh/planner/number_comparison.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/lsh/planner/lsh_support.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/paths.h"
}

namespace neardup {
namespace {

// The part of <%> that 1 - x may lose by rounding, and more.
constexpr double kDistanceSlack = 1e-12;

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

struct Measured {
  const PlanMeasure* measure;
  Node* values[2];
  bool complement;  // it is 1 - measure, an ordering operator of a similarity
  bool less;        // less is nearer
};

bool find_measure(const Derivation& d, Node* node, Measured* out) {
  node = without_cast(node);
  if (!two_arguments(node, &out->values[0], &out->values[1])) return false;
  const Oid function = IsA(node, FuncExpr) ? reinterpret_cast<FuncExpr*>(node)->funcid
                                           : get_opcode(reinterpret_cast<OpExpr*>(node)->opno);
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

// True if `measured comparison bound` keeps near values; strict: not those at the bound.
bool asks_for_near(const Measured& m, Comparison comparison, bool* strict) {
  *strict = comparison == (m.less ? Comparison::less : Comparison::greater);
  return *strict || comparison == Comparison::equal ||
         comparison == (m.less ? Comparison::less_or_equal : Comparison::greater_or_equal);
}

Comparison read_comparison(Node* clause, Node** left, Node** right) {
  if (!IsA(clause, OpExpr) || !two_arguments(clause, left, right)) return Comparison::none;
  return find_comparison(get_opcode(reinterpret_cast<OpExpr*>(clause)->opno));
}

// A predicate's call that is true wherever the comparison is; null for clauses of other forms.
FuncExpr* derive_comparison(Derivation* d, Node* clause) {
  Node* left;
  Node* right;
  const Comparison comparison = read_comparison(clause, &left, &right);
  if (comparison == Comparison::none) return nullptr;
  Measured m{};
  Node* bound;
  bool strict;
  if (find_measure(*d, left, &m) && asks_for_near(m, comparison, &strict))
    bound = right;
  else if (find_measure(*d, right, &m) && asks_for_near(m, turned(comparison), &strict))
    bound = left;
  else
    return nullptr;
  Whole whole = Whole::as_it_is;
  if (strict && m.measure->is_whole) whole = m.less ? Whole::below : Whole::above;
  Node* number = as_float8(bound, whole);
  if (number == nullptr) return nullptr;
  // Otherwise the bound is of another type, or rounded, or the measure is turned round.
  const bool exact = !m.complement && comparison != Comparison::equal && exprType(bound) != NUMERICOID &&
                     (!strict || m.measure->is_whole);
  // 1 - similarity < bound. LEAST takes the sting out of NaN, which no distance reaches, and of NULL.
  if (m.complement)
    number = call2(F_FLOAT8MI, FLOAT8OID, float8_const(1 - kDistanceSlack),
                   extreme(IS_LEAST, FLOAT8OID, number, float8_const(2.0)));
  if (number != bound) number = eval_const_expressions(nullptr, number);
  FuncExpr* call = makeFuncExpr(m.measure->predicate, BOOLOID, list_make3(m.values[0], m.values[1], number), InvalidOid,
                                InvalidOid, COERCE_EXPLICIT_CALL);
  call->location = exact ? kEqualCall : kImpliedCall;
  d->calls = lappend(d->calls, call);
  return call;
}

// `column = true` for a condition that is a boolean column of an lsh index, as PostgreSQL makes it of `column = true`;
// null for other clauses.
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
  for (auto* index : each<IndexOptInfo>(d->rel->indexlist)) {
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

FuncExpr* copied_predicate(Derivation* d, Node* clause) {
  if (!IsA(clause, FuncExpr) || d->measures->find(reinterpret_cast<FuncExpr*>(clause)->funcid) == nullptr)
    return nullptr;
  auto* call = static_cast<FuncExpr*>(palloc(sizeof(FuncExpr)));
  memcpy(call, clause, sizeof(FuncExpr));
  d->calls = lappend(d->calls, call);
  return call;
}

bool is_leakproof(const Derivation& d, const RestrictInfo* original, Expr* derived) {
  if (!IsA(derived, FuncExpr)) return reveals_nothing(reinterpret_cast<Node*>(derived));
  const auto* call = reinterpret_cast<FuncExpr*>(derived);
  if (is_guarded(call->location)) return reveals_nothing(reinterpret_cast<Node*>(call->args));
  // Operators of 0.2.0 have no twins, and its labels say that none is needed.
  const PlanMeasure* measure = d.measures->find(call->funcid);
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
  // An operator's quiet twin has the same sides; an index is asked for one only if the other has no column of its row.
  if (!IsA(clause, OpExpr)) copy->left_relids = copy->right_relids = nullptr;
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
  for (const auto* index : each<IndexOptInfo>(d->rel->indexlist)) {
    Expr* quiet = is_lsh(index) ? quiet_call(index->opfamily[planned_value_column(index)], clause) : nullptr;
    if (quiet == nullptr) continue;
    d->matched = true;
    return quiet;
  }
  return nullptr;
}

// The condition of an index that may be evaluated before row security; null: none.
Expr* derive_guarded(Derivation* d, Node* clause) {
  FuncExpr* call = derive_comparison(d, clause);
  int origin = kGuardedCall;
  if (call == nullptr) {
    call = copied_predicate(d, clause);
    origin = kGuardedUsersCall;
  }
  if (call == nullptr) return derive_quiet_call(d, clause);
  if (OidIsValid(d->measures->find(call->funcid)->quiet)) call->location = origin;
  return reinterpret_cast<Expr*>(call);
}

Expr* without_restrictinfo(Node* node) {
  if (IsA(node, RestrictInfo)) return reinterpret_cast<RestrictInfo*>(node)->clause;
  if (!IsA(node, BoolExpr)) return reinterpret_cast<Expr*>(node);
  const auto* b = reinterpret_cast<BoolExpr*>(node);
  List* args = NIL;
  for (auto* member : each<Node>(b->args)) args = lappend(args, without_restrictinfo(member));
  return makeBoolExpr(b->boolop, args, b->location);
}

}  // namespace

List* derive_list(Derivation* d, List* list) {
  List* result = NIL;
  bool changed = false;
  for (auto* member : each<Node>(list)) {
    Node* derived = derive(d, member);
    changed = changed || derived != member;
    result = lappend(result, derived);
  }
  if (changed) return result;
  list_free(result);
  return list;
}

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

FuncExpr* implied_call(const PlanMeasures* measures, Node* clause) {
  Derivation d{measures, NIL, NIL, NIL, NIL, nullptr, false};
  FuncExpr* call = derive_comparison(&d, clause);
  return call != nullptr ? call : copied_predicate(&d, clause);
}

bool compares_measure(const PlanMeasures* measures, Node* clause) {
  Node* left;
  Node* right;
  if (read_comparison(clause, &left, &right) == Comparison::none) return false;
  const Derivation d{measures, NIL, NIL, NIL, NIL, nullptr, false};
  Measured m{};
  return find_measure(d, left, &m) || find_measure(d, right, &m);
}

}  // namespace neardup
