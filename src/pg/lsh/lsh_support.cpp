// Support of jaccard_at_least(): the condition that an lsh index serves, and what an operator class tells the planner.
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/lsh_planner.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
}

namespace neardup {

bool is_lsh(const IndexOptInfo* index) {
  // The field has the true type from 16 on only.
  return reinterpret_cast<void (*)()>(index->amcostestimate) == reinterpret_cast<void (*)()>(lshcostestimate);
}

bool find_measure(const IndexOptInfo* index, int column, PlanMeasure* measure) {
  const Oid family = index->opfamily[column];
  const Oid type = index->opcintype[column];
  measure->type = type;
  measure->similarity = get_opfamily_proc(family, type, type, kProcSimilarity);
  measure->make_query = get_opfamily_proc(family, type, type, kProcMakeQuery);
  measure->at_least = get_opfamily_proc(family, type, type, kProcAtLeast);
  measure->make_strict = get_opfamily_proc(family, type, type, kProcMakeStrict);
  if (!OidIsValid(measure->similarity) || !OidIsValid(measure->make_query) || !OidIsValid(measure->at_least))
    return false;
  measure->query_type = get_func_rettype(measure->make_query);
  measure->condition = get_opfamily_member(family, type, measure->query_type, kStrategyAtLeast);
  const Oid distance = get_opfamily_member(family, type, type, kStrategyDistance);
  measure->distance = OidIsValid(distance) ? get_opcode(distance) : InvalidOid;
  return OidIsValid(measure->condition);
}

Expr* index_condition(PlannerInfo* root, IndexOptInfo* index, int column, List* args, int key_argument, bool derived) {
  PlanMeasure measure;
  if (key_argument > 1 || list_length(args) != 3 || !find_measure(index, column, &measure)) return nullptr;
  Node* key = static_cast<Node*>(list_nth(args, key_argument));
  Node* value = static_cast<Node*>(list_nth(args, 1 - key_argument));
  Node* bound = static_cast<Node*>(lthird(args));
  if (!is_pseudo_constant_for_index(root, value, index) || !is_pseudo_constant_for_index(root, bound, index))
    return nullptr;
  const KnownQuery known = known_arguments(root, measure, value, bound);
  Oid maker = measure.make_query;
  if (!derived) {
    // A scan of all rows raises the error.
    if (known.has_bound && !(known.bound > 0 && known.bound <= 1)) return nullptr;
    if (!known.has_bound && OidIsValid(measure.make_strict)) maker = measure.make_strict;
  }
  if (!index_serves(root, index, known)) return nullptr;
  Expr* query = reinterpret_cast<Expr*>(
      makeFuncExpr(maker, measure.query_type, list_make2(value, bound), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
  if (IsA(value, Const) && IsA(bound, Const))
    query = reinterpret_cast<Expr*>(eval_const_expressions(root, reinterpret_cast<Node*>(query)));
  return make_opclause(measure.condition, BOOLOID, false, reinterpret_cast<Expr*>(key), query, InvalidOid, InvalidOid);
}

}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(lsh_jaccard_support);
Datum lsh_jaccard_support(PG_FUNCTION_ARGS) {
  Node* raw = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
  if (IsA(raw, SupportRequestIndexCondition)) {
    auto* request = reinterpret_cast<SupportRequestIndexCondition*>(raw);
    if (!IsA(request->node, FuncExpr) || !is_lsh(request->index)) PG_RETURN_POINTER(nullptr);
    const auto* call = reinterpret_cast<FuncExpr*>(request->node);
    Expr* condition = index_condition(request->root, request->index, request->indexcol, call->args, request->indexarg,
                                      call->location == kDerivedLocation);
    if (condition == nullptr) PG_RETURN_POINTER(nullptr);
    request->lossy = true;
    PG_RETURN_POINTER(list_make1(condition));
  }
  if (IsA(raw, SupportRequestSelectivity)) {
    auto* request = reinterpret_cast<SupportRequestSelectivity*>(raw);
    if (list_length(request->args) != 3) PG_RETURN_POINTER(nullptr);
    request->selectivity =
        at_least_selectivity(request->root, request->args, request->varRelid, request->jointype, request->sjinfo);
    PG_RETURN_POINTER(request);
  }
  PG_RETURN_POINTER(nullptr);
}

}  // extern "C"
