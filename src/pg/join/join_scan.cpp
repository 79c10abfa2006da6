#include "pg/join/join_scan.h"

#include "pg/base/guc.h"
#include "pg/join/join_explain.h"
#include "pg/join/join_plan.h"

namespace neardup {
namespace {

JoinState* join_state(CustomScanState* node) { return reinterpret_cast<JoinState*>(node); }
PlanState* outer_plan(JoinState* join) { return static_cast<PlanState*>(linitial(join->scan.custom_ps)); }
PlanState* inner_plan(JoinState* join) { return static_cast<PlanState*>(llast(join->scan.custom_ps)); }
ExprContext* expression_context(JoinState* join) { return join->scan.ss.ps.ps_ExprContext; }
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
  expression_context(join)->ecxt_scantuple = joined;
}

// Sets the joined row to one of one side, for expressions over that side.
void set_row_of_side(JoinState* join, const JoinSide* side, TupleTableSlot* slot) {
  const bool is_outer = side == &join->rows->outer;
  ResetExprContext(expression_context(join));
  set_joined_row(join, is_outer ? slot : nullptr, is_outer ? nullptr : slot);
}

ExprState* value_of_side(JoinState* join, const JoinSide* side) {
  return side == &join->rows->outer ? join->outer_value : join->inner_value;
}

void evaluate_row(JoinState* join, JoinSide* side, TupleTableSlot* slot) {
  ExprContext* context = expression_context(join);
  set_row_of_side(join, side, slot);
  if (join->outer_keys != nullptr) {
    uint32 group;
    const bool has_group = hash_keys(side == &join->rows->outer ? join->outer_keys : join->inner_keys, context, &group);
    add_grouped_row(join->rows, side, slot, has_group ? &group : nullptr);
  } else {
    bool is_null;
    const Datum value = ExecEvalExpr(value_of_side(join, side), context, &is_null);
    add_join_row(join->rows, side, slot, is_null ? nullptr : &value);
  }
}

void read_side(JoinState* join, PlanState* child, JoinSide* side) {
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    TupleTableSlot* slot = ExecProcNode(child);
    if (TupIsNull(slot)) return;
    MemoryContext old = MemoryContextSwitchTo(expression_context(join)->ecxt_per_tuple_memory);
    evaluate_row(join, side, slot);
    MemoryContextSwitchTo(old);
  }
}

// The value of a row that is kept, for searches of groups.
bool kept_value(void* of, JoinSide* side, uint64 row, Datum* value) {
  auto* join = static_cast<JoinState*>(of);
  const bool is_outer = side == &join->rows->outer;
  TupleTableSlot* slot = is_outer ? join->outer_slot : join->inner_slot;
  set_row_of_side(
      join, side,
      ExecStoreMinimalTuple(is_outer ? outer_tuple(join->rows, row) : inner_tuple(join->rows, row), slot, false));
  bool is_null;
  *value = ExecEvalExprSwitchContext(value_of_side(join, side), expression_context(join), &is_null);
  return !is_null;
}

// The bound of this run; null where it is NULL.
const double* read_bound(JoinState* join, double* bound) {
  *bound = guc_jaccard_threshold;
  if (join->search.bound_from == JoinBound::setting) return bound;
  bool is_null;
  const Datum value = ExecEvalExprSwitchContext(join->bound, expression_context(join), &is_null);
  if (is_null) return nullptr;
  *bound = DatumGetFloat8(value);
  return bound;
}

// True if nothing is joined, whatever the side that is read second: PostgreSQL's own joins do not read it then either.
bool needs_no_second_side(const JoinState* join, const JoinSide* first) {
  return first->read == 0 && (!join->search.inner_first || !join->rows->outer.keeps_all);
}

void read_both_sides(JoinState* join) {
  JoinRows* rows = join->rows;
  const bool inner_first = join->search.inner_first;
  JoinSide* first = inner_first ? &rows->inner : &rows->outer;
  JoinSide* second = inner_first ? &rows->outer : &rows->inner;
  read_side(join, inner_first ? inner_plan(join) : outer_plan(join), first);
  if (join->search.is_self || needs_no_second_side(join, first)) return;
  start_second_side(rows);
  read_side(join, inner_first ? outer_plan(join) : inner_plan(join), second);
}

// Reads both sides and finds what may match.
void read_rows(JoinState* join) {
  double bound;
  join->search.bound = read_bound(join, &bound);
  join->rows = begin_join_rows(join->context, join->search);
  read_both_sides(join);
  find_join_pairs(join->rows, {join, kept_value});
}

// The joined row, if it meets the conditions on joined rows; null otherwise.
TupleTableSlot* finished(JoinState* join) {
  ExprContext* context = expression_context(join);
  if (!ExecQual(join->scan.ss.ps.qual, context)) {
    InstrCountFiltered2(&join->scan, 1);
    return nullptr;
  }
  ProjectionInfo* projection = join->scan.ss.ps.ps_ProjInfo;
  return projection != nullptr ? ExecProject(projection) : joined_slot(join);
}

// The next partner of the outer row with which it matches; null where there is none.
bool match_next(JoinState* join) {
  ExprContext* context = expression_context(join);
  uint64 inner;
  while (next_partner(join->rows, join->outer, &inner)) {
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
  ResetExprContext(expression_context(join));
  set_joined_row(join, join->outer_slot, nullptr);
  return finished(join);
}

// The next result of the open outer row; null at its end.
TupleTableSlot* next_of_row(JoinState* join) {
  while (match_next(join)) {
    join->has_matched = true;
    const JoinType type = join->search.type;
    if (type == JOIN_ANTI || type == JOIN_SEMI) {
      pass_partners(join->rows, join->outer);
      join->is_open = false;
      return type == JOIN_SEMI ? finished(join) : nullptr;
    }
    TupleTableSlot* result = finished(join);
    if (result != nullptr) return result;
  }
  join->is_open = false;
  const bool is_alone = !join->has_matched && join->rows->outer.keeps_all;
  return is_alone ? alone(join) : nullptr;
}

TupleTableSlot* exec_join(CustomScanState* node) {
  JoinState* join = join_state(node);
  if (join->rows == nullptr) read_rows(join);
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    if (!join->is_open) {
      if (!next_outer(join->rows, join->outer, &join->outer)) return nullptr;
      ExecStoreMinimalTuple(outer_tuple(join->rows, join->outer), join->outer_slot, false);
      join->is_open = true;
      join->has_matched = false;
    }
    TupleTableSlot* result = next_of_row(join);
    if (!join->is_open) ++join->outer;
    if (result != nullptr) return result;
  }
}

void init_keys(JoinState* join, const CustomScan* plan) {
  const auto expressions = [&](JoinExpression n) { return static_cast<List*>(list_nth(plan->custom_exprs, n)); };
  const auto list = [&](JoinList n) { return static_cast<List*>(list_nth(plan->custom_private, n)); };
  if (!join->search.is_grouped) return;
  PlanState* parent = &join->scan.ss.ps;
  join->outer_keys = make_hasher(expressions(kJoinOuterKeys), list(kJoinOuterHash), list(kJoinCollations), parent);
  join->inner_keys = make_hasher(expressions(kJoinInnerKeys), list(kJoinInnerHash), list(kJoinCollations), parent);
}

void begin_join(CustomScanState* node, EState* estate, int eflags) {
  JoinState* join = join_state(node);
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
  init_keys(join, plan);
  join->conditions = ExecInitQual(static_cast<List*>(list_nth(plan->custom_exprs, kJoinConditions)), parent);
  join->outer_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(outer_plan(join)), &TTSOpsMinimalTuple);
  join->inner_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(inner_plan(join)), &TTSOpsMinimalTuple);
  join->inner_columns = joined_slot(join)->tts_tupleDescriptor->natts - join->outer_columns;
  join->context = AllocSetContextCreate(estate->es_query_cxt, "neardup join", ALLOCSET_DEFAULT_SIZES);
}

// Frees all that the node holds but what EXPLAIN shows.
void free_rows(JoinState* join) {
  ExecClearTuple(join->outer_slot);
  ExecClearTuple(join->inner_slot);
  if (join->rows == nullptr) return;
  note_work(join);
  end_join_rows(join->rows);
  join->rows = nullptr;
  MemoryContextReset(join->context);
}

void end_join(CustomScanState* node) {
  JoinState* join = join_state(node);
  free_rows(join);
  ListCell* cell;
  foreach (cell, node->custom_ps) ExecEndNode(static_cast<PlanState*>(lfirst(cell)));
}

void rescan_join(CustomScanState* node) {
  JoinState* join = join_state(node);
  join->outer = 0;
  join->is_open = false;
  if (node->ss.ps.chgParam == nullptr && join->rows != nullptr) {
    rewind_join_pairs(join->rows);
    return;
  }
  free_rows(join);
  ListCell* cell;
  foreach (cell, node->custom_ps) {
    auto* child = static_cast<PlanState*>(lfirst(cell));
    if (node->ss.ps.chgParam != nullptr) UpdateChangedParamSet(child, node->ss.ps.chgParam);
    // A child with changed parameters starts its scan again when it is read.
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

void note_work(JoinState* join) {
  JoinRows* rows = join->rows;
  if (rows == nullptr) return;
  join->outer_read = rows->outer.read;
  join->inner_read = inner_side(rows)->read;
  join->stats = join_stats(rows);
}

Node* create_join_state(CustomScan* plan) {
  auto* join = static_cast<JoinState*>(palloc0(sizeof(JoinState)));
  NodeSetTag(&join->scan, T_CustomScanState);
  join->scan.methods = &kJoinExecMethods;
  auto* facts = static_cast<List*>(list_nth(plan->custom_private, kJoinFacts));
  const auto fact = [&](JoinFact n) { return intVal(list_nth(facts, n)); };
  join->outer_columns = fact(kJoinOuterColumns);
  join->search.type = static_cast<JoinType>(fact(kJoinKind));
  join->search.measure = static_cast<Measure>(fact(kJoinMeasure));
  join->search.bound_from = static_cast<JoinBound>(fact(kJoinBoundFrom));
  join->search.is_self = fact(kJoinIsSelf) != 0;
  join->search.omits_itself = fact(kJoinOmitsItself) != 0;
  join->search.inner_first = fact(kJoinInnerFirst) != 0;
  join->search.is_grouped = list_nth(plan->custom_exprs, kJoinKeyConditions) != nullptr;
  return reinterpret_cast<Node*>(join);
}

}  // namespace neardup
