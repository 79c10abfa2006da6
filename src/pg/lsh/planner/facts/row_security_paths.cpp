// Index paths of tables with row security, and in views that are a security barrier. The executor asks an index, and
// evaluates the order of rows, before it knows which rows may be seen; so both have to be done by operators that never
// tell of a row.
#include "core/kinds/measure.h"
#include "pg/base/each.h"
#include "pg/lsh/family.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/lsh/planner/facts/plan_measures.h"
#include "pg/lsh/planner/facts/plan_memory.h"
#include "pg/values/lsh_query_value.h"

extern "C" {
#include "optimizer/clauses.h"
}

namespace neardup {
namespace {

// A call whose only error would be one for its bound, which is in range.
bool is_safe_maker(const FuncExpr* call) {
  Measure measure;
  if (list_length(call->args) != 2 || !IsA(lsecond(call->args), Const) || !makes_lsh_query(call->funcid, &measure))
    return false;
  const auto* bound = lsecond_node(Const, call->args);
  return !is_of_sets(measure) && bound->consttype == FLOAT8OID && !bound->constisnull &&
         is_valid_bound(measure, DatumGetFloat8(bound->constvalue));
}

// The expression with the value in the place of each safe maker's call.
Node* without_makers(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (IsA(node, FuncExpr) && is_safe_maker(reinterpret_cast<FuncExpr*>(node)))
    return without_makers(static_cast<Node*>(linitial(reinterpret_cast<FuncExpr*>(node)->args)), context);
  return mutate_expression(node, without_makers, context);
}

Expr* with_operator(const OpExpr* call, Oid operator_id) {
  auto* other = static_cast<OpExpr*>(palloc(sizeof(OpExpr)));
  memcpy(other, call, sizeof(OpExpr));
  other->opno = operator_id;
  other->opfuncid = get_opcode(operator_id);
  return reinterpret_cast<Expr*>(other);
}

Expr* quiet_order(const IndexPath* path, Node* order, int column) {
  if (reveals_nothing(order)) return reinterpret_cast<Expr*>(order);
  if (!IsA(order, OpExpr)) return nullptr;
  int strategy;
  Oid left;
  Oid right;
  const Oid family = path->indexinfo->opfamily[column];
  const auto* op = reinterpret_cast<OpExpr*>(order);
  get_op_opfamily_properties(op->opno, family, true, &strategy, &left, &right);
  const Oid twin = get_opfamily_member(family, left, right, static_cast<int16>(strategy + kQuietTwin));
  if (!OidIsValid(twin)) return nullptr;
  Expr* quiet = with_operator(op, twin);
  return reveals_nothing(reinterpret_cast<Node*>(quiet)) ? quiet : nullptr;
}

void guard_order(IndexPath* path) {
  List* quiet = NIL;
  ListCell* order;
  ListCell* column;
  forboth(order, path->indexorderbys, column, path->indexorderbycols) {
    Expr* twin = quiet_order(path, static_cast<Node*>(lfirst(order)), lfirst_int(column));
    if (twin == nullptr) {
      path->indexorderbys = path->indexorderbycols = path->path.pathkeys = NIL;
      return;
    }
    quiet = lappend(quiet, twin);
  }
  path->indexorderbys = quiet;
}

struct RightsOf {
  const PlannerInfo* root;
  bool suffice;
};

bool rights_suffice(PlannerInfo* root) {
  PlanMemory* memory = plan_memory(root);
  for (const auto* known : each<RightsOf>(memory->rights)) {
    if (known->root == root) return known->suffice;
  }
  auto* rights = memory->make<RightsOf>();
  rights->root = root;
  rights->suffice = has_privileges(root->parse) && (root->parent_root == nullptr || rights_suffice(root->parent_root));
  memory->keep(&memory->rights, rights);
  return rights->suffice;
}

}  // namespace

bool hides_rows(const PlannerInfo* root, const RelOptInfo* rel) {
  if (rel == nullptr) return false;
  if (rel->baserestrict_min_security < root->qual_security_level) return true;
  // A view's query is a copy of what the query above has; which of its views it is does not show.
  for (const PlannerInfo* above = root->parent_root; above != nullptr; above = above->parent_root) {
    for (auto* rte : each<RangeTblEntry>(above->parse->rtable))
      if (rte->security_barrier) return true;
  }
  return false;
}

bool may_count_rows(PlannerInfo* root, const RelOptInfo* rel) { return !hides_rows(root, rel) && rights_suffice(root); }

bool reveals_nothing(Node* node) { return !contain_leaked_vars(without_makers(node, nullptr)); }

Expr* quiet_call(Oid family, Node* clause) {
  if (!IsA(clause, OpExpr)) return nullptr;
  const auto* op = reinterpret_cast<OpExpr*>(clause);
  const Oid twin = op_in_opfamily(op->opno, family) ? quiet_twin(op->opno, family) : InvalidOid;
  return OidIsValid(twin) ? with_operator(op, twin) : nullptr;
}

void guard_orders(const PlannerInfo* root, RelOptInfo* rel) {
  if (!hides_rows(root, rel)) return;
  for (auto* path : each<IndexPath>(rel->pathlist)) {
    if (IsA(path, IndexPath) && path->indexorderbys != NIL && is_lsh(path->indexinfo)) guard_order(path);
  }
}

}  // namespace neardup
