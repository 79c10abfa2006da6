// See join_plan.h. The node's scan tuple has the columns of the outer side, then those of the inner one. All
// expressions are over it.
#include "pg/join/join_plan.h"

#include "pg/join/self_join.h"
#include "pg/lsh/planner/condition_notes.h"

extern "C" {
#include "executor/hashjoin.h"
#include "executor/nodeHash.h"
#include "nodes/makefuncs.h"
#include "optimizer/placeholder.h"
#include "optimizer/restrictinfo.h"
}

namespace neardup {
namespace {

bool is_same_column(const Node* x, const Node* y) {
  if (nodeTag(x) != nodeTag(y)) return false;
  if (IsA(x, Var)) {
    const auto* a = reinterpret_cast<const Var*>(x);
    const auto* b = reinterpret_cast<const Var*>(y);
    return a->varno == b->varno && a->varattno == b->varattno && a->varlevelsup == b->varlevelsup;
  }
  return IsA(x, PlaceHolderVar) &&
         reinterpret_cast<const PlaceHolderVar*>(x)->phid == reinterpret_cast<const PlaceHolderVar*>(y)->phid;
}

// The member of a list of expressions that is this column; else null.
Node* column_in(List* expressions, const Node* column) {
  ListCell* cell;
  foreach (cell, expressions)
    if (is_same_column(static_cast<Node*>(lfirst(cell)), column)) return static_cast<Node*>(lfirst(cell));
  return nullptr;
}

// An UPDATE, DELETE or MERGE of several tables, partitions say, carries what identifies a row in columns of no table,
// for which PostgreSQL puts those of the tables in an Append; a scan tuple must not have any. It has the column of the
// table that the statement names. It is no plain column, or it would be taken for the one that a query itself asks for,
// which may have another type: the whole row of a partition, and of the table.
Node* row_identity(const PlannerInfo* root, const Var* column) {
  auto* info = static_cast<RowIdentityVarInfo*>(list_nth(root->row_identity_vars, column->varattno - 1));
  auto* named = static_cast<Var*>(copyObjectImpl(info->rowidvar));
  named->varno = root->parse->resultRelation;
  return reinterpret_cast<Node*>(makeRelabelType(reinterpret_cast<Expr*>(named), named->vartype, named->vartypmod,
                                                 named->varcollid, COERCE_IMPLICIT_CAST));
}

struct ScanTuple {
  const PlannerInfo* root;
  List* columns;
};

// In outer joins columns are marked by what makes them NULL (from 16 on), and PostgreSQL finds an expression's column
// in the tuple only where the marks are the same.
Node* mark_columns(Node* node, void* context) {
  const auto* tuple = static_cast<const ScanTuple*>(context);
  if (node == nullptr) return nullptr;
  if (is_row_identity(node)) return row_identity(tuple->root, reinterpret_cast<const Var*>(node));
  if (IsA(node, Var) || IsA(node, PlaceHolderVar))
    if (const Node* column = column_in(tuple->columns, node)) return static_cast<Node*>(copyObjectImpl(column));
  return mutate_expression(node, mark_columns, context);
}

// A copy of an expression, or of a list of them, with its columns as they are in the scan tuple.
template <typename T>
T* marked(ScanTuple* tuple, T* node) {
  return reinterpret_cast<T*>(mark_columns(reinterpret_cast<Node*>(node), tuple));
}

// The columns in what the join returns, as they are marked there: the target of the topmost join may have been replaced
// by that of the query, with expressions.
List* columns_above(const RelOptInfo* rel, const CustomPath* path) {
  constexpr int kAllColumns = PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS;
  return list_concat(pull_var_clause(reinterpret_cast<Node*>(rel->reltarget->exprs), kAllColumns),
                     pull_var_clause(reinterpret_cast<Node*>(path->path.pathtarget->exprs), kAllColumns));
}

// The columns of what both sides return, marked as they are above.
List* scan_columns(List* outer, List* inner, List* above) {
  List* columns = NIL;
  ListCell* cell;
  foreach (cell, list_concat_copy(outer, inner)) {
    auto* column = reinterpret_cast<Node*>(static_cast<TargetEntry*>(lfirst(cell))->expr);
    Node* same = column_in(above, column);
    columns = lappend(columns, same != nullptr ? same : column);
  }
  return columns;
}

List* scan_tuple(ScanTuple* tuple) {
  List* list = NIL;
  ListCell* cell;
  foreach (cell, tuple->columns) {
    auto* column = static_cast<Node*>(lfirst(cell));
    column = is_row_identity(column) ? marked(tuple, column) : static_cast<Node*>(copyObjectImpl(column));
    list = lappend(list, makeTargetEntry(reinterpret_cast<Expr*>(column),
                                         static_cast<AttrNumber>(list_length(list) + 1), nullptr, false));
  }
  return list;
}

struct OrderedClause {
  Node* clause;
  Cost cost;
  Index security;
};

// The order is PostgreSQL's: by security level, then cheap ones first, else as they stand. A clause that leaks nothing
// and is cheap comes first of all.
List* in_order_of_cost(PlannerInfo* root, List* clauses) {
  const int n = list_length(clauses);
  auto* ordered = static_cast<OrderedClause*>(palloc(sizeof(OrderedClause) * static_cast<size_t>(Max(n, 1))));
  int count = 0;
  ListCell* cell;
  foreach (cell, clauses) {
    auto* info = static_cast<RestrictInfo*>(lfirst(cell));
    QualCost cost;
    cost_qual_eval_node(&cost, reinterpret_cast<Node*>(info), root);
    const bool is_free = info->leakproof && cost.per_tuple < 10 * cpu_operator_cost;
    const OrderedClause next = {reinterpret_cast<Node*>(info->clause), cost.per_tuple,
                                is_free ? 0 : info->security_level};
    int at = count++;
    for (; at > 0; --at) {
      const OrderedClause& before = ordered[at - 1];
      if (next.security > before.security || (next.security == before.security && next.cost >= before.cost)) break;
      ordered[at] = before;
    }
    ordered[at] = next;
  }
  List* result = NIL;
  for (int i = 0; i < count; ++i) result = lappend(result, ordered[i].clause);
  return result;
}

// As a hash join does: rows of other groups are not compared, whatever that costs.
List* keys_first(const JoinKeys& keys, List* conditions) {
  List* result = list_copy(keys.conditions);
  ListCell* cell;
  foreach (cell, conditions)
    if (!list_member_ptr(keys.conditions, lfirst(cell))) result = lappend(result, lfirst(cell));
  return result;
}

List* plan_facts(const JoinPath* path, int outer_columns) {
  List* facts = NIL;
  for (const int fact : {static_cast<int>(path->type), static_cast<int>(path->condition.measure), outer_columns,
                         static_cast<int>(path->condition.bound_from), static_cast<int>(path->is_self),
                         static_cast<int>(path->omits_itself), static_cast<int>(path->inner_first)})
    facts = lappend(facts, makeInteger(fact));
  return facts;
}

// lsh_why_not() shows the join.
void note_join(const PlannerInfo* root, const JoinPath* path) {
  if (path->is_self)
    return note_similarity_join(root, bms_make_singleton(static_cast<int>(path->outer)),
                                bms_make_singleton(static_cast<int>(path->inner)));
  const auto* outer = static_cast<Path*>(linitial(path->path.custom_paths));
  const auto* inner = static_cast<Path*>(lsecond(path->path.custom_paths));
  note_similarity_join(root, outer->parent->relids, inner->parent->relids);
}

Plan* plan_join(PlannerInfo* root, RelOptInfo* rel, CustomPath* best, List* tlist, List*, List* children) {
  const auto* path = reinterpret_cast<JoinPath*>(best);
  note_join(root, path);
  List* outer = static_cast<Plan*>(linitial(children))->targetlist;
  List* inner = path->is_self
                    ? reinterpret_cast<List*>(over_other_side(reinterpret_cast<Node*>(outer), path->outer, path->inner))
                    : static_cast<Plan*>(lsecond(children))->targetlist;
  ScanTuple tuple = {root, scan_columns(outer, inner, columns_above(rel, best))};
  List* matching = NIL;
  List* filters = NIL;
  divide_clauses(rel, path->type, path->clauses, &matching, &filters);
  const JoinCondition& condition = path->condition;
  CustomScan* scan = makeNode(CustomScan);
  scan->scan.plan.targetlist = marked(&tuple, tlist);
  scan->scan.plan.qual = marked(&tuple, in_order_of_cost(root, filters));
  scan->scan.scanrelid = 0;
  scan->flags = best->flags;
  scan->custom_plans = children;
  List* ordered = marked(&tuple, keys_first(path->keys, in_order_of_cost(root, matching)));
  Node* bound =
      condition.bound != nullptr ? condition.bound : reinterpret_cast<Node*>(makeNullConst(FLOAT8OID, -1, InvalidOid));
  const JoinKeys& keys = path->keys;
  scan->custom_exprs =
      list_concat(list_make5(marked(&tuple, condition.outer), marked(&tuple, condition.inner), bound, ordered,
                             marked(&tuple, condition.origin->clause)),
                  list_make3(marked(&tuple, keys.outer), marked(&tuple, keys.inner), marked(&tuple, keys.conditions)));
  scan->custom_private =
      list_make4(plan_facts(path, list_length(outer)), keys.outer_hash, keys.inner_hash, keys.collations);
  scan->custom_scan_tlist = scan_tuple(&tuple);
  scan->methods = &join_scan_methods;
  return &scan->scan.plan;
}

}  // namespace

const CustomPathMethods join_path_methods = {"Similarity Join", plan_join, nullptr};
const CustomScanMethods join_scan_methods = {"Similarity Join", create_join_state};

bool is_row_identity(const Node* node) {
  return IsA(node, Var) && reinterpret_cast<const Var*>(node)->varno == ROWID_VAR;
}

void divide_clauses(const RelOptInfo* join, JoinType type, List* clauses, List** matching, List** filters) {
  ListCell* cell;
  foreach (cell, clauses) {
    auto* info = static_cast<RestrictInfo*>(lfirst(cell));
    const bool is_filter = IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(info, join->relids);
    List** list = is_filter ? filters : matching;
    *list = lappend(*list, info);
  }
}

size_t join_memory() { return NEARDUP_HASH_MEMORY(); }

void register_join_scan() { RegisterCustomScanMethods(&join_scan_methods); }

}  // namespace neardup
