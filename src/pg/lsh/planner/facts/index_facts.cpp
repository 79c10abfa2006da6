// See index_facts.h.
#include "pg/lsh/planner/facts/index_facts.h"

#include "pg/base/each.h"
#include "pg/lsh/planner/facts/row_security_paths.h"
#include "pg/lsh/planner/facts/plan_memory.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/options.h"

namespace neardup {
namespace {

// Bytes of a pending page that hold no keys: its head and tail, and what is left over.
constexpr int kPendingPageRest = 48;

struct ProbeFacts {
  Oid index;
  bool has_salt;  // of the conditions on the columns before the value
  uint64_t salt;
  uint16_t strategy;
  Oid type;
  Datum query;
  bool served;
  ProbeEstimate estimate;
};

IndexFacts* read_facts(Oid oid, PlanMemory* memory) {
  Relation index = index_open(oid, NoLock);
  LshMeta* meta = copy_meta(index);
  index_close(index, NoLock);
  auto* facts = memory->make<IndexFacts>(offsetof(IndexFacts, leaves) + meta->nruns * sizeof(uint32_t));
  facts->index = oid;
  facts->bound = (meta->config.flags & kMetaBound) != 0;
  facts->family = find_family(meta->config);
  if (facts->bound && facts->family->read_params != nullptr) facts->family->read_params(&meta->config, facts);
  facts->threshold = meta->config.threshold;
  facts->nbands = meta->config.nbands;
  for (int i = 0; i < meta->nruns; ++i) {
    const RunSlot& run = meta->runs[i];
    if (run.state == kBuilding) continue;
    facts->leaves[facts->nruns++] = run.leaves;
    if (run.entries > run.rows) facts->entries += static_cast<double>(run.entries - run.rows);
    facts->sum_sq += run.sum_sq;
  }
  // All of them are full but the last, which is half full on average.
  if (meta->npending > 0)
    facts->pending_keys = (meta->npending - 0.5) * (BLCKSZ - kPendingPageRest) / static_cast<double>(kPendingKeyBytes);
  pfree(meta);
  return facts;
}

// Is the value one that this index can compare with? An unlike one is an error of the query, not of its planning.
bool comparable_with(Relation index, const KnownQuery& query) {
  LshMeta* meta = copy_meta(index);
  const bool matches = (meta->config.flags & kMetaBound) == 0 || value_matches(index, query.value, &meta->config);
  pfree(meta);
  return matches;
}

// salt: null where it is not known.
const ProbeFacts* known_probes(const PlanMemory* memory, Oid oid, const KnownQuery& query, const uint64_t* salt) {
  const bool by_value = get_typbyval(query.type);
  const int16 length = get_typlen(query.type);
  for (auto* facts : each<ProbeFacts>(memory->probes)) {
    if (facts->index == oid && facts->strategy == query.strategy && facts->type == query.type &&
        facts->has_salt == (salt != nullptr) && (salt == nullptr || facts->salt == *salt) &&
        datum_image_eq(facts->query, query.query, by_value, length))
      return facts;
  }
  return nullptr;
}

const ProbeFacts* count_probes(PlannerInfo* root, Oid oid, const KnownQuery& query, const KnownColumns* columns) {
  PlanMemory* memory = plan_memory(root);
  Relation index = index_open(oid, NoLock);
  uint64_t salt = 0;
  const bool has_salt =
      value_column(index) == 0 || (columns != nullptr && salt_of_keys(index, columns->keys, columns->n, &salt));
  const uint64_t* known_salt = has_salt ? &salt : nullptr;
  if (const ProbeFacts* known = known_probes(memory, oid, query, known_salt)) {
    index_close(index, NoLock);
    return known;
  }
  auto* facts = memory->make<ProbeFacts>();
  facts->index = oid;
  facts->has_salt = has_salt;
  facts->salt = salt;
  facts->type = query.type;
  facts->strategy = query.strategy;
  if (query.value == 0 || comparable_with(index, query))
    facts->served = estimate_probes(index, known_salt, query.strategy, query.query, kMaxCounted, &facts->estimate);
  index_close(index, NoLock);
  MemoryContext old = MemoryContextSwitchTo(memory->context);
  facts->query = datumCopy(query.query, get_typbyval(query.type), get_typlen(query.type));
  MemoryContextSwitchTo(old);
  memory->keep(&memory->probes, facts);
  return facts;
}

}  // namespace

const IndexFacts* index_facts(PlannerInfo* root, const IndexOptInfo* index) {
  const RangeTblEntry* table = root->simple_rte_array[index->rel->relid];
  if (index->hypothetical || table->inh || table->relkind == RELKIND_PARTITIONED_TABLE) return nullptr;
  PlanMemory* memory = plan_memory(root);
  for (auto* facts : each<IndexFacts>(memory->indexes)) {
    if (facts->index == index->indexoid) return facts;
  }
  IndexFacts* facts = read_facts(index->indexoid, memory);
  memory->keep(&memory->indexes, facts);
  return facts;
}

double farthest_bound(const IndexFacts& facts) {
  return facts.family->limit != nullptr ? facts.family->limit(facts) : facts.threshold;
}

Verdict index_verdict(PlannerInfo* root, const IndexOptInfo* index, const KnownQuery& query,
                      const ProbeEstimate** counted, const KnownColumns* columns) {
  if (counted != nullptr) *counted = nullptr;
  const IndexFacts* facts = index_facts(root, index);
  if (facts == nullptr || !facts->bound) return Verdict::usable;  // no page, or no row was ever there
  const FamilyPlan& family = *facts->family;
  // `minhash %> lsh_query` of a simhash: the operator raises the error.
  if (query.has_bound && !serves_measure(family, query.measure)) return Verdict::other_measure;
  if (query.none || !query.has_bound) return Verdict::usable;
  const bool is_served = family.serves(*facts, query);
  if (!query.has_query) return is_served ? Verdict::usable : family.beyond;
  const ProbeFacts* probes = count_probes(root, index->indexoid, query, columns);
  const bool is_hidden = !may_count_rows(root, index->rel);
  if (!probes->served) return !is_served ? family.beyond : is_hidden ? Verdict::hidden : Verdict::other_signature;
  if (!is_hidden && counted != nullptr) *counted = &probes->estimate;
  return Verdict::usable;
}

}  // namespace neardup
