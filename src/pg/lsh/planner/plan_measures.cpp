// See plan_measures.h.
#include "pg/lsh/planner/plan_measures.h"

#include "pg/lsh/family.h"
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/planner/plan_memory.h"

namespace neardup {

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
  for (const bool is_distance : {false, true}) {
    const int first = is_distance ? kProcDistance : kProcSimilarity;
    PlanMeasure* m = &measures[n];
    memset(m, 0, sizeof *m);
    m->is_distance = is_distance;
    m->type = type;
    m->function = proc(first);
    m->make_query = proc(first + kProcMakeQuery - kProcSimilarity);
    m->predicate = proc(first + kProcAtLeast - kProcSimilarity);
    m->make_strict = proc(first + kProcMakeStrict - kProcSimilarity);
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

PlanMeasures* measures_of(PlannerInfo* root) {
  PlanMemory* memory = plan_memory(root);
  ListCell* cell;
  foreach (cell, memory->levels) {
    auto* level = static_cast<PlanMeasures*>(lfirst(cell));
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
    foreach (cell, rel->indexlist) {
      const auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
      if (!is_lsh(index)) continue;
      const int column = planned_value_column(index);
      if (index->opfamily[column] == last_family) continue;
      last_family = index->opfamily[column];
      level->add(last_family, index->opcintype[column]);
    }
  }
  return level;
}

}  // namespace neardup
