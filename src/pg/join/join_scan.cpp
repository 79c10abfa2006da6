// See join_scan.h.
#include "pg/join/join_scan.h"

#include "pg/base/guc.h"
#include "pg/join/join_explain.h"
#include "pg/join/join_plan.h"

namespace neardup {
namespace {

JoinState* state_of(CustomScanState* node) { return reinterpret_cast<JoinState*>(node); }
PlanState* outer_of(JoinState* join) { return static_cast<PlanState*>(linitial(join->scan.custom_ps)); }
PlanState* inner_of(JoinState* join) { return static_cast<PlanState*>(llast(join->scan.custom_ps)); }
ExprContext* context_of(JoinState* join) { return join->scan.ss.ps.ps_ExprContext; }
TupleTableSlot* joined_slot(JoinState* join) { return join->scan.ss.ss_ScanTupleSlot; }

// The columns of a side of the joined row: those of a slot, or NULL.
void set_columns(JoinState* join, int first, int count, TupleTableSlot* from) {
  TupleTableSlot* joined = joined_slot(join);
  if (from == nullptr) {
    memset(joined->tts_values + first, 0, sizeof(Datum) * static_cast<size_t>(count));
    memset(joined->tts_isnull + first, true, static_cast<size_t>(count));
    return;
  }
  slot_getallattrs(from);
  memcpy(joined->tts_values + first, from->tts_values, sizeof(Datum) * static_cast<size_t>(count));
  memcpy(joined->tts_isnull + first, from->tts_isnull, static_cast<size_t>(count));
}

void set_joined_row(JoinState* join, TupleTableSlot* outer, TupleTableSlot* inner) {
  TupleTableSlot* joined = joined_slot(join);
  ExecClearTuple(joined);
  set_columns(join, 0, join->outer_columns, outer);
  set_columns(join, join->outer_columns, join->inner_columns, inner);
  ExecStoreVirtualTuple(joined);
  context_of(join)->ecxt_scantuple = joined;
}

void read_side(JoinState* join, PlanState* child, JoinSide* side, ExprState* value, bool is_outer) {
  ExprContext* context = context_of(join);
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    TupleTableSlot* slot = ExecProcNode(child);
    if (TupIsNull(slot)) return;
    ResetExprContext(context);
    set_joined_row(join, is_outer ? slot : nullptr, is_outer ? nullptr : slot);
    bool is_null;
    const Datum signature = ExecEvalExprSwitchContext(value, context, &is_null);
    MemoryContext old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
    bool is_copy;
    MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &is_copy);
    add_join_row(join->rows, side, tuple, is_null ? nullptr : &signature);
    if (is_copy) pfree(tuple);
    MemoryContextSwitchTo(old);
  }
}

// The bound of this run; null where it is NULL.
const double* read_bound(JoinState* join, double* bound) {
  *bound = guc_jaccard_threshold;
  if (join->bound_from == JoinBound::setting) return bound;
  bool is_null;
  const Datum value = ExecEvalExprSwitchContext(join->bound, context_of(join), &is_null);
  if (is_null) return nullptr;
  *bound = DatumGetFloat8(value);
  return bound;
}

void read_rows(JoinState* join) {
  double bound;
  join->rows = begin_join_rows(join->context, join->measure, join->bound_from, read_bound(join, &bound), join->is_self);
  read_side(join, outer_of(join), &join->rows->outer, join->outer_value, true);
  join->outer_read = join->rows->outer.tuples->count;
  join->inner_read = join->is_self ? join->outer_read : 0;
  if (join->is_self) return;
  start_inner_rows(join->rows);
  // nothing is joined, and PostgreSQL's own joins do not read the inner side then either
  if (join->outer_read == 0) return;
  read_side(join, inner_of(join), &join->rows->inner, join->inner_value, false);
  join->inner_read = join->rows->inner.tuples->count;
}

// The joined row, if it meets the conditions on joined rows; null otherwise.
TupleTableSlot* finished(JoinState* join) {
  ExprContext* context = context_of(join);
  if (!ExecQual(join->scan.ss.ps.qual, context)) {
    InstrCountFiltered2(&join->scan, 1);
    return nullptr;
  }
  ProjectionInfo* projection = join->scan.ss.ps.ps_ProjInfo;
  return projection != nullptr ? ExecProject(projection) : joined_slot(join);
}

// The next partner of the outer row with which it matches; null where there is none.
bool match_next(JoinState* join) {
  ExprContext* context = context_of(join);
  uint64 inner;
  while (next_partner(join->rows, static_cast<uint32>(join->outer), &inner)) {
    CHECK_FOR_INTERRUPTS();
    ResetExprContext(context);
    set_joined_row(join, join->outer_slot,
                   ExecStoreMinimalTuple(inner_tuple(join->rows, inner), join->inner_slot, false));
    if (ExecQual(join->conditions, context)) return true;
    InstrCountFiltered1(&join->scan, 1);
  }
  return false;
}

// The joined row of an outer row that is given without an inner one.
TupleTableSlot* alone(JoinState* join) {
  ResetExprContext(context_of(join));
  set_joined_row(join, join->outer_slot, nullptr);
  return finished(join);
}

// The next result of the open outer row; null at its end.
TupleTableSlot* next_of_row(JoinState* join) {
  while (match_next(join)) {
    join->has_matched = true;
    if (join->type == JOIN_ANTI || join->type == JOIN_SEMI) {
      pass_partners(join->rows, static_cast<uint32>(join->outer));
      join->is_open = false;
      return join->type == JOIN_SEMI ? finished(join) : nullptr;
    }
    TupleTableSlot* result = finished(join);
    if (result != nullptr) return result;
  }
  join->is_open = false;
  const bool is_alone = !join->has_matched && (join->type == JOIN_LEFT || join->type == JOIN_ANTI);
  return is_alone ? alone(join) : nullptr;
}

TupleTableSlot* exec_join(CustomScanState* node) {
  JoinState* join = state_of(node);
  if (join->rows == nullptr) read_rows(join);
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    if (!join->is_open) {
      if (join->outer == join->outer_read) return nullptr;
      ExecStoreMinimalTuple(outer_tuple(join->rows, join->outer), join->outer_slot, false);
      join->is_open = true;
      join->has_matched = false;
    }
    TupleTableSlot* result = next_of_row(join);
    if (!join->is_open) ++join->outer;
    if (result != nullptr) return result;
  }
}

void begin_join(CustomScanState* node, EState* estate, int eflags) {
  JoinState* join = state_of(node);
  const auto* plan = reinterpret_cast<CustomScan*>(node->ss.ps.plan);
  ListCell* cell;
  foreach (cell, plan->custom_plans)
    node->custom_ps =
        lappend(node->custom_ps, ExecInitNode(static_cast<Plan*>(lfirst(cell)), estate,
                                              eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)));
  PlanState* parent = &node->ss.ps;
  const auto expression = [&](JoinExpression n) { return static_cast<Expr*>(list_nth(plan->custom_exprs, n)); };
  join->outer_value = ExecInitExpr(expression(kJoinOuterValue), parent);
  join->inner_value = ExecInitExpr(expression(kJoinInnerValue), parent);
  join->bound = ExecInitExpr(expression(kJoinBound), parent);
  join->conditions = ExecInitQual(static_cast<List*>(list_nth(plan->custom_exprs, kJoinConditions)), parent);
  join->outer_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(outer_of(join)), &TTSOpsMinimalTuple);
  join->inner_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(inner_of(join)), &TTSOpsMinimalTuple);
  join->inner_columns = joined_slot(join)->tts_tupleDescriptor->natts - join->outer_columns;
  join->context = AllocSetContextCreate(estate->es_query_cxt, "neardup join", ALLOCSET_DEFAULT_SIZES);
}

// Keeps for EXPLAIN what the engine has done, and frees all that the node holds.
void free_rows(JoinState* join) {
  ExecClearTuple(join->outer_slot);
  ExecClearTuple(join->inner_slot);
  if (join->rows == nullptr) return;
  const Owned<PairSearch>* engine = join->rows->engine;
  if (engine != nullptr) call_core([&] { join->stats = engine->object->stats(); });
  end_join_rows(join->rows);
  join->rows = nullptr;
  MemoryContextReset(join->context);
}

void end_join(CustomScanState* node) {
  JoinState* join = state_of(node);
  free_rows(join);
  ListCell* cell;
  foreach (cell, node->custom_ps) ExecEndNode(static_cast<PlanState*>(lfirst(cell)));
}

void rescan_join(CustomScanState* node) {
  JoinState* join = state_of(node);
  free_rows(join);
  join->outer = join->outer_read = join->inner_read = 0;
  join->is_open = false;
  ListCell* cell;
  foreach (cell, node->custom_ps) {
    auto* child = static_cast<PlanState*>(lfirst(cell));
    if (node->ss.ps.chgParam != nullptr) UpdateChangedParamSet(child, node->ss.ps.chgParam);
    // else it is scanned again when it is read
    if (child->chgParam == nullptr) ExecReScan(child);
  }
}

const CustomExecMethods kJoinExecMethods = {
    .CustomName = "Similarity Join",
    .BeginCustomScan = begin_join,
    .ExecCustomScan = exec_join,
    .EndCustomScan = end_join,
    .ReScanCustomScan = rescan_join,
    .MarkPosCustomScan = nullptr,
    .RestrPosCustomScan = nullptr,
    .EstimateDSMCustomScan = nullptr,
    .InitializeDSMCustomScan = nullptr,
    .ReInitializeDSMCustomScan = nullptr,
    .InitializeWorkerCustomScan = nullptr,
    .ShutdownCustomScan = nullptr,
    .ExplainCustomScan = explain_join,
};

}  // namespace

Node* create_join_state(CustomScan* plan) {
  auto* join = static_cast<JoinState*>(palloc0(sizeof(JoinState)));
  NodeSetTag(&join->scan, T_CustomScanState);
  join->scan.methods = &kJoinExecMethods;
  const auto fact = [&](JoinFact n) { return intVal(list_nth(plan->custom_private, n)); };
  join->type = static_cast<JoinType>(fact(kJoinKind));
  join->measure = static_cast<LshMeasure>(fact(kJoinMeasure));
  join->outer_columns = fact(kJoinOuterColumns);
  join->bound_from = static_cast<JoinBound>(fact(kJoinBoundFrom));
  join->is_self = fact(kJoinIsSelf) != 0;
  return reinterpret_cast<Node*>(join);
}

}  // namespace neardup
