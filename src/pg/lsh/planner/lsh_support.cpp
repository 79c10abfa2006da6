// Support of the predicates: the condition that an lsh index serves, and how many rows a predicate keeps.
#include "core/kinds/measure.h"
#include "pg/lsh/family.h"
#include "pg/lsh/planner/facts/index_facts.h"
#include "pg/lsh/planner/facts/known_query.h"
#include "pg/lsh/planner/facts/lsh_selectivity.h"
#include "pg/lsh/planner/lsh_support.h"
#include "pg/lsh/planner/facts/plan_measures.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/values/lsh_query_value.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
}

namespace neardup {
namespace {

IndexCondition refused(Verdict verdict) { return {nullptr, verdict, false}; }

Datum support(FunctionCallInfo fcinfo, Measure measure) {
  Node* raw = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
  if (IsA(raw, SupportRequestIndexCondition)) {
    auto* request = reinterpret_cast<SupportRequestIndexCondition*>(raw);
    if (!IsA(request->node, FuncExpr) || !is_lsh(request->index)) PG_RETURN_POINTER(NULL);
    const auto* call = reinterpret_cast<FuncExpr*>(request->node);
    const IndexCondition found =
        index_condition(request->root, request->index, request->indexcol, call, request->indexarg);
    if (found.condition == nullptr) PG_RETURN_POINTER(NULL);
    request->lossy = !found.exact;
    PG_RETURN_POINTER(list_make1(found.condition));
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

IndexCondition index_condition(PlannerInfo* root, IndexOptInfo* index, int column, const FuncExpr* call,
                               int key_argument) {
  if (key_argument > 1 || list_length(call->args) != 3 || column != planned_value_column(index))
    return refused(Verdict::other_value);
  PlanMeasure measures[kMaxMeasures];
  const PlanMeasure* m = nullptr;
  for (int i = find_measures(index, column, measures); i-- > 0;)
    if (measures[i].predicate == call->funcid) m = &measures[i];
  if (m == nullptr) return refused(Verdict::other_measure);
  const bool guarded = is_guarded(call->location);
  if (guarded && !OidIsValid(m->quiet)) return refused(Verdict::leaks);
  Node* key = static_cast<Node*>(list_nth(call->args, key_argument));
  Node* value = static_cast<Node*>(list_nth(call->args, 1 - key_argument));
  Node* bound = static_cast<Node*>(lthird(call->args));
  if (!is_pseudo_constant_for_index(root, value, index) || !is_pseudo_constant_for_index(root, bound, index))
    return refused(Verdict::other_row);
  Measure measure = Measure::jaccard;
  Oid maker = m->maker(key_argument);
  const bool ours = makes_lsh_query(maker, &measure);
  const KnownQuery known = ours ? known_arguments(root, measure, maker, value, bound) : KnownQuery{};
  if (is_users_own(call->location)) {
    // A scan of all rows raises the error.
    if (known.has_bound && !is_valid_bound(measure, known.bound)) return refused(Verdict::bad_bound);
    if (!known.has_bound && OidIsValid(m->strict_maker(key_argument))) maker = m->strict_maker(key_argument);
  }
  const Verdict verdict = index_verdict(root, index, known);
  if (verdict != Verdict::usable) return refused(verdict);
  if (guarded && !reveals_nothing(reinterpret_cast<Node*>(call->args))) return refused(Verdict::leaks);
  Expr* query = reinterpret_cast<Expr*>(
      makeFuncExpr(maker, m->query_type, list_make2(value, bound), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
  if (IsA(value, Const) && IsA(bound, Const))
    query = reinterpret_cast<Expr*>(eval_const_expressions(root, reinterpret_cast<Node*>(query)));
  // A query's set with a NULL has a condition that keeps all rows.
  const bool exact = ours && !is_of_sets(measure) && !guarded && call->location != kImpliedCall;
  return {make_opclause(guarded ? m->quiet : m->condition, BOOLOID, false, reinterpret_cast<Expr*>(key), query,
                        InvalidOid, InvalidOid),
          Verdict::usable, exact};
}

IndexCondition index_condition(PlannerInfo* root, IndexOptInfo* index, const FuncExpr* call) {
  const int column = planned_value_column(index);
  IndexCondition found = refused(Verdict::other_value);
  for (int key = 0; key < 2 && found.condition == nullptr; ++key)
    if (match_index_to_operand(static_cast<Node*>(list_nth(call->args, key)), column, index))
      found = index_condition(root, index, column, call, key);
  return found;
}

Verdict operator_verdict(PlannerInfo* root, const IndexOptInfo* index, Oid op, Node* query, KnownQuery* known,
                         const ProbeEstimate** counted, const KnownColumns* columns) {
  const int column = planned_value_column(index);
  const uint16_t strategy = own_strategy(static_cast<uint16_t>(get_op_opfamily_strategy(op, index->opfamily[column])));
  if (strategy == 0 || strategy == kStrategyEqual) return Verdict::other_measure;
  const IndexFacts* facts = index_facts(root, index);
  *known = known_operand(root, strategy, query, facts != nullptr && facts->family->is_own());
  return index_verdict(root, index, *known, counted, columns);
}

Verdict clause_verdict(PlannerInfo* root, IndexOptInfo* index, OpExpr* clause, bool guarded) {
  const int column = planned_value_column(index);
  auto* left = static_cast<Node*>(linitial(clause->args));
  auto* right = static_cast<Node*>(lsecond(clause->args));
  const bool is_left = match_index_to_operand(left, column, index);
  if (!is_left && !match_index_to_operand(right, column, index)) return Verdict::other_value;
  const Oid by = is_left ? clause->opno : get_commutator(clause->opno);
  if (!OidIsValid(by) || !op_in_opfamily(by, index->opfamily[column])) return Verdict::other_measure;
  Node* query = is_left ? right : left;
  if (!is_pseudo_constant_for_index(root, query, index)) return Verdict::other_row;
  KnownQuery known;
  const Verdict verdict = operator_verdict(root, index, by, query, &known);
  if (verdict != Verdict::usable || !guarded) return verdict;
  Expr* quiet = quiet_call(index->opfamily[column], reinterpret_cast<Node*>(clause));
  return reveals_nothing(reinterpret_cast<Node*>(quiet != nullptr ? quiet : reinterpret_cast<Expr*>(clause)))
             ? verdict
             : Verdict::leaks;
}

}  // namespace neardup

using namespace neardup;

extern "C" {

#define NEARDUP_SUPPORT(measure, name) \
  PG_FUNCTION_INFO_V1(name);           \
  Datum name(PG_FUNCTION_ARGS) { return support(fcinfo, Measure::measure); }

NEARDUP_SUPPORT(jaccard, lsh_jaccard_support)
NEARDUP_SUPPORT(hamming, lsh_hamming_support)
NEARDUP_SUPPORT(ctph_score, lsh_score_support)
NEARDUP_SUPPORT(ctph_edit_rate, lsh_rate_support)
NEARDUP_SUPPORT(set_jaccard, lsh_set_support)
NEARDUP_SUPPORT(query_in_set, lsh_containment_support)
NEARDUP_SUPPORT(set_overlap, lsh_overlap_support)
NEARDUP_SUPPORT(set_dice, lsh_dice_support)
NEARDUP_SUPPORT(set_cosine, lsh_cosine_support)
NEARDUP_SUPPORT(bit_hamming, lsh_bit_support)

}  // extern "C"
