// See plan_scans.h.
#include "pg/lsh/planner/plan_scans.h"

#include "pg/base/each.h"

extern "C" {
#include "parser/parsetree.h"
}

namespace neardup {
namespace {

struct Walk {
  const PlannedStmt* statement;
  List* uses;
};

Oid scanned_index(const Plan* plan) {
  switch (nodeTag(plan)) {
    case T_IndexScan:
      return reinterpret_cast<const IndexScan*>(plan)->indexid;
    case T_IndexOnlyScan:
      return reinterpret_cast<const IndexOnlyScan*>(plan)->indexid;
    case T_BitmapIndexScan:
      return reinterpret_cast<const BitmapIndexScan*>(plan)->indexid;
    default:
      return InvalidOid;
  }
}

List* further_children(const Plan* plan) {
  switch (nodeTag(plan)) {
    case T_Append:
      return reinterpret_cast<const Append*>(plan)->appendplans;
    case T_MergeAppend:
      return reinterpret_cast<const MergeAppend*>(plan)->mergeplans;
    case T_BitmapAnd:
      return reinterpret_cast<const BitmapAnd*>(plan)->bitmapplans;
    case T_BitmapOr:
      return reinterpret_cast<const BitmapOr*>(plan)->bitmapplans;
    case T_SubqueryScan:
      return list_make1(reinterpret_cast<const SubqueryScan*>(plan)->subplan);
    case T_CustomScan:
      return reinterpret_cast<const CustomScan*>(plan)->custom_plans;
    default:
      return NIL;
  }
}

void walk_plan(const Plan* plan, Walk* walk) {
  if (plan == nullptr) return;
  check_stack_depth();
  const Oid index = scanned_index(plan);
  if (OidIsValid(index)) {
    const Index relation = reinterpret_cast<const Scan*>(plan)->scanrelid;
    auto* use = static_cast<IndexUse*>(palloc(sizeof(IndexUse)));
    *use = {index, rt_fetch(relation, walk->statement->rtable)->eref};
    walk->uses = lappend(walk->uses, use);
  }
  walk_plan(plan->lefttree, walk);
  walk_plan(plan->righttree, walk);
  for (const auto* child : each<Plan>(further_children(plan))) walk_plan(child, walk);
}

}  // namespace

List* index_uses(const PlannedStmt* statement) {
  Walk walk = {statement, NIL};
  walk_plan(statement->planTree, &walk);
  for (const auto* plan : each<Plan>(statement->subplans)) walk_plan(plan, &walk);
  return walk.uses;
}

bool has_relation(const PlannedStmt* statement, const Alias* relation) {
  for (auto* rte : each<RangeTblEntry>(statement->rtable))
    if (rte->eref == relation) return true;
  return false;
}

}  // namespace neardup
