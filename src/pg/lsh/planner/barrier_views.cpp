// Conditions on a view that is a security barrier. PostgreSQL hands only leakproof ones on into such a view, and those
// of a query on signatures raise errors. So before a query is planned each of them gets a companion: its quiet twin
// (family.h), which it implies, and which goes into the view by itself. The query's own condition stays outside.
#include "pg/lsh/planner/barrier_views.h"

#include "pg/base/each.h"
#include "pg/base/guc.h"
#include "pg/lsh/planner/derived_conditions.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/lsh/planner/lsh_support.h"
#include "pg/lsh/planner/facts/plan_measures.h"

extern "C" {
#include "access/transam.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
}

namespace neardup {
namespace {

planner_hook_type previous_hook = nullptr;

struct Knowledge {
  bool read;
  List* families;
  PlanMeasures measures;
};

void read_classes(Knowledge* k) {
  if (k->read) return;
  k->read = true;
  k->families = add_all_measures(&k->measures);
}

bool has_barrier(const Query* query);

bool is_barrier(const RangeTblEntry* rte) {
  return rte->rtekind == RTE_SUBQUERY && (rte->security_barrier || has_barrier(rte->subquery));
}

bool has_barrier(const Query* query) {
  for (auto* rte : each<RangeTblEntry>(query->rtable))
    if (is_barrier(rte)) return true;
  return false;
}

// A value of one such view, and of nothing else, that may be looked at there.
bool is_of_barrier(const Query* query, Node* node) {
  int relation;
  Relids relids = pull_varnos(nullptr, node);
  return bms_get_singleton_member(relids, &relation) && is_barrier(rt_fetch(relation, query->rtable)) &&
         reveals_nothing(node);
}

// A value that is the same for each row.
bool is_outside(Node* node) { return !contain_vars_of_level(node, 0) && !contain_volatile_functions(node); }

// `key %>? query` for a predicate's call.
Expr* quiet_condition(const Query* query, const PlanMeasure* measure, const FuncExpr* call) {
  if (!OidIsValid(measure->quiet)) return nullptr;
  Node* bound = static_cast<Node*>(lthird(call->args));
  // A predicate of the query refuses bounds, whichever rows there are.
  const bool users_own = is_users_own(call->location);
  for (int i = 0; i < 2; ++i) {
    Node* key = static_cast<Node*>(list_nth(call->args, i));
    Node* value = static_cast<Node*>(list_nth(call->args, 1 - i));
    if (!is_of_barrier(query, key) || !is_outside(value) || !is_outside(bound)) continue;
    const bool is_strict = users_own && OidIsValid(measure->strict_maker(i));
    const Oid maker = is_strict ? measure->strict_maker(i) : measure->maker(i);
    FuncExpr* wanted = makeFuncExpr(maker, measure->query_type, list_make2(value, bound), InvalidOid, InvalidOid,
                                    COERCE_EXPLICIT_CALL);
    return make_opclause(measure->quiet, BOOLOID, false, reinterpret_cast<Expr*>(key), reinterpret_cast<Expr*>(wanted),
                         InvalidOid, InvalidOid);
  }
  return nullptr;
}

Expr* quiet_operator(const Query* query, const Knowledge* k, Node* clause) {
  Node* left;
  Node* right;
  if (!IsA(clause, OpExpr) || !two_arguments(clause, &left, &right)) return nullptr;
  if (!(is_of_barrier(query, left) && is_outside(right)) && !(is_of_barrier(query, right) && is_outside(left)))
    return nullptr;
  ListCell* cell;
  foreach (cell, k->families)
    if (Expr* quiet = quiet_call(lfirst_oid(cell), clause)) return quiet;
  return nullptr;
}

// None of PostgreSQL's own functions and operators measures anything: of most conditions that is soon said.
bool calls_others(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, FuncExpr) && reinterpret_cast<FuncExpr*>(node)->funcid >= FirstNormalObjectId) return true;
  if (IsA(node, OpExpr) && reinterpret_cast<OpExpr*>(node)->opno >= FirstNormalObjectId) return true;
  return walk_expression(node, calls_others, context);
}

// Named arguments are put in order later, when the query is planned.
bool has_named_argument(Node* node, void* context) {
  if (node == nullptr) return false;
  return IsA(node, NamedArgExpr) || walk_expression(node, has_named_argument, context);
}

// A leakproof condition that the clause implies; null: none that helps.
Expr* companion(const Query* query, Knowledge* k, Node* clause) {
  if (IsA(clause, BoolExpr)) {
    const auto* b = reinterpret_cast<BoolExpr*>(clause);
    if (b->boolop == NOT_EXPR) return nullptr;
    List* args = NIL;
    for (auto* clause_arg : each<Node>(b->args)) {
      Expr* arg = companion(query, k, clause_arg);
      if (arg != nullptr)
        args = lappend(args, arg);
      else if (b->boolop == OR_EXPR)
        return nullptr;
    }
    return args == NIL              ? nullptr
           : list_length(args) == 1 ? static_cast<Expr*>(linitial(args))
                                    : makeBoolExpr(b->boolop, args, -1);
  }
  if (!calls_others(clause, nullptr) || has_named_argument(clause, nullptr)) return nullptr;
  read_classes(k);
  const FuncExpr* call = implied_call(&k->measures, clause);
  Expr* quiet =
      call != nullptr ? quiet_condition(query, k->measures.find(call->funcid), call) : quiet_operator(query, k, clause);
  return quiet == nullptr ? nullptr : static_cast<Expr*>(copyObjectImpl(quiet));
}

// Adds companions to WHERE and to the conditions of inner joins.
void add_companions(const Query* query, Knowledge* k, Node* node) {
  Node** quals = nullptr;
  if (IsA(node, FromExpr)) {
    quals = &reinterpret_cast<FromExpr*>(node)->quals;
    for (auto* member : each<Node>(reinterpret_cast<FromExpr*>(node)->fromlist)) add_companions(query, k, member);
  } else if (IsA(node, JoinExpr)) {
    auto* join = reinterpret_cast<JoinExpr*>(node);
    if (join->jointype == JOIN_INNER) quals = &join->quals;
    add_companions(query, k, join->larg);
    add_companions(query, k, join->rarg);
  }
  Expr* added = quals == nullptr || *quals == nullptr ? nullptr : companion(query, k, *quals);
  if (added != nullptr) *quals = reinterpret_cast<Node*>(makeBoolExpr(AND_EXPR, list_make2(*quals, added), -1));
}

bool look_for_views(Node* node, void* knowledge) {
  if (node == nullptr) return false;
  if (!IsA(node, Query)) return walk_expression(node, look_for_views, knowledge);
  auto* query = reinterpret_cast<Query*>(node);
  if (query->jointree != nullptr && has_barrier(query))
    add_companions(query, static_cast<Knowledge*>(knowledge), reinterpret_cast<Node*>(query->jointree));
  return walk_query(query, look_for_views, knowledge);
}

PlannedStmt* plan_with_views(Query* query, const char* text, int options, ParamListInfo params PLANNER_HOOK_PARAMETER) {
  if (guc_derive_conditions && query->commandType != CMD_UTILITY) {
    Knowledge knowledge{};
    look_for_views(reinterpret_cast<Node*>(query), &knowledge);
  }
  return previous_hook != nullptr ? previous_hook(query, text, options, params PLANNER_HOOK_ARGUMENT)
                                  : standard_planner(query, text, options, params PLANNER_HOOK_ARGUMENT);
}

}  // namespace

void install_view_hook() {
  previous_hook = planner_hook;
  planner_hook = plan_with_views;
}

}  // namespace neardup
