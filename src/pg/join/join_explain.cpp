#include "pg/join/join_scan.h"

#include "pg/join/join_explain.h"
#include "pg/join/join_plan.h"

extern "C" {
#include NEARDUP_EXPLAIN_HEADER
#include NEARDUP_EXPLAIN_STATE_HEADER
#include "nodes/makefuncs.h"
#include "utils/ruleutils.h"
}

namespace neardup {
namespace {

const char* join_type_name(JoinType type) {
  switch (type) {
    case JOIN_LEFT:
      return "Left";
    case JOIN_SEMI:
      return "Semi";
    case JOIN_ANTI:
      return "Anti";
    default:
      return "Inner";
  }
}

void show_expression(const char* label, Node* expression, const CustomScanState* node, List* ancestors,
                     ExplainState* es) {
  if (expression == nullptr) return;
  List* context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);
  const bool prefix = list_length(es->rtable) > 1 || es->verbose;
  ExplainPropertyText(label, deparse_expression(expression, context, prefix, false), es);
}

Node* conjunction(List* conditions) {
  return conditions == NIL ? nullptr : reinterpret_cast<Node*>(make_ands_explicit(conditions));
}

// All conditions under which rows match but the one of the engine, and those that make groups.
Node* further_conditions(const CustomScan* plan) {
  auto* shown = static_cast<Node*>(list_nth(plan->custom_exprs, kJoinShown));
  auto* of_keys = static_cast<List*>(list_nth(plan->custom_exprs, kJoinKeyConditions));
  List* further = NIL;
  ListCell* cell;
  foreach (cell, static_cast<List*>(list_nth(plan->custom_exprs, kJoinConditions)))
    if (!equal(lfirst(cell), shown) && !list_member(of_keys, lfirst(cell))) further = lappend(further, lfirst(cell));
  return conjunction(further);
}

void show_counts(JoinState* join, ExplainState* es) {
  note_work(join);
  const SearchStats& stats = join->stats;
  ExplainPropertyInteger("Outer Rows", nullptr, static_cast<int64>(join->outer_read), es);
  ExplainPropertyInteger("Inner Rows", nullptr, static_cast<int64>(join->inner_read), es);
  ExplainPropertyInteger("Pairs Compared", nullptr, static_cast<int64>(stats.compared), es);
  ExplainPropertyInteger("Pairs Found", nullptr, static_cast<int64>(stats.found), es);
  ExplainPropertyInteger("Engine Memory", "kB", static_cast<int64>(stats.peak_bytes / 1024), es);
  ExplainPropertyInteger("Engine Disk", "kB", static_cast<int64>(stats.spilled_bytes / 1024), es);
}

}  // namespace

void explain_join(CustomScanState* node, List* ancestors, ExplainState* es) {
  auto* join = reinterpret_cast<JoinState*>(node);
  const auto* plan = reinterpret_cast<CustomScan*>(node->ss.ps.plan);
  ExplainPropertyText("Join Type", join_type_name(join->search.type), es);
  show_expression("Similarity Cond", static_cast<Node*>(list_nth(plan->custom_exprs, kJoinShown)), node, ancestors, es);
  show_expression("Group Cond", conjunction(static_cast<List*>(list_nth(plan->custom_exprs, kJoinKeyConditions))), node,
                  ancestors, es);
  show_expression("Join Filter", further_conditions(plan), node, ancestors, es);
  if (join->search.is_self) ExplainPropertyBool("Self Join", true, es);
  if (es->analyze) show_counts(join, es);
}

}  // namespace neardup
