// See derived_conditions.h.
#include "pg/lsh/planner/derived_conditions.h"

#include "pg/lsh/planner/number_comparison.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/lsh/planner/lsh_support.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/builtins.h"
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

// Whether `measured comparison bound` keeps near values; strict: not those at the bound.
bool asks_for_near(const Measured& m, Comparison comparison, bool* strict) {
  *strict = comparison == (m.less ? Comparison::less : Comparison::greater);
  return *strict || comparison == Comparison::equal ||
         comparison == (m.less ? Comparison::less_or_equal : Comparison::greater_or_equal);
}

// A predicate's call that is true wherever the comparison is; null for clauses of other forms.
FuncExpr* derive_comparison(Derivation* d, Node* clause) {
  if (!IsA(clause, OpExpr)) return nullptr;
  auto* op = reinterpret_cast<OpExpr*>(clause);
  if (list_length(op->args) != 2) return nullptr;
  set_opfuncid(op);
  const Comparison comparison = find_comparison(op->opfuncid);
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
  FuncExpr* call =
      makeFuncExpr(m.measure->predicate, BOOLOID, list_make3(linitial(m.values), lsecond(m.values), number), InvalidOid,
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
  if (!IsA(clause, FuncExpr) || d->measures->find(reinterpret_cast<FuncExpr*>(clause)->funcid) == nullptr)
    return nullptr;
  auto* call = static_cast<FuncExpr*>(palloc(sizeof(FuncExpr)));
  memcpy(call, clause, sizeof(FuncExpr));
  d->calls = lappend(d->calls, call);
  return call;
}

// Whether what was derived of the clause may be evaluated before row security.
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
  if (OidIsValid(d->measures->find(call->funcid)->quiet)) call->location = origin;
  return reinterpret_cast<Expr*>(call);
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

}  // namespace

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
  if (!IsA(clause, OpExpr)) return false;
  auto* op = reinterpret_cast<OpExpr*>(clause);
  set_opfuncid(op);
  if (list_length(op->args) != 2 || find_comparison(op->opfuncid) == Comparison::none) return false;
  const Derivation d{measures, NIL, NIL, NIL, NIL, nullptr, false};
  Measured m{};
  return measured(d, static_cast<Node*>(linitial(op->args)), &m) ||
         measured(d, static_cast<Node*>(lsecond(op->args)), &m);
}

}  // namespace neardup
