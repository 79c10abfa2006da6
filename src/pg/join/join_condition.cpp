// See join_condition.h.
#include "pg/join/join_condition.h"

#include "pg/base/own_schemas.h"
#include "pg/lsh/family.h"
#include "pg/lsh/planner/derived_conditions.h"
#include "pg/lsh/planner/plan_measures.h"

extern "C" {
#include "optimizer/clauses.h"
}

namespace neardup {
namespace {

// The two arguments of an operator.
void two_arguments(const OpExpr* op, Node** a, Node** b) {
  *a = static_cast<Node*>(linitial(op->args));
  *b = static_cast<Node*>(lsecond(op->args));
}

bool measure_of(const PlanMeasure& found, JoinMeasure* measure) {
  const auto is = [&](const char* name) { return own_type(found.function, name) == found.type; };
  if (!found.is_distance && is("minhash"))
    *measure = JoinMeasure::jaccard;
  else if (found.is_distance && is("simhash"))
    *measure = JoinMeasure::hamming;
  else if (found.is_distance && is("ctph"))
    *measure = JoinMeasure::edit_rate;
  else
    return false;
  return true;
}

// One value of each side, in the order of the sides.
bool take_sides(PlannerInfo* root, Relids outer, Relids inner, Node* a, Node* b, JoinCondition* out) {
  const Relids of_a = pull_varnos(root, a);
  const Relids of_b = pull_varnos(root, b);
  if (bms_is_empty(of_a) || bms_is_empty(of_b)) return false;
  if (contain_volatile_functions(a) || contain_volatile_functions(b) || contain_subplans(a) || contain_subplans(b))
    return false;
  const bool straight = bms_is_subset(of_a, outer) && bms_is_subset(of_b, inner);
  if (!straight && !(bms_is_subset(of_a, inner) && bms_is_subset(of_b, outer))) return false;
  out->outer = straight ? a : b;
  out->inner = straight ? b : a;
  return true;
}

bool is_one_for_all(PlannerInfo* root, Node* bound) {
  return bms_is_empty(pull_varnos(root, bound)) && !contain_volatile_functions(bound) && !contain_subplans(bound);
}

}  // namespace

bool find_join_condition(PlannerInfo* root, Relids outer, Relids inner, RestrictInfo* clause, JoinCondition* out) {
  auto* node = reinterpret_cast<Node*>(clause->clause);
  PlanMeasures measures = {};
  measures.root = root;
  const Oid family = add_measures_of(&measures, node);
  if (measures.n == 0) return false;
  out->origin = clause;
  Node* a;
  Node* b;
  if (IsA(node, OpExpr) &&
      get_op_opfamily_strategy(reinterpret_cast<OpExpr*>(node)->opno, family) == kStrategySimilar) {
    two_arguments(reinterpret_cast<OpExpr*>(node), &a, &b);
    out->bound = nullptr;
    return measure_of(measures.at[0], &out->measure) && take_sides(root, outer, inner, a, b, out);
  }
  FuncExpr* call = implied_call(&measures, node);
  if (call == nullptr || !measure_of(*measures.of(call->funcid), &out->measure)) return false;
  out->bound = static_cast<Node*>(lthird(call->args));
  a = static_cast<Node*>(linitial(call->args));
  b = static_cast<Node*>(lsecond(call->args));
  return is_one_for_all(root, out->bound) && take_sides(root, outer, inner, a, b, out);
}

}  // namespace neardup
