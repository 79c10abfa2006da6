// See condition_notes.h. The verdicts are those of the functions that the planner calls (lsh_support.h), asked again:
// an index that lsh_cost.cpp refuses counts as one that serves.
#include "pg/lsh/planner/facts/index_facts.h"

#include "pg/base/each.h"
#include "pg/lsh/planner/condition_notes.h"
#include "pg/lsh/planner/derived_conditions.h"
#include "pg/lsh/planner/lsh_support.h"

extern "C" {
#include "access/relation.h"
#include "commands/defrem.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/ruleutils.h"
}

namespace neardup {
namespace {

ConditionNotes* current = nullptr;

// A Similarity Join: the topmost parents of the relations of its sides.
struct NotedJoin {
  const PlannerInfo* root;
  Relids outer;
  Relids inner;
};

// Stands for an expression that has columns of other tables, or a subquery.
constexpr const char* kElsewhere = "..";

// A signature has hundreds of characters.
constexpr int kMaxShownSql = 60;
const char* shortened(char* sql) {
  const auto size = static_cast<int>(strlen(sql));
  if (size <= kMaxShownSql) return sql;
  return psprintf("%s..", pnstrdup(sql, static_cast<Size>(pg_mbcliplen(sql, size, kMaxShownSql / 2))));
}

// With each column as one of the only relation of a range table, not of the join that the query names it by.
Node* as_only_relation(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (!IsA(node, Var)) return mutate_expression(node, as_only_relation, context);
  auto* column = static_cast<Var*>(copyObjectImpl(node));
  column->varno = 1;
  column->varnosyn = 0;
  column->varattnosyn = 0;
  return reinterpret_cast<Node*>(column);
}

// True for a value from a subquery, or from a query around this one: PostgreSQL writes it by the finished plan only.
bool has_subquery(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan)) return true;
  if (IsA(node, Param)) return reinterpret_cast<const Param*>(node)->paramkind == PARAM_EXEC;
  return walk_expression(node, has_subquery, context);
}

// SQL of an expression of one relation; kElsewhere for one of others, of what is no table, and of a subquery.
const char* expression_text(PlannerInfo* root, Node* node, Index relid, const RangeTblEntry* rte) {
  const Relids relids = pull_varnos(root, node);
  const bool has_columns = !bms_is_empty(relids);
  const bool is_own = bms_equal(relids, bms_make_singleton(static_cast<int>(relid))) && OidIsValid(rte->relid);
  if ((has_columns && !is_own) || has_subquery(node, nullptr)) return kElsewhere;
  List* context = has_columns ? deparse_context_for(rte->eref->aliasname, rte->relid) : NIL;
  return shortened(deparse_expression(as_only_relation(node, nullptr), context, false, false));
}

const char* list_text(PlannerInfo* root, const List* arguments, Index relid, const RangeTblEntry* rte) {
  StringInfoData text;
  initStringInfo(&text);
  for (auto* member : each<Node>(arguments))
    appendStringInfo(&text, "%s%s", text.len == 0 ? "" : ", ", expression_text(root, member, relid, rte));
  return text.data;
}

const char* side_text(PlannerInfo* root, Node* side, Index relid, const RangeTblEntry* rte) {
  if (!IsA(side, FuncExpr)) return expression_text(root, side, relid, rte);
  const auto* call = reinterpret_cast<FuncExpr*>(side);
  return psprintf("%s(%s)", get_func_name(call->funcid), list_text(root, call->args, relid, rte));
}

const char* condition_text(PlannerInfo* root, Node* clause, Index relid, const RangeTblEntry* rte) {
  if (IsA(clause, OpExpr) && list_length(reinterpret_cast<OpExpr*>(clause)->args) == 2) {
    const auto* op = reinterpret_cast<OpExpr*>(clause);
    return psprintf("%s %s %s", side_text(root, static_cast<Node*>(linitial(op->args)), relid, rte),
                    get_opname(op->opno), side_text(root, static_cast<Node*>(lsecond(op->args)), relid, rte));
  }
  return side_text(root, clause, relid, rte);
}

struct Condition {
  PlannerInfo* root;
  RelOptInfo* rel;
  const RangeTblEntry* rte;
  Node* clause;
  const FuncExpr* call;  // of a predicate, which the clause implies; null for an operator of the index, or a far one
  const RestrictInfo* join_clause;
  const char* text;
  bool guarded;  // row security comes before it
};

Verdict find_verdict(const Condition& c, IndexOptInfo* index) {
  const Verdict verdict = c.call != nullptr
                              ? index_condition(c.root, index, c.call).verdict
                              : clause_verdict(c.root, index, reinterpret_cast<OpExpr*>(c.clause), c.guarded);
  return verdict == Verdict::usable && index->indpred != NIL && !index->predOK ? Verdict::partial : verdict;
}

void add_note(const Condition& c, Oid index, Verdict verdict, double limit) {
  MemoryContext old = MemoryContextSwitchTo(current->context);
  auto* note = static_cast<ConditionNote*>(palloc(sizeof(ConditionNote)));
  *note = {pstrdup(c.text), c.rte->rtekind == RTE_RELATION ? c.rte->relid : InvalidOid,
           c.rte->eref,     index,
           verdict,         limit,
           c.root,          c.join_clause};
  current->notes = lappend(current->notes, note);
  MemoryContextSwitchTo(old);
}

IndexOptInfo* planned_index(const RelOptInfo* rel, Oid index) {
  for (auto* planned : each<IndexOptInfo>(rel->indexlist))
    if (planned->indexoid == index) return planned;
  return nullptr;
}

bool is_lsh_index(Oid index) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
  if (!HeapTupleIsValid(tuple)) return false;
  const Oid method = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relam;
  ReleaseSysCache(tuple);
  return method == own_access_method();
}

void note_for_index(const Condition& c, Oid oid, bool is_far) {
  IndexOptInfo* index = planned_index(c.rel, oid);
  if (is_far) return add_note(c, oid, Verdict::far, 0);
  if (index == nullptr) return add_note(c, oid, Verdict::not_valid, 0);
  const Verdict verdict = find_verdict(c, index);
  const IndexFacts* facts = index_facts(c.root, index);
  add_note(c, oid, verdict, facts != nullptr ? farthest_bound(*facts) : 0);
}

void note_condition(const Condition& c, bool is_far) {
  if (c.rte->rtekind != RTE_RELATION) {
    // Between relations, the other one may have an index.
    if (c.join_clause == nullptr) add_note(c, InvalidOid, is_far ? Verdict::far : Verdict::no_table, 0);
    return;
  }
  if (c.rte->relkind == RELKIND_FOREIGN_TABLE) return add_note(c, InvalidOid, Verdict::foreign_table, 0);
  Relation table = relation_open(c.rte->relid, NoLock);
  bool has_index = false;
  ListCell* cell;
  foreach (cell, RelationGetIndexList(table)) {
    if (!is_lsh_index(lfirst_oid(cell))) continue;
    has_index = true;
    note_for_index(c, lfirst_oid(cell), is_far);
  }
  relation_close(table, NoLock);
  if (!has_index) add_note(c, InvalidOid, is_far ? Verdict::far : Verdict::no_index, 0);
}

struct Walk {
  PlannerInfo* root;
  RelOptInfo* rel;
  const RangeTblEntry* rte;
  const PlanMeasures* measures;
  const RestrictInfo* join_clause;
  bool guarded;
};

// Notes the comparisons of measures, the predicates and the operators of lsh within a clause.
bool note_within(Node* node, void* arg) {
  if (node == nullptr) return false;
  const auto* walk = static_cast<const Walk*>(arg);
  if (IsA(node, OpExpr) || IsA(node, FuncExpr)) {
    FuncExpr* call = implied_call(walk->measures, node);
    if (call != nullptr && walk->guarded)
      call->location = call->location == kUsersCall ? kGuardedUsersCall : kGuardedCall;
    const bool is_operator =
        call == nullptr && IsA(node, OpExpr) && search_strategy(reinterpret_cast<OpExpr*>(node)->opno) != 0;
    const bool is_far = call == nullptr && !is_operator && compares_measure(walk->measures, node);
    if (call != nullptr || is_operator || is_far) {
      if (bms_is_member(static_cast<int>(walk->rel->relid), pull_varnos(walk->root, node)))
        note_condition({walk->root, walk->rel, walk->rte, node, call, walk->join_clause,
                        condition_text(walk->root, node, walk->rel->relid, walk->rte), walk->guarded},
                       is_far);
      return false;
    }
  }
  return walk_expression(node, note_within, arg);
}

// The join condition at this place in the list of a relation, as its topmost parent has it: lists of partitions are
// made of their parents' in the same order.
const RestrictInfo* topmost_clause(const PlannerInfo* root, const RelOptInfo* rel, int place) {
  const RelOptInfo* topmost = rel;
  while (root->append_rel_array != nullptr && root->append_rel_array[topmost->relid] != nullptr) {
    const RelOptInfo* parent = root->simple_rel_array[root->append_rel_array[topmost->relid]->parent_relid];
    if (parent == nullptr || list_length(parent->joininfo) != list_length(rel->joininfo)) break;
    topmost = parent;
  }
  return static_cast<RestrictInfo*>(list_nth(topmost->joininfo, place));
}

Relids topmost_relids(const PlannerInfo* root, const Bitmapset* relids) {
  Relids topmost = nullptr;
  for (int i = -1; (i = bms_next_member(relids, i)) >= 0;) {
    int parent = i;
    while (root->append_rel_array != nullptr && parent < root->simple_rel_array_size &&
           root->append_rel_array[parent] != nullptr)
      parent = static_cast<int>(root->append_rel_array[parent]->parent_relid);
    topmost = bms_add_member(topmost, parent);
  }
  return topmost;
}

// True if a Similarity Join evaluates the condition: it has columns of both sides.
bool is_joined(const ConditionNotes& all, const ConditionNote& note) {
  if (note.join_clause == nullptr) return false;
  for (const auto* join : each<NotedJoin>(all.joins)) {
    const Bitmapset* relids = note.join_clause->clause_relids;
    if (join->root == note.root && bms_overlap(relids, join->outer) && bms_overlap(relids, join->inner)) return true;
  }
  return false;
}

bool is_noted(const List* notes, int n, const ConditionNote& note) {
  for (int i = 0; i < n; ++i)
    if (static_cast<ConditionNote*>(list_nth(notes, i))->join_clause == note.join_clause) return true;
  return false;
}

// One note of each condition that a Similarity Join answers.
void settle_joins(ConditionNotes* all) {
  List* settled = NIL;
  for (auto* note : each<ConditionNote>(all->notes)) {
    if (is_joined(*all, *note)) {
      if (is_noted(settled, list_length(settled), *note)) continue;
      note->verdict = Verdict::joined;
      note->index = InvalidOid;
    }
    settled = lappend(settled, note);
  }
  all->notes = settled;
}

bool has_conditions_to_note(RelOptInfo* rel, const RangeTblEntry* rte) {
  if ((rel->baserestrictinfo == NIL && rel->joininfo == NIL) || IS_DUMMY_REL(rel)) return false;
  // Those on the partitions are noted, and within a view that is a security barrier their companions.
  return !rte->inh && !rte->security_barrier;
}

}  // namespace

void begin_condition_notes(ConditionNotes* notes) {
  *notes = {NIL, NIL, CurrentMemoryContext, makeParamList(0), current};
  current = notes;
}

void end_condition_notes(ConditionNotes* notes) {
  current = notes->outer;
  settle_joins(notes);
}

bool are_conditions_noted(const PlannerInfo* root) {
  return current != nullptr && root->glob->boundParams == current->parameters;
}

void note_conditions(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte) {
  if (!has_conditions_to_note(rel, rte)) return;
  PlanMeasures measures = {};
  add_all_measures(&measures);
  Walk walk = {root, rel, rte, &measures, nullptr, false};
  const auto note = [&](const RestrictInfo* info) {
    walk.guarded = info->security_level > rel->baserestrict_min_security;
    note_within(reinterpret_cast<Node*>(info->clause), &walk);
  };
  for (const auto* info : each<RestrictInfo>(rel->baserestrictinfo)) note(info);
  for (int place = 0; place < list_length(rel->joininfo); ++place) {
    walk.join_clause = topmost_clause(root, rel, place);
    note(list_nth_node(RestrictInfo, rel->joininfo, place));
  }
}

void note_similarity_join(const PlannerInfo* root, const Bitmapset* outer, const Bitmapset* inner) {
  if (!are_conditions_noted(root)) return;
  MemoryContext old = MemoryContextSwitchTo(current->context);
  auto* join = static_cast<NotedJoin*>(palloc(sizeof(NotedJoin)));
  *join = {root, topmost_relids(root, outer), topmost_relids(root, inner)};
  current->joins = lappend(current->joins, join);
  MemoryContextSwitchTo(old);
}

}  // namespace neardup
