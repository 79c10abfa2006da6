// See condition_notes.h. The verdicts are those of index_condition() and of index_serves(): each of their refusals is
// looked for here again, to be named.
#include "pg/lsh/planner/index_facts.h"
#include "pg/values/lsh_query_value.h"

#include "pg/lsh/family.h"
#include "pg/lsh/planner/condition_notes.h"
#include "pg/lsh/planner/derived_conditions.h"
#include "pg/lsh/planner/lsh_support.h"
#include "pg/lsh/planner/row_security_paths.h"

extern "C" {
#include "access/relation.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/catcache.h"
#include "utils/ruleutils.h"
}

namespace neardup {
namespace {

List* notes = NIL;
MemoryContext notes_context = nullptr;
ParamListInfo noted_parameters = nullptr;

// What is written in the place of an expression that has columns of other tables.
constexpr const char* kOtherTables = "..";

// The measures that the operator classes of lsh know: those that a table could have an index for.
PlanMeasures all_measures(PlannerInfo* root) {
  PlanMeasures all = {};
  all.root = root;
  CatCList* classes = SearchSysCacheList1(CLAAMNAMENSP, ObjectIdGetDatum(get_index_am_oid("lsh", false)));
  for (int i = 0; i < classes->n_members; ++i) {
    const auto* opclass = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(&classes->members[i]->tuple));
    all.add(opclass->opcfamily, opclass->opcintype);
  }
  ReleaseSysCacheList(classes);
  return all;
}

// A signature has hundreds of characters.
constexpr int kMaxShown = 60;
const char* shortened(char* sql) {
  const auto size = static_cast<int>(strlen(sql));
  if (size <= kMaxShown) return sql;
  return psprintf("%s..", pnstrdup(sql, static_cast<Size>(pg_mbcliplen(sql, size, kMaxShown / 2))));
}

// SQL of an expression of one relation; kOtherTables for one of others.
const char* expression_text(PlannerInfo* root, Node* node, Index relid, const RangeTblEntry* rte) {
  const Relids relids = pull_varnos(root, node);
  if (!bms_is_empty(relids) && !bms_equal(relids, bms_make_singleton(static_cast<int>(relid)))) return kOtherTables;
  Node* own = static_cast<Node*>(copyObjectImpl(node));
  ChangeVarNodes(own, static_cast<int>(relid), 1, 0);
  return shortened(deparse_expression(own, deparse_context_for(rte->eref->aliasname, rte->relid), false, false));
}

const char* list_text(PlannerInfo* root, const List* arguments, Index relid, const RangeTblEntry* rte) {
  StringInfoData text;
  initStringInfo(&text);
  ListCell* cell;
  foreach (cell, arguments)
    appendStringInfo(&text, "%s%s", text.len == 0 ? "" : ", ",
                     expression_text(root, static_cast<Node*>(lfirst(cell)), relid, rte));
  return text.data;
}

const char* side_text(PlannerInfo* root, Node* side, Index relid, const RangeTblEntry* rte) {
  if (!IsA(side, FuncExpr)) return expression_text(root, side, relid, rte);
  const auto* call = reinterpret_cast<FuncExpr*>(side);
  return psprintf("%s(%s)", get_func_name(call->funcid), list_text(root, call->args, relid, rte));
}

// A condition as SQL, of which the parts of other tables are left out.
const char* condition_text(PlannerInfo* root, Node* clause, Index relid, const RangeTblEntry* rte) {
  if (IsA(clause, OpExpr) && list_length(reinterpret_cast<OpExpr*>(clause)->args) == 2) {
    const auto* op = reinterpret_cast<OpExpr*>(clause);
    return psprintf("%s %s %s", side_text(root, static_cast<Node*>(linitial(op->args)), relid, rte),
                    get_opname(op->opno), side_text(root, static_cast<Node*>(lsecond(op->args)), relid, rte));
  }
  return side_text(root, clause, relid, rte);
}

// One condition of a relation, and what is asked of an index for it.
struct Condition {
  PlannerInfo* root;
  RelOptInfo* rel;
  const RangeTblEntry* rte;
  Node* clause;
  const FuncExpr* call;  // of a predicate, which the clause implies; null for an operator of the index, or a far one
  const char* text;
};

bool is_of_row(const Condition& c, const IndexOptInfo* index, Node* node) {
  return !is_pseudo_constant_for_index(c.root, node, const_cast<IndexOptInfo*>(index));
}

// Why the index does not serve what is known of the query.
Verdict refusal_of(const Condition& c, const IndexOptInfo* index, const KnownQuery& known, double* threshold) {
  if (index_serves(c.root, index, known)) return Verdict::usable;
  const IndexFacts* facts = facts_of(c.root, index);
  const bool has_distance = facts->family == Family::bits;
  *threshold = has_distance ? facts->layout.most : facts->threshold;
  KnownQuery bound_alone = known;
  bound_alone.has_query = false;
  if (!index_serves(c.root, index, bound_alone))
    return has_distance ? Verdict::beyond_distance : Verdict::below_threshold;
  return hides_rows(c.root, c.rel) ? Verdict::hidden : Verdict::other_signature;
}

// Of a call of a predicate: jaccard_at_least(sig, q, 0.8).
Verdict verdict_of_call(const Condition& c, const IndexOptInfo* index, double* threshold) {
  const int column = planned_value_column(index);
  List* args = c.call->args;
  int key = 0;
  while (key < 2 &&
         !match_index_to_operand(static_cast<Node*>(list_nth(args, key)), column, const_cast<IndexOptInfo*>(index)))
    ++key;
  if (key == 2) return Verdict::other_value;
  PlanMeasure measures[kMaxMeasures];
  const PlanMeasure* m = nullptr;
  for (int i = find_measures(index, column, measures); i-- > 0;)
    if (measures[i].predicate == c.call->funcid) m = &measures[i];
  if (m == nullptr) return Verdict::other_measure;
  auto* value = static_cast<Node*>(list_nth(args, 1 - key));
  auto* bound = static_cast<Node*>(lthird(args));
  if (is_of_row(c, index, value) || is_of_row(c, index, bound)) return Verdict::other_row;
  bool exact;
  if (index_condition(c.root, const_cast<IndexOptInfo*>(index), column, c.call->funcid, args, key, c.call->location,
                      &exact) != nullptr)
    return Verdict::usable;
  LshMeasure measure{};
  if (!makes_lsh_query(m->maker(key), &measure)) return Verdict::other_measure;
  const KnownQuery known = known_arguments(c.root, measure, m->maker(key), value, bound);
  if (is_users_own(c.call->location) && known.has_bound && !valid_bound(measure, known.bound))
    return Verdict::bad_bound;
  return refusal_of(c, index, known, threshold);
}

// Of an operator of the index: sig % q, sig %> q, q && q.
Verdict verdict_of_operator(const Condition& c, const IndexOptInfo* index, double* threshold) {
  const int column = planned_value_column(index);
  const auto* op = reinterpret_cast<OpExpr*>(c.clause);
  auto* left = static_cast<Node*>(linitial(op->args));
  auto* right = static_cast<Node*>(lsecond(op->args));
  const bool is_left = match_index_to_operand(left, column, const_cast<IndexOptInfo*>(index));
  if (!is_left && !match_index_to_operand(right, column, const_cast<IndexOptInfo*>(index))) return Verdict::other_value;
  const Oid by = is_left ? op->opno : get_commutator(op->opno);
  const int strategy = OidIsValid(by) ? get_op_opfamily_strategy(by, index->opfamily[column]) : 0;
  if (strategy == 0) return Verdict::other_measure;
  Node* query = is_left ? right : left;
  if (is_of_row(c, index, query)) return Verdict::other_row;
  return refusal_of(c, index, known_operand(c.root, static_cast<uint16_t>(strategy), query, true), threshold);
}

Verdict verdict_of(const Condition& c, const IndexOptInfo* index, double* threshold) {
  const Verdict verdict =
      c.call != nullptr ? verdict_of_call(c, index, threshold) : verdict_of_operator(c, index, threshold);
  return verdict == Verdict::usable && index->indpred != NIL && !index->predOK ? Verdict::partial : verdict;
}

void add_note(const Condition& c, Oid index, Verdict verdict, double threshold) {
  MemoryContext old = MemoryContextSwitchTo(notes_context);
  auto* note = static_cast<ConditionNote*>(palloc(sizeof(ConditionNote)));
  *note = {pstrdup(c.text), c.rte->relid, pstrdup(c.rte->eref->aliasname), index, verdict, threshold};
  notes = lappend(notes, note);
  MemoryContextSwitchTo(old);
}

const IndexOptInfo* planned_index(const RelOptInfo* rel, Oid index) {
  ListCell* cell;
  foreach (cell, rel->indexlist)
    if (static_cast<IndexOptInfo*>(lfirst(cell))->indexoid == index) return static_cast<IndexOptInfo*>(lfirst(cell));
  return nullptr;
}

bool is_lsh_index(Oid index) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
  if (!HeapTupleIsValid(tuple)) return false;
  const Oid method = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relam;
  ReleaseSysCache(tuple);
  return method == get_index_am_oid("lsh", false);
}

// A note for each lsh index of the table.
void note_condition(const Condition& c, bool is_far) {
  Relation table = relation_open(c.rte->relid, NoLock);
  bool has_index = false;
  ListCell* cell;
  foreach (cell, RelationGetIndexList(table)) {
    const Oid oid = lfirst_oid(cell);
    if (!is_lsh_index(oid)) continue;
    has_index = true;
    const IndexOptInfo* index = planned_index(c.rel, oid);
    double threshold = 0;
    const Verdict verdict = is_far             ? Verdict::far
                            : index == nullptr ? Verdict::not_valid
                                               : verdict_of(c, index, &threshold);
    add_note(c, oid, verdict, threshold);
  }
  relation_close(table, NoLock);
  if (!has_index) add_note(c, InvalidOid, is_far ? Verdict::far : Verdict::no_index, 0);
}

bool is_operator_of_lsh(const OpExpr* op) {
  bool found = false;
  CatCList* members = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(op->opno));
  const Oid lsh = get_index_am_oid("lsh", false);
  for (int i = 0; i < members->n_members; ++i) {
    const auto* member = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&members->members[i]->tuple));
    if (member->amopmethod == lsh && member->amopstrategy != kStrategyEqual && member->amoppurpose == AMOP_SEARCH)
      found = true;
  }
  ReleaseSysCacheList(members);
  return found;
}

struct Walk {
  PlannerInfo* root;
  RelOptInfo* rel;
  const RangeTblEntry* rte;
  const PlanMeasures* measures;
};

// Notes the comparisons of measures, the predicates and the operators of lsh within a clause.
bool note_within(Node* node, void* arg) {
  if (node == nullptr) return false;
  const auto* walk = static_cast<const Walk*>(arg);
  if (IsA(node, OpExpr) || IsA(node, FuncExpr)) {
    const FuncExpr* call = implied_call(walk->measures, node);
    const bool is_operator =
        call == nullptr && IsA(node, OpExpr) && is_operator_of_lsh(reinterpret_cast<OpExpr*>(node));
    const bool is_far = call == nullptr && !is_operator && compares_measure(walk->measures, node);
    if (call != nullptr || is_operator || is_far) {
      if (bms_is_member(static_cast<int>(walk->rel->relid), pull_varnos(walk->root, node)))
        note_condition({walk->root, walk->rel, walk->rte, node, call,
                        condition_text(walk->root, node, walk->rel->relid, walk->rte)},
                       is_far);
      return false;
    }
  }
  return walk_expression(node, note_within, arg);
}

}  // namespace

ParamListInfo begin_condition_notes() {
  notes = NIL;
  notes_context = CurrentMemoryContext;
  noted_parameters = makeParamList(0);
  return noted_parameters;
}

List* end_condition_notes() {
  List* found = notes;
  notes = NIL;
  notes_context = nullptr;
  noted_parameters = nullptr;
  return found;
}

bool are_conditions_noted(const PlannerInfo* root) {
  return notes_context != nullptr && root->glob->boundParams == noted_parameters;
}

void note_conditions(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte) {
  if (rte->rtekind != RTE_RELATION || rte->inh || (rel->baserestrictinfo == NIL && rel->joininfo == NIL)) return;
  const PlanMeasures measures = all_measures(root);
  Walk walk = {root, rel, rte, &measures};
  ListCell* cell;
  foreach (cell, rel->baserestrictinfo)
    note_within(reinterpret_cast<Node*>(lfirst_node(RestrictInfo, cell)->clause), &walk);
  foreach (cell, rel->joininfo) note_within(reinterpret_cast<Node*>(lfirst_node(RestrictInfo, cell)->clause), &walk);
}

}  // namespace neardup
