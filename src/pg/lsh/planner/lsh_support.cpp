// Support of the predicates: the condition that an lsh index serves, and how many rows a predicate keeps.
#include "core/lsh/lsh_query.h"
#include "pg/lsh/planner/index_facts.h"
#include "pg/lsh/planner/known_query.h"
#include "pg/lsh/planner/lsh_selectivity.h"
#include "pg/lsh/planner/lsh_support.h"
#include "pg/lsh/planner/plan_measures.h"
#include "pg/values/lsh_query_value.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
}

namespace neardup {

Expr* index_condition(PlannerInfo* root, IndexOptInfo* index, int column, Oid predicate, List* args, int key_argument,
                      int location, bool* exact) {
  *exact = false;
  if (key_argument > 1 || list_length(args) != 3 || column != planned_value_column(index)) return nullptr;
  PlanMeasure measures[kMaxMeasures];
  const PlanMeasure* m = nullptr;
  for (int i = find_measures(index, column, measures); i-- > 0;)
    if (measures[i].predicate == predicate) m = &measures[i];
  if (m == nullptr || (is_guarded(location) && !OidIsValid(m->quiet))) return nullptr;
  Node* key = static_cast<Node*>(list_nth(args, key_argument));
  Node* value = static_cast<Node*>(list_nth(args, 1 - key_argument));
  Node* bound = static_cast<Node*>(lthird(args));
  if (!is_pseudo_constant_for_index(root, value, index) || !is_pseudo_constant_for_index(root, bound, index))
    return nullptr;
  LshMeasure measure{};
  Oid maker = m->maker(key_argument);
  const bool ours = makes_lsh_query(maker, &measure);
  const KnownQuery known = ours ? known_arguments(root, measure, maker, value, bound) : KnownQuery{};
  if (is_users_own(location)) {
    // A scan of all rows raises the error.
    if (known.has_bound && !valid_bound(measure, known.bound)) return nullptr;
    if (!known.has_bound && OidIsValid(m->strict_maker(key_argument))) maker = m->strict_maker(key_argument);
  }
  if (!index_serves(root, index, known)) return nullptr;
  Expr* query = reinterpret_cast<Expr*>(
      makeFuncExpr(maker, m->query_type, list_make2(value, bound), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
  if (IsA(value, Const) && IsA(bound, Const))
    query = reinterpret_cast<Expr*>(eval_const_expressions(root, reinterpret_cast<Node*>(query)));
  // A query's set with a NULL has a condition that keeps all rows.
  *exact = ours && !is_of_sets(measure) && !is_guarded(location) && location != kImpliedCall;
  return make_opclause(is_guarded(location) ? m->quiet : m->condition, BOOLOID, false, reinterpret_cast<Expr*>(key),
                       query, InvalidOid, InvalidOid);
}

namespace {

// Of a predicate: the condition that an index serves, and how many rows it keeps.
Datum support(FunctionCallInfo fcinfo, LshMeasure measure) {
  Node* raw = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
  if (IsA(raw, SupportRequestIndexCondition)) {
    auto* request = reinterpret_cast<SupportRequestIndexCondition*>(raw);
    if (!IsA(request->node, FuncExpr) || !is_lsh(request->index)) PG_RETURN_POINTER(NULL);
    const auto* call = reinterpret_cast<FuncExpr*>(request->node);
    bool exact;
    Expr* condition = index_condition(request->root, request->index, request->indexcol, call->funcid, call->args,
                                      request->indexarg, call->location, &exact);
    if (condition == nullptr) PG_RETURN_POINTER(NULL);
    request->lossy = !exact;
    PG_RETURN_POINTER(list_make1(condition));
  }
  if (IsA(raw, SupportRequestSelectivity)) {
    auto* request = reinterpret_cast<SupportRequestSelectivity*>(raw);
    if (list_length(request->args) != 3) PG_RETURN_POINTER(NULL);
    request->selectivity = predicate_selectivity(request->root, measure, request->funcid, request->args,
                                                 request->varRelid, request->jointype, request->sjinfo);
    PG_RETURN_POINTER(request);
  }
  PG_RETURN_POINTER(NULL);
}

}  // namespace
}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(lsh_jaccard_support);
Datum lsh_jaccard_support(PG_FUNCTION_ARGS) { return support(fcinfo, LshMeasure::jaccard); }

PG_FUNCTION_INFO_V1(lsh_hamming_support);
Datum lsh_hamming_support(PG_FUNCTION_ARGS) { return support(fcinfo, LshMeasure::hamming); }

PG_FUNCTION_INFO_V1(lsh_score_support);
Datum lsh_score_support(PG_FUNCTION_ARGS) { return support(fcinfo, LshMeasure::ctph_score); }

PG_FUNCTION_INFO_V1(lsh_rate_support);
Datum lsh_rate_support(PG_FUNCTION_ARGS) { return support(fcinfo, LshMeasure::ctph_edit_rate); }

PG_FUNCTION_INFO_V1(lsh_set_support);
Datum lsh_set_support(PG_FUNCTION_ARGS) { return support(fcinfo, LshMeasure::set_jaccard); }

PG_FUNCTION_INFO_V1(lsh_containment_support);
Datum lsh_containment_support(PG_FUNCTION_ARGS) { return support(fcinfo, LshMeasure::query_in_set); }

PG_FUNCTION_INFO_V1(lsh_overlap_support);
Datum lsh_overlap_support(PG_FUNCTION_ARGS) { return support(fcinfo, LshMeasure::set_overlap); }

PG_FUNCTION_INFO_V1(lsh_bit_support);
Datum lsh_bit_support(PG_FUNCTION_ARGS) { return support(fcinfo, LshMeasure::bit_hamming); }

}  // extern "C"
