// What an index scan costs, and whether the index can serve a query at all.
#include <cmath>

#include "core/lsh/lsh_query.h"
#include "core/lsh/pair_sample.h"
#include "pg/base/guc.h"
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/families/lsh_families.h"
#include "pg/lsh/planner/lsh_planner.h"
#include "pg/values/lsh_query_value.h"
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/scan/probe_estimate.h"

extern "C" {
#include "access/stratnum.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/spccache.h"
}

namespace neardup {
namespace {

constexpr double kMaxEntries = 10000;    // counted at plan time, some 20 us
constexpr double kUnserved = 1.0e10;      // PostgreSQL's own price of "not that way"
constexpr double kBoundTolerance = 1e-9;  // a scan decides exactly; this only chooses the plan
constexpr double kAscending = 0.3;

// The hash families of this extension, whose operands can be read here.
enum class Family : uint8_t { other, minhash, simhash, ctph, set, minutiae };

Family family_of(const LshConfig& config) {
  const auto is = [&](const char* name) { return strncmp(config.family, name, sizeof config.family) == 0; };
  return is("minhash")    ? Family::minhash
         : is("simhash")  ? Family::simhash
         : is("ctph")     ? Family::ctph
         : is("set")      ? Family::set
         : is("minutiae") ? Family::minutiae
                          : Family::other;
}

// Whether indexes of the family are asked for this measure.
bool takes(Family family, LshMeasure measure) {
  switch (measure) {
    case LshMeasure::jaccard:
      return family == Family::minhash;
    case LshMeasure::hamming:
      return family == Family::simhash;
    case LshMeasure::set_jaccard:
      return family == Family::set || family == Family::minutiae;
    default:
      return family == Family::ctph;
  }
}

// An index as the planner sees it: from its meta page, once per planning.
struct IndexFacts {
  Oid index;
  bool bound;
  Family family;
  double threshold;
  double max_rate;  // of the family ctph
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
  facts->family = family_of(meta->config);
  if (facts->bound && facts->family == Family::ctph) facts->max_rate = ctph_index_max_rate(&meta->config);
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
    facts->served = estimate_probes(index, query.strategy, query.query, kMaxEntries, &facts->estimate);
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

// No value reaches it.
bool beyond_reach(LshMeasure measure, double bound) { return closeness(measure, bound) > 1; }

Datum bytes_of(const MinhashView& v) { return minhash_datum(reinterpret_cast<const uint8_t*>(v.header), v.size); }

// Of any type.
Datum detoasted(Datum value, Oid type) {
  return get_typlen(type) == -1 ? PointerGetDatum(PG_DETOAST_DATUM(value)) : value;
}

// Look-ups of a query whose value is not known.
double usual_probes(const IndexFacts* facts, const KnownQuery& query) {
  if (facts == nullptr) return 26;
  switch (query.measure) {
    case LshMeasure::jaccard: {
      if (facts->nbands == 0) return 26;
      // An index of b bands allows b - 1 mismatches at its threshold and so, roughly, fewer in proportion above it.
      double p = facts->nbands;
      if (facts->threshold < 1) p = 1 + (p - 1) * (1 - closeness_of(query)) / (1 - facts->threshold);
      return Max(1.0, Min(p, static_cast<double>(facts->nbands)));
    }
    case LshMeasure::hamming:
      return Max(1.0, static_cast<double>(simhash_index_probes(facts->nbands, query.has_bound ? query.bound : 3)));
    case LshMeasure::set_jaccard:
      return facts->family == Family::minutiae ? 8 : 50;
    default:
      return 90;  // grams of two parts, of 64 and 32 characters
  }
}

// Entries that those look-ups meet.
double usual_entries(const IndexFacts* facts, const KnownQuery& query, double probes, const NearStats& stats) {
  if (facts == nullptr || facts->entries == 0) return 0;
  // By prefixes of whole keys.
  if (query.measure == LshMeasure::hamming)
    return probes * facts->entries / facts->nbands / std::exp2(64.0 / facts->nbands);
  // A row's keys lie with so many others on average.
  const double shared = facts->sum_sq / facts->entries;
  if (query.of_row || !stats.analyzed) return probes * shared;
  KnownQuery row = query;
  row.of_row = true;
  const double less = expected_candidates(stats, query) / expected_candidates(stats, row);
  return probes * (1 + (shared - 1) * Min(less, 1.0));
}

// Pages that one scan of p look-ups reads.
double pages_of(const IndexFacts& facts, double p) {
  double pages = 1;
  for (int i = 0; i < facts.nruns; ++i) pages += Min(p, facts.runs[i].leaves) + Min(p, facts.runs[i].inners) + 1;
  return pages;
}

// A column, or what another part of the statement finds: not what a client or a function hands over.
bool of_row_walker(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, SubPlan)) return true;
  if (IsA(node, Param)) return reinterpret_cast<Param*>(node)->paramkind != PARAM_EXTERN;
  return walk_expression(node, of_row_walker, context);
}

}  // namespace

KnownQuery known_operand(PlannerInfo* root, uint16_t strategy, Node* operand, bool ours) {
  KnownQuery known{};
  known.strategy = strategy;
  known.measure = LshMeasure::jaccard;
  if (ours && strategy == kStrategySimilar) {
    known.has_bound = true;
    known.bound = guc_jaccard_threshold;
  }
  Node* node = estimate_expression_value(root, operand);
  known.of_row = of_row_walker(node, nullptr);
  if (IsA(node, Const)) {
    const Const* value = reinterpret_cast<Const*>(node);
    if (value->constisnull) {
      known.none = true;
      return known;
    }
    known.has_query = true;
    known.type = value->consttype;
    known.query = value->constvalue;
    if (!ours) return known;
    // What is read below as an lsh_query must be a varlena at the least, whatever the operator's operands are.
    if (strategy != kStrategySimilar && get_typlen(value->consttype) != -1) return known;
    known.query = detoasted(value->constvalue, known.type);
    if (strategy == kStrategySimilar) {
      known.value = known.query;
    } else {
      const LshQueryView view = lsh_query_view(known.query);
      known.has_bound = true;
      known.measure = view.measure;
      known.bound = view.bound;
      if (view.measure == LshMeasure::jaccard)
        known.value = strategy == kStrategyAtLeast ? bytes_of(view.signature) : known.query;
    }
  } else if (ours && IsA(node, FuncExpr) && strategy != kStrategySimilar) {
    // with_threshold(query, bound), or what the planner derives: the bound alone says much.
    const auto* call = reinterpret_cast<FuncExpr*>(node);
    List* args = call->args;
    if (list_length(args) == 2 && IsA(lsecond(args), Const) && lsecond_node(Const, args)->consttype == FLOAT8OID &&
        makes_lsh_query(call->funcid, &known.measure)) {
      const Const* bound = lsecond_node(Const, args);
      known.none = bound->constisnull;
      known.has_bound = !bound->constisnull;
      if (known.has_bound) known.bound = DatumGetFloat8(bound->constvalue);
    }
  }
  known.none = known.none || (known.has_bound && beyond_reach(known.measure, known.bound));
  return known;
}

KnownQuery known_arguments(PlannerInfo* root, LshMeasure measure, Oid make_query, Node* value, Node* bound) {
  KnownQuery known{};
  known.strategy = kStrategyAtLeast;
  known.measure = measure;
  Node* v = estimate_expression_value(root, value);
  Node* b = estimate_expression_value(root, bound);
  if (IsA(b, Const)) {
    const Const* c = reinterpret_cast<Const*>(b);
    known.none = c->constisnull;
    known.has_bound = !c->constisnull;
    if (known.has_bound) known.bound = DatumGetFloat8(c->constvalue);
    known.none = known.none || beyond_reach(measure, known.bound);
  }
  known.of_row = of_row_walker(v, nullptr);
  if (IsA(v, Const)) {
    const Const* c = reinterpret_cast<Const*>(v);
    known.none = known.none || c->constisnull;
    if (!c->constisnull && known.has_bound && OidIsValid(make_query)) {
      known.has_query = true;
      known.type = get_func_rettype(make_query);
      const Datum argument = detoasted(c->constvalue, c->consttype);
      if (measure == LshMeasure::jaccard) known.value = argument;
      known.query = OidFunctionCall2(make_query, argument, Float8GetDatum(known.bound));
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
      if (!is_lsh(index)) continue;
      const int column = planned_value_column(index);
      if (index->opfamily[column] == last_family) continue;
      last_family = index->opfamily[column];
      level->add(last_family, index->opcintype[column]);
    }
  }
  return level;
}

bool hides_rows(const PlannerInfo* root, const RelOptInfo* rel) {
  if (rel == nullptr) return false;
  if (rel->baserestrict_min_security < root->qual_security_level) return true;
  // A view's query is a copy of what the query above has; which of its views it is does not show.
  for (const PlannerInfo* above = root->parent_root; above != nullptr; above = above->parent_root) {
    ListCell* cell;
    foreach (cell, above->parse->rtable)
      if (lfirst_node(RangeTblEntry, cell)->security_barrier) return true;
  }
  return false;
}

bool index_serves(PlannerInfo* root, const IndexOptInfo* index, const KnownQuery& query, ProbeEstimate* estimate,
                  bool* counted) {
  if (counted != nullptr) *counted = false;
  if (!has_storage(root, index)) return true;
  const IndexFacts* facts = facts_of(root, index->indexoid);
  if (!facts->bound) return true;  // no row was ever there
  // `minhash %> lsh_query` of a simhash: the operator raises the error.
  if (query.has_bound && facts->family != Family::other && !takes(facts->family, query.measure)) return false;
  if (query.none || !query.has_bound) return true;
  if (!query.has_query) {
    switch (query.measure) {
      case LshMeasure::jaccard:
        return query.bound >= facts->threshold - kBoundTolerance;
      case LshMeasure::hamming:
        return simhash_index_probes(facts->nbands, query.bound) > 0;
      case LshMeasure::ctph_score:
      case LshMeasure::set_jaccard:
        return query.bound > 0;
      case LshMeasure::ctph_edit_rate:
        return query.bound <= facts->max_rate + kBoundTolerance;
    }
  }
  const ProbeFacts* probes = count_probes(root, index->indexoid, query);
  if (!probes->served) return false;
  if (hides_rows(root, index->rel)) return true;
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
  // Rows that share the columns before the value, and which of those have a condition.
  const int value_column = planned_value_column(index);
  double equal_share = 1;
  double searches = 1;
  Bitmapset* compared = nullptr;

  ListCell* cell;
  foreach (cell, path->indexclauses) {
    const auto* clause = static_cast<IndexClause*>(lfirst(cell));
    if (clause->indexcol == value_column || bms_is_member(clause->indexcol, compared)) continue;
    compared = bms_add_member(compared, clause->indexcol);
    // One search for each member of a list.
    ListCell* qual_cell;
    foreach (qual_cell, clause->indexquals) {
      const auto* qual = lfirst_node(RestrictInfo, qual_cell);
      if (IsA(qual->clause, ScalarArrayOpExpr))
        searches *= Max(1.0, array_length_estimate(
                                 root, static_cast<Node*>(lsecond(reinterpret_cast<ScalarArrayOpExpr*>(qual->clause)->args))));
    }
    equal_share *= clause_selectivity(root, reinterpret_cast<Node*>(clause->rinfo), static_cast<int>(index->rel->relid),
                                      JOIN_INNER, nullptr);
  }
  foreach (cell, path->indexclauses) {
    const auto* clause = static_cast<IndexClause*>(lfirst(cell));
    if (clause->indexcol != value_column) continue;
    ListCell* qual_cell;
    foreach (qual_cell, clause->indexquals) {
      const auto* qual = lfirst_node(RestrictInfo, qual_cell);
      if (!IsA(qual->clause, OpExpr)) continue;
      const auto* op = reinterpret_cast<OpExpr*>(qual->clause);
      Node* key = static_cast<Node*>(linitial(op->args));
      Node* operand = static_cast<Node*>(lsecond(op->args));
      const uint16_t strategy =
          own_strategy(static_cast<uint16_t>(get_op_opfamily_strategy(op->opno, index->opfamily[clause->indexcol])));
      if (strategy == 0 || strategy == kStrategyEqual) continue;
      QualCost argument_cost;
      cost_qual_eval_node(&argument_cost, operand, root);
      arguments += argument_cost.startup + argument_cost.per_tuple;

      KnownQuery query = known_operand(root, strategy, operand, facts != nullptr && facts->family != Family::other);
      ProbeEstimate counted{};
      bool is_counted;
      if (!index_serves(root, index, query, &counted, &is_counted)) continue;
      served = true;
      if (query.none || (facts != nullptr && !facts->bound) || (is_counted && counted.nothing)) {
        least_candidates = 0;
        entries = probes = 0;
        break;
      }
      // At a high similarity few of the bands that are located are read.
      const double p =
          is_counted && query.measure != LshMeasure::jaccard ? counted.probes : usual_probes(facts, query);
      double scanned = 0;
      double candidates = 0;
      if (is_counted && counted.complete) {
        scanned = counted.entries;
        candidates = counted.candidates;
      } else {
        VariableStatData variable;
        examine_variable(root, key, 0, &variable);
        const NearStats stats = near_stats(root, &variable, query.measure);
        ReleaseVariableStats(variable);
        // More than are counted: a popular one.
        if (counted.entries > 0) query.of_row = true;
        // A partial index has its share of them.
        const double share = index->indpred == NIL ? 1 : Min(1.0, Max(index->tuples, 1.0) / rows);
        scanned = usual_entries(facts, query, p, stats);
        if (is_counted) scanned = Max(scanned, counted.entries);
        candidates = expected_candidates(stats, query) * share * equal_share;
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

  if (bms_num_members(compared) < value_column) {
    // No keys to look up: every row is handed out.
    served = false;
    least_candidates = rows;
    entries = probes = 0;
  }

  double random_page_cost;
  get_tablespace_page_costs(index->reltablespace, &random_page_cost, nullptr);
  double read = facts == nullptr ? Min(26.0, static_cast<double>(index->pages))
                : probes == 0    ? 1
                                 : pages_of(*facts, probes);
  if (served) read *= searches;
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
      cpu_operator_cost * (50 * read + searches * entries / 4 + searches * (facts != nullptr && probes > 0 ? facts->pending_keys / 10 : 0));
  if (!served) cost += kUnserved;

  *startup = *total = cost;
  *selectivity = Min(1.0, least_candidates / rows);
  // Rows come in the table's order, so that a plain scan reads each of its pages once, as a bitmap does; it asks for rows
  // ahead (row_prefetch.h), and is the faster one where it costs about the same.
  *correlation = served && path->indexorderbys == NIL ? kAscending : 0;
  *pages = read;
}

}  // namespace neardup
