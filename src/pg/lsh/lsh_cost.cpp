// What an index scan costs, and whether the index can serve a query at all.
#include "core/lsh_query.h"
#include "pg/guc.h"
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/lsh_planner.h"
#include "pg/lsh/lsh_query.h"

extern "C" {
#include "access/stratnum.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/spccache.h"
}

namespace neardup {
namespace {

constexpr double kMostEntries = 10000;    // counted at plan time, some 20 us
constexpr double kUnserved = 1.0e10;      // PostgreSQL's own price of "not that way"
constexpr double kBoundTolerance = 1e-9;  // a scan decides exactly; this only chooses the plan
constexpr double kAscending = 0.3;

// An index as the planner sees it: from its meta page, once per planning.
struct IndexFacts {
  Oid index;
  bool bound;
  bool minhash;  // our family: its operands can be read here
  double threshold;
  uint16_t nbands;
  double entries;  // but the roster's
  double sum_sq;
  double pending_keys;
  int nruns;
  struct Run {
    uint32_t leaves;
    uint32_t inners;
  } runs[FLEXIBLE_ARRAY_MEMBER];
};

struct ProbeFacts {
  Oid index;
  uint16_t strategy;
  Oid type;
  Datum query;
  bool served;
  ProbeEstimate estimate;
};

// What was read during the planning of one statement: the same query is asked about many times.
struct PlanMemory {
  PlannerGlobal* statement;
  MemoryContext context;
  List* levels;   // PlanMeasures
  List* indexes;  // IndexFacts
  List* probes;   // ProbeFacts
};
PlanMemory* plan_memory_now = nullptr;

void forget_plan_memory(void* memory) {
  if (plan_memory_now == memory) plan_memory_now = nullptr;
}

PlanMemory* plan_memory(PlannerInfo* root) {
  if (plan_memory_now != nullptr && plan_memory_now->statement == root->glob) return plan_memory_now;
  auto* memory = static_cast<PlanMemory*>(MemoryContextAllocZero(root->planner_cxt, sizeof(PlanMemory)));
  auto* callback =
      static_cast<MemoryContextCallback*>(MemoryContextAlloc(root->planner_cxt, sizeof(MemoryContextCallback)));
  memory->statement = root->glob;
  memory->context = root->planner_cxt;
  callback->func = forget_plan_memory;
  callback->arg = memory;
  MemoryContextRegisterResetCallback(root->planner_cxt, callback);
  plan_memory_now = memory;
  return memory;
}

IndexFacts* read_facts(Oid oid, MemoryContext context) {
  LshMeta* meta = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  Relation index = index_open(oid, NoLock);
  read_meta(index, meta);
  index_close(index, NoLock);
  auto* facts = static_cast<IndexFacts*>(
      MemoryContextAllocZero(context, offsetof(IndexFacts, runs) + meta->nruns * sizeof(IndexFacts::Run)));
  facts->index = oid;
  facts->bound = (meta->config.flags & kMetaBound) != 0;
  facts->minhash = strncmp(meta->config.family, "minhash", sizeof meta->config.family) == 0;
  facts->threshold = meta->config.threshold;
  facts->nbands = meta->config.nbands;
  for (int i = 0; i < meta->nruns; ++i) {
    const RunSlot& run = meta->runs[i];
    if (run.state == kBuilding) continue;
    facts->runs[facts->nruns++] = {run.leaves, run.inners};
    if (run.entries > run.rows) facts->entries += static_cast<double>(run.entries - run.rows);
    facts->sum_sq += run.sum_sq;
  }
  // 173 bytes a row of 34 keys
  if (meta->npending > 0) facts->pending_keys = (meta->npending - 0.5) * (BLCKSZ - 48) / 5;
  pfree(meta);
  return facts;
}

IndexFacts* facts_of(PlannerInfo* root, Oid oid) {
  PlanMemory* memory = plan_memory(root);
  ListCell* cell;
  foreach (cell, memory->indexes) {
    auto* facts = static_cast<IndexFacts*>(lfirst(cell));
    if (facts->index == oid) return facts;
  }
  IndexFacts* facts = read_facts(oid, memory->context);
  MemoryContext old = MemoryContextSwitchTo(memory->context);
  memory->indexes = lappend(memory->indexes, facts);
  MemoryContextSwitchTo(old);
  return facts;
}

// Is the value one that this index can compare with? An unlike one is an error of the query, not of its planning.
bool comparable_with(Relation index, const KnownQuery& query) {
  LshMeta* meta = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  read_meta(index, meta);
  BindRequest request{};
  request.value = query.value;
  request.config = &meta->config;
  request.can_raise = false;
  request.matches = true;
  if ((meta->config.flags & kMetaBound) != 0) call_family(index, kProcBind, &request);
  pfree(meta);
  return request.matches;
}

const ProbeFacts* count_probes(PlannerInfo* root, Oid oid, const KnownQuery& query) {
  PlanMemory* memory = plan_memory(root);
  ListCell* cell;
  foreach (cell, memory->probes) {
    auto* facts = static_cast<ProbeFacts*>(lfirst(cell));
    if (facts->index == oid && facts->strategy == query.strategy && facts->type == query.type &&
        datum_image_eq(facts->query, query.query, get_typbyval(query.type), get_typlen(query.type)))
      return facts;
  }
  auto* facts = static_cast<ProbeFacts*>(MemoryContextAllocZero(memory->context, sizeof(ProbeFacts)));
  facts->index = oid;
  facts->type = query.type;
  facts->strategy = query.strategy;
  Relation index = index_open(oid, NoLock);
  if (query.value == 0 || comparable_with(index, query))
    facts->served = estimate_probes(index, query.strategy, query.query, kMostEntries, &facts->estimate);
  index_close(index, NoLock);
  MemoryContext old = MemoryContextSwitchTo(memory->context);
  facts->query = datumCopy(query.query, get_typbyval(query.type), get_typlen(query.type));
  memory->probes = lappend(memory->probes, facts);
  MemoryContextSwitchTo(old);
  return facts;
}

// Not so: indexes of partitioned tables, which 16 and later list, and those that only an adviser sees.
bool has_storage(PlannerInfo* root, const IndexOptInfo* index) {
  return !index->hypothetical && !root->simple_rte_array[index->rel->relid]->inh;
}

bool beyond_reach(double bound) { return !(bound <= 1); }  // NaN is above all numbers

Datum bytes_of(const MinhashView& v) { return minhash_datum(reinterpret_cast<const uint8_t*>(v.header), v.size); }

Datum detoasted(Datum value) { return PointerGetDatum(PG_DETOAST_DATUM(value)); }

// Pages that one scan of p look-ups reads.
double pages_of(const IndexFacts& facts, double p) {
  double pages = 1;
  for (int i = 0; i < facts.nruns; ++i) pages += Min(p, facts.runs[i].leaves) + Min(p, facts.runs[i].inners) + 1;
  return pages;
}

}  // namespace

KnownQuery known_operand(PlannerInfo* root, uint16_t strategy, Node* operand, bool minhash) {
  KnownQuery known{};
  known.strategy = strategy;
  if (minhash && strategy == kStrategySimilar) {
    known.has_bound = true;
    known.bound = guc_jaccard_threshold;
  }
  Node* node = estimate_expression_value(root, operand);
  if (IsA(node, Const)) {
    const Const* value = reinterpret_cast<Const*>(node);
    if (value->constisnull) {
      known.none = true;
      return known;
    }
    known.has_query = true;
    known.type = value->consttype;
    known.query = value->constvalue;
    if (!minhash) return known;
    known.query = known.value = detoasted(value->constvalue);
    if (strategy != kStrategySimilar) {
      const LshQueryView view = lsh_query_view(known.query);
      known.has_bound = true;
      known.bound = view.bound;
      if (strategy == kStrategyAtLeast) known.value = bytes_of(view.signature);
    }
  } else if (minhash && IsA(node, FuncExpr) && strategy != kStrategySimilar) {
    // with_threshold(query, bound), or what the planner derives: the bound alone says much.
    List* args = reinterpret_cast<FuncExpr*>(node)->args;
    if (list_length(args) == 2 && IsA(lsecond(args), Const) && lsecond_node(Const, args)->consttype == FLOAT8OID) {
      const Const* bound = lsecond_node(Const, args);
      known.none = bound->constisnull;
      known.has_bound = !bound->constisnull;
      if (known.has_bound) known.bound = DatumGetFloat8(bound->constvalue);
    }
  }
  known.none = known.none || (known.has_bound && beyond_reach(known.bound));
  return known;
}

KnownQuery known_arguments(PlannerInfo* root, const PlanMeasure& measure, Node* value, Node* bound) {
  KnownQuery known{};
  known.strategy = kStrategyAtLeast;
  Node* v = estimate_expression_value(root, value);
  Node* b = estimate_expression_value(root, bound);
  if (IsA(b, Const)) {
    const Const* c = reinterpret_cast<Const*>(b);
    known.none = c->constisnull;
    known.has_bound = !c->constisnull;
    if (known.has_bound) known.bound = DatumGetFloat8(c->constvalue);
    known.none = known.none || beyond_reach(known.bound);
  }
  if (IsA(v, Const)) {
    const Const* c = reinterpret_cast<Const*>(v);
    known.none = known.none || c->constisnull;
    if (!c->constisnull && known.has_bound && OidIsValid(measure.make_query)) {
      known.has_query = true;
      known.type = measure.query_type;
      known.value = detoasted(c->constvalue);
      known.query = OidFunctionCall2(measure.make_query, known.value, Float8GetDatum(known.bound));
    }
  }
  return known;
}

PlanMeasures* measures_of(PlannerInfo* root) {
  PlanMemory* memory = plan_memory(root);
  ListCell* cell;
  foreach (cell, memory->levels) {
    auto* level = static_cast<PlanMeasures*>(lfirst(cell));
    if (level->root == root) return level;
  }
  auto* level = static_cast<PlanMeasures*>(MemoryContextAllocZero(memory->context, sizeof(PlanMeasures)));
  level->root = root;
  MemoryContext old = MemoryContextSwitchTo(memory->context);
  memory->levels = lappend(memory->levels, level);
  MemoryContextSwitchTo(old);

  // Partitions by the thousand have one operator family.
  Oid last_family = InvalidOid;
  for (int i = 1; i < root->simple_rel_array_size; ++i) {
    const RelOptInfo* rel = root->simple_rel_array[i];
    if (rel == nullptr) continue;
    foreach (cell, rel->indexlist) {
      const auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
      PlanMeasure measure;
      if (!is_lsh(index) || index->opfamily[0] == last_family) continue;
      last_family = index->opfamily[0];
      if (level->n == static_cast<int>(lengthof(level->at)) || !find_measure(index, 0, &measure)) continue;
      bool known = false;
      for (int k = 0; k < level->n; ++k) known = known || level->at[k].at_least == measure.at_least;
      if (!known) level->at[level->n++] = measure;
    }
  }
  return level;
}

bool index_serves(PlannerInfo* root, const IndexOptInfo* index, const KnownQuery& query, ProbeEstimate* estimate,
                  bool* counted) {
  if (counted != nullptr) *counted = false;
  if (query.none || !has_storage(root, index)) return true;
  const IndexFacts* facts = facts_of(root, index->indexoid);
  if (!facts->bound) return true;  // no row was ever there
  if (!query.has_bound) return true;
  if (!query.has_query) return query.bound >= facts->threshold - kBoundTolerance;
  const ProbeFacts* probes = count_probes(root, index->indexoid, query);
  if (!probes->served) return false;
  if (estimate != nullptr) *estimate = probes->estimate;
  if (counted != nullptr) *counted = true;
  return true;
}

// INDEX.md 9. All candidates are collected before the first comes out, so startup = total.
void lshcostestimate(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup, Cost* total,
                     Selectivity* selectivity, double* correlation, double* pages) {
  IndexOptInfo* index = path->indexinfo;
  const double rows = Max(index->rel->tuples, 1.0);
  const IndexFacts* facts = has_storage(root, index) ? facts_of(root, index->indexoid) : nullptr;
  bool served = false;
  double least_candidates = rows;
  double entries = 0;
  double probes = 0;
  Cost arguments = 0;

  ListCell* cell;
  foreach (cell, path->indexclauses) {
    const auto* clause = static_cast<IndexClause*>(lfirst(cell));
    ListCell* qual_cell;
    foreach (qual_cell, clause->indexquals) {
      const auto* qual = lfirst_node(RestrictInfo, qual_cell);
      if (!IsA(qual->clause, OpExpr)) continue;
      const auto* op = reinterpret_cast<OpExpr*>(qual->clause);
      Node* key = static_cast<Node*>(linitial(op->args));
      Node* operand = static_cast<Node*>(lsecond(op->args));
      const int strategy = get_op_opfamily_strategy(op->opno, index->opfamily[clause->indexcol]);
      if (strategy == 0) continue;
      QualCost argument_cost;
      cost_qual_eval_node(&argument_cost, operand, root);
      arguments += argument_cost.startup + argument_cost.per_tuple;

      const KnownQuery query =
          known_operand(root, static_cast<uint16_t>(strategy), operand, facts != nullptr && facts->minhash);
      ProbeEstimate counted{};
      bool is_counted;
      if (!index_serves(root, index, query, &counted, &is_counted)) continue;
      served = true;
      if (query.none || (facts != nullptr && !facts->bound) || (is_counted && counted.nothing)) {
        least_candidates = 0;
        entries = probes = 0;
        break;
      }
      const double bound = query.has_bound ? query.bound : kUsualBound;
      // An index of b bands allows b - 1 mismatches at its threshold and so, roughly, fewer in proportion above it.
      double p = 26;
      if (facts != nullptr && facts->nbands > 0) {
        p = facts->nbands;
        if (facts->threshold < 1) p = 1 + (p - 1) * (1 - bound) / (1 - facts->threshold);
        p = Max(1.0, Min(p, static_cast<double>(facts->nbands)));
      }
      double scanned = 0;
      double candidates = 0;
      if (is_counted && counted.complete) {
        scanned = counted.entries;
        candidates = counted.candidates;
      } else {
        VariableStatData variable;
        examine_variable(root, key, 0, &variable);
        const NearStats stats = near_stats(root, &variable);
        ReleaseVariableStats(variable);
        // A partial index has its share of them.
        const double share = index->indpred == NIL ? 1 : Min(1.0, Max(index->tuples, 1.0) / rows);
        if (facts != nullptr && facts->entries > 0) scanned = p * facts->sum_sq / facts->entries;
        if (is_counted) scanned = Max(scanned, counted.entries);
        candidates = expected_candidates(stats, bound) * share;
        if (!stats.analyzed && facts != nullptr) candidates = Min(candidates, Max(scanned, 1.0));
        if (is_counted) candidates = Max(candidates, counted.candidates);
      }
      candidates = Min(candidates, rows);
      if (probes == 0 || candidates < least_candidates) {
        least_candidates = candidates;
        entries = scanned;
        probes = p;
      }
    }
    if (served && least_candidates == 0) break;
  }

  double random_page_cost;
  get_tablespace_page_costs(index->reltablespace, &random_page_cost, nullptr);
  double read = facts == nullptr ? Min(26.0, static_cast<double>(index->pages))
                : probes == 0    ? 1
                                 : pages_of(*facts, probes);
  if (!served) read = index->pages;
  Cost cost = 0;
  if (loop_count > 1) {
    const double fetched =
        index_pages_fetched(read * loop_count, index->pages, static_cast<double>(index->pages), root);
    cost = fetched * random_page_cost / loop_count;
  } else {
    cost = read * random_page_cost;
  }
  cost += arguments;
  cost +=
      cpu_operator_cost * (50 * read + entries / 4 + (facts != nullptr && probes > 0 ? facts->pending_keys / 10 : 0));
  if (!served) cost += kUnserved;

  *startup = *total = cost;
  *selectivity = Min(1.0, least_candidates / rows);
  // Rows come in the table's order, so that a plain scan reads each of its pages once, as a bitmap does; it asks for rows
  // ahead (prefetch.h), and is the faster one where it costs about the same.
  *correlation = served && path->indexorderbys == NIL ? kAscending : 0;
  *pages = read;
}

}  // namespace neardup
