#include "pg/join/join_condition.h"

#include "pg/lsh/family.h"
#include "pg/lsh/planner/derived_conditions.h"
#include "pg/lsh/planner/facts/plan_measures.h"
#include "pg/values/lsh_query_value.h"

extern "C" {
#include "optimizer/clauses.h"
}

namespace neardup {
namespace {

// One value of each side, in the order of the sides.
bool assign_sides(PlannerInfo* root, Relids outer, Relids inner, Node* a, Node* b, JoinCondition* out) {
  const Relids of_a = pull_varnos(root, a);
  const Relids of_b = pull_varnos(root, b);
  if (bms_is_empty(of_a) || bms_is_empty(of_b)) return false;
  if (contain_volatile_functions(a) || contain_volatile_functions(b) || contain_subplans(a) || contain_subplans(b))
    return false;
  const bool straight = bms_is_subset(of_a, outer) && bms_is_subset(of_b, inner);
  if (!straight && !(bms_is_subset(of_a, inner) && bms_is_subset(of_b, outer))) return false;
  out->outer = straight ? a : b;
  out->inner = straight ? b : a;
  if (!straight) out->measure = info(out->measure).mirrored;
  return true;
}

bool is_one_for_all(PlannerInfo* root, Node* bound) {
  return bms_is_empty(pull_varnos(root, bound)) && !contain_volatile_functions(bound) && !contain_subplans(bound);
}

// True if it is `a % b`.
bool is_similar(Node* node, Oid family) {
  return IsA(node, OpExpr) &&
         get_op_opfamily_strategy(reinterpret_cast<OpExpr*>(node)->opno, family) == kStrategySimilar;
}

}  // namespace

bool find_join_condition(PlannerInfo* root, Relids outer, Relids inner, RestrictInfo* clause, JoinCondition* out) {
  auto* node = reinterpret_cast<Node*>(clause->clause);
  PlanMeasures measures = {};
  measures.root = root;
  const Oid family = add_clause_measures(&measures, node);
  if (measures.n == 0) return false;
  const PlanMeasure* found;
  const List* arguments;
  out->origin = clause;
  if (is_similar(node, family)) {
    found = &measures.at[0];
    arguments = reinterpret_cast<OpExpr*>(node)->args;
    out->bound_from = JoinBound::setting;
    out->bound = nullptr;
  } else {
    const FuncExpr* call = implied_call(&measures, node);
    if (call == nullptr) return false;
    found = measures.find(call->funcid);
    arguments = call->args;
    out->bound_from = IsA(node, FuncExpr) ? JoinBound::argument : JoinBound::comparison;
    out->bound = static_cast<Node*>(lthird(arguments));
    if (!is_one_for_all(root, out->bound)) return false;
  }
  return makes_lsh_query(found->make_query, &out->measure) && (info(out->measure).engine_bound != nullptr) &&
         assign_sides(root, outer, inner, static_cast<Node*>(linitial(arguments)),
                      static_cast<Node*>(lsecond(arguments)), out);
}

}  // namespace neardup
