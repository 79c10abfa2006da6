// See plan_measures.h.
#include "pg/lsh/planner/facts/plan_measures.h"

#include "pg/base/each.h"
#include "pg/lsh/family.h"
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/planner/facts/plan_memory.h"

extern "C" {
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "utils/catcache.h"
}

namespace neardup {

Oid own_access_method() {
  const Oid method = get_am_oid("lsh", true);
  if (!OidIsValid(method)) return InvalidOid;
  HeapTuple tuple = SearchSysCache1(AMOID, ObjectIdGetDatum(method));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid handler = reinterpret_cast<Form_pg_am>(GETSTRUCT(tuple))->amhandler;
  ReleaseSysCache(tuple);
  FmgrInfo function;
  fmgr_info(handler, &function);
  return function.fn_addr == lshhandler ? method : InvalidOid;
}

bool two_arguments(Node* node, Node** a, Node** b) {
  List* arguments = NIL;
  if (IsA(node, FuncExpr)) arguments = reinterpret_cast<FuncExpr*>(node)->args;
  if (IsA(node, OpExpr)) arguments = reinterpret_cast<OpExpr*>(node)->args;
  if (list_length(arguments) != 2) return false;
  *a = static_cast<Node*>(linitial(arguments));
  *b = static_cast<Node*>(lsecond(arguments));
  return true;
}

uint16_t search_strategy(Oid operator_id) {
  const Oid method = own_access_method();
  uint16_t strategy = 0;
  CatCList* list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator_id));
  for (int i = 0; i < list->n_members; ++i) {
    const auto* entry = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&list->members[i]->tuple));
    if (entry->amopmethod == method && entry->amoppurpose == AMOP_SEARCH && entry->amopstrategy != kStrategyEqual)
      strategy = own_strategy(static_cast<uint16_t>(entry->amopstrategy));
  }
  ReleaseCatCacheList(list);
  return strategy;
}

List* add_all_measures(PlanMeasures* measures) {
  List* families = NIL;
  CatCList* list = SearchSysCacheList1(CLAAMNAMENSP, ObjectIdGetDatum(own_access_method()));
  for (int i = 0; i < list->n_members; ++i) {
    const auto* opclass = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(&list->members[i]->tuple));
    families = list_append_unique_oid(families, opclass->opcfamily);
    measures->add(opclass->opcfamily, opclass->opcintype);
  }
  ReleaseCatCacheList(list);
  return families;
}

namespace {

// A type that has measures, of both arguments: one that PostgreSQL does not bring, a set or a bit string; else invalid.
Oid common_type(Node* a, Node* b) {
  const Oid type = exprType(a);
  const bool may_measure =
      type >= FirstNormalObjectId || type == INT4ARRAYOID || type == INT8ARRAYOID || type == BITOID;
  return may_measure && exprType(b) == type ? type : InvalidOid;
}

// The type that a clause may measure: of measure(a, b) in a comparison, of predicate(a, b, bound), of a % b.
Oid measured_type(Node* clause) {
  Node* a;
  Node* b;
  if (IsA(clause, FuncExpr) && list_length(reinterpret_cast<FuncExpr*>(clause)->args) == 3) {
    const List* arguments = reinterpret_cast<FuncExpr*>(clause)->args;
    return common_type(static_cast<Node*>(linitial(arguments)), static_cast<Node*>(lsecond(arguments)));
  }
  if (!IsA(clause, OpExpr) || !two_arguments(clause, &a, &b)) return InvalidOid;
  const Oid type = common_type(a, b);
  if (OidIsValid(type)) return type;
  for (Node* side : {a, b}) {
    Node* x;
    Node* y;
    // a cast of the measure
    if (IsA(side, FuncExpr) && list_length(reinterpret_cast<FuncExpr*>(side)->args) == 1)
      side = static_cast<Node*>(linitial(reinterpret_cast<FuncExpr*>(side)->args));
    if (two_arguments(side, &x, &y) && OidIsValid(common_type(x, y))) return common_type(x, y);
  }
  return InvalidOid;
}

}  // namespace

bool is_lsh(const IndexOptInfo* index) {
  // The field has the true type from 16 on only.
  return reinterpret_cast<void (*)()>(index->amcostestimate) == reinterpret_cast<void (*)()>(lshcostestimate);
}

Oid quiet_twin(Oid operator_id, Oid family) {
  int strategy;
  Oid left;
  Oid right;
  get_op_opfamily_properties(operator_id, family, false, &strategy, &left, &right);
  const Oid twin = get_opfamily_member(family, left, right, static_cast<int16>(strategy + kQuietTwin));
  return OidIsValid(twin) && get_func_leakproof(get_opcode(twin)) ? twin : InvalidOid;
}

int find_measures(Oid family, Oid type, PlanMeasure measures[kMaxMeasures]) {
  const auto proc = [&](int number) { return get_opfamily_proc(family, type, type, static_cast<int16>(number)); };
  int n = 0;
  for (const MeasureProcs& of : kMeasureProcs) {
    PlanMeasure* m = &measures[n];
    memset(m, 0, sizeof *m);
    m->is_distance = of.is_distance;
    m->type = type;
    m->function = proc(of.function);
    m->make_query = proc(of.make_query);
    m->predicate = proc(of.predicate);
    m->make_strict = proc(of.make_strict);
    m->make_second = proc(of.make_second);
    m->make_second_strict = proc(of.make_second_strict);
    if (!OidIsValid(m->make_second)) continue;
    if (!OidIsValid(m->function) || !OidIsValid(m->make_query) || !OidIsValid(m->predicate)) continue;
    m->is_whole = get_func_rettype(m->function) == INT4OID;
    m->query_type = get_func_rettype(m->make_query);
    m->condition = get_opfamily_member(family, type, m->query_type, kStrategyAtLeast);
    if (!OidIsValid(m->condition)) continue;
    m->quiet = quiet_twin(m->condition, family);
    ++n;
  }
  // A class with a distance orders by it.
  const Oid order = get_opfamily_member(family, type, type, kStrategyDistance);
  if (n > 0 && OidIsValid(order)) measures[n - 1].order = get_opcode(order);
  return n;
}

Oid add_clause_measures(PlanMeasures* measures, Node* clause) {
  const Oid type = measured_type(clause);
  if (!OidIsValid(type)) return InvalidOid;
  const Oid method = own_access_method();
  const Oid opclass = OidIsValid(method) ? GetDefaultOpClass(type, method) : InvalidOid;
  if (!OidIsValid(opclass)) return InvalidOid;
  const Oid family = get_opclass_family(opclass);
  measures->add(family, type);
  return family;
}

PlanMeasures* plan_measures(PlannerInfo* root) {
  PlanMemory* memory = plan_memory(root);
  for (auto* level : each<PlanMeasures>(memory->levels)) {
    if (level->root == root) return level;
  }
  auto* level = memory->make<PlanMeasures>();
  level->root = root;
  memory->keep(&memory->levels, level);

  // Partitions by the thousand have one operator family.
  Oid last_family = InvalidOid;
  for (int i = 1; i < root->simple_rel_array_size; ++i) {
    const RelOptInfo* rel = root->simple_rel_array[i];
    if (rel == nullptr) continue;
    for (const auto* index : each<IndexOptInfo>(rel->indexlist)) {
      if (!is_lsh(index)) continue;
      const int column = planned_value_column(index);
      if (index->opfamily[column] == last_family) continue;
      last_family = index->opfamily[column];
      level->add(last_family, index->opcintype[column]);
    }
    // Joins need no index.
    for (const auto* join : each<RestrictInfo>(rel->joininfo))
      add_clause_measures(level, reinterpret_cast<Node*>(join->clause));
  }
  return level;
}

}  // namespace neardup
