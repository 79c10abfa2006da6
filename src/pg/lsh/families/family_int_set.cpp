// The hash families "set" and "minutiae": arrays of integers as sets, for the operator classes int8_set_ops,
// int4_set_ops and minutiae_ops.
#include "core/lsh/lsh_query.h"
#include "core/lsh/int_set_keys.h"
#include "pg/lsh/family.h"
#include "pg/values/int_set_value.h"
#include "pg/values/lsh_query_value.h"

extern "C" {
#include "access/reloptions.h"
}

namespace {

using namespace neardup;

constexpr char kSetFamily[] = "set";
constexpr char kMinutiaeFamily[] = "minutiae";
constexpr uint32_t kMinutiaeVersion = 1;
static_assert(kMaxIndexedSet1 == kMaxPendingKeys && kMaxFunctions <= kMaxPendingKeys);

// LshConfig.params of the family "set"; docs/format.md. An index keeps to the version that it was made by.
struct SetConfig {
  uint32_t most;  // elements of a set that are indexed
};
constexpr uint32_t kSetVersion = 2;
constexpr uint32_t kMostIndexedElements =
    Min(static_cast<uint32_t>(kMaxIndexedSet2), kMaxKeysPerRow - 1);  // and its size

// LshConfig.params of the family "minutiae"; docs/format.md.
struct MinutiaeConfig {
  uint32_t functions;
  uint32_t cells;
  uint32_t grid;
};

struct MinutiaeOptions {
  int32 vl_len_;
  int functions;
  int cells;
  int grid;
};

// The size of the largest set whose elements are indexed. A bound config was read from disk: every field is checked.
uint32_t most_elements(const LshConfig* config) {
  SetConfig stored;
  const bool is_first = config->family_version == 1;
  read_family(config, kSetFamily, is_first ? 1 : kSetVersion, &stored, sizeof stored);
  if (stored.most != (is_first ? kMaxIndexedSet1 : kMostIndexedElements) || config->nbands != 0) report_bad_params();
  return stored.most;
}

bool has_size_classes(const LshConfig* config) { return config->family_version > 1; }

MinutiaeRules minutiae_params(const LshConfig* config) {
  MinutiaeConfig stored;
  read_family(config, kMinutiaeFamily, kMinutiaeVersion, &stored, sizeof stored);
  const MinutiaeRules rules{stored.functions, stored.cells, stored.grid};
  if (!valid_minutiae(rules) || config->nbands != 0) report_bad_params();
  return rules;
}

// Palloced; *n of them.
uint64_t* bucket_keys(const MinutiaeRules& rules, const IntSet& set, uint32_t* n) {
  auto* keys = static_cast<uint64_t*>(palloc(rules.functions * sizeof(uint64_t)));
  call_core([&] {
    *n = 0;
    for (const uint32_t f : minutiae_buckets(rules, set.elements, set.n)) keys[(*n)++] = bucket_key(f);
  });
  return keys;
}

IntSet copied(const SetView& view) {
  IntSet set{static_cast<int64_t*>(palloc(view.n * sizeof(int64_t) + 1)), view.n, -1};
  if (view.n != 0) memcpy(set.elements, view.bytes, view.n * sizeof(int64_t));
  return set;
}

// The probability that the theory's example has: cells set with 0.2, and again with 0.8.
double usual_recall(const MinutiaeRules& rules) { return bucket_probability(rules, 0.2, 0.8); }

// Each row, and the error for a NULL, is the condition's own business.
LshQueryView condition_query(const ProbesRequest* request) {
  if (request->strategy != kStrategyAtLeast)  // they have no order
    elog(ERROR, "hash families of sets have no strategy %u", request->strategy);
  return lsh_query_view(request->query);
}

void add_probe(ProbesRequest* request, uint64_t key, uint32_t group) {
  request->probes[request->nprobes++] = {key, static_cast<uint16_t>(group), static_cast<uint8_t>(kKeyBits)};
}

void demand_cells(const MinutiaeRules& rules, const IntSet& set) {
  const int64_t most = int64_t{rules.grid} * rules.grid - 1;
  const bool low = set.n != 0 && set.elements[0] < 0;
  if (!low && (set.n == 0 || set.elements[set.n - 1] <= most)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("cell %lld lies outside the index's grid of %u x %u: cells are 0 to %lld",
                         static_cast<long long>(low ? set.elements[0] : set.elements[set.n - 1]), rules.grid,
                         rules.grid, static_cast<long long>(most)),
                  errhint("Make cells with minutiae_cells(points, %u), or index with minutiae_ops (grid = ...).",
                          rules.grid)));
}

void set_keys(KeysRequest* request) {
  const uint32_t most = most_elements(request->config);
  const IntSet set = read_int_set(request->value, true);
  if (set.n > most) {
    request->keys = static_cast<uint64_t*>(palloc(sizeof(uint64_t)));
    request->keys[0] = kLargeSetKey;
    request->nkeys = 1;
    return;
  }
  request->keys = static_cast<uint64_t*>(palloc((set.n + 1) * sizeof(uint64_t)));
  request->nkeys = static_cast<uint32_t>(set.n);
  for (size_t i = 0; i < set.n; ++i) request->keys[i] = set_element_key(set.elements[i]);
  if (set.n != 0 && has_size_classes(request->config))
    request->keys[request->nkeys++] = size_class_key(size_class(set.n));
}

// A group for each of the query's elements. A large row has no elements in the index: where it may qualify, it does so
// without a hit.
void set_probes(ProbesRequest* request) {
  const uint32_t most = most_elements(request->config);
  const LshQueryView query = condition_query(request);
  if (!is_of_sets(query.measure)) return;
  const uint32_t n = static_cast<uint32_t>(Min(query.set.n, kMaxQuerySet + 1));
  const SetPlan plan = plan_set(query.measure, query.set.n, query.bound, most);
  request->guaranteed = plan.served;
  request->nothing = plan.served && plan.nothing;
  if (!plan.served || plan.nothing) return;
  request->ngroups = static_cast<uint16_t>(n);
  request->slack = static_cast<uint16_t>(n - plan.least);
  const uint32_t sizes = has_size_classes(request->config) ? plan.classes : 0;
  request->probes = static_cast<LshProbe*>(palloc((n + 1 + sizes) * sizeof(LshProbe)));
  for (uint32_t i = 0; i < n; ++i) add_probe(request, set_element_key(query.set[i]), i);
  request->only_classes = sizes != 0;
  auto* least = static_cast<uint32_t*>(palloc((1 + sizes) * sizeof(uint32_t)));
  request->class_least = least;
  const auto add_class = [&](uint64_t key, uint32_t hits) {
    add_probe(request, key, n + request->nclasses);
    least[request->nclasses++] = hits;
  };
  if (plan.large) add_class(kLargeSetKey, 0);
  for (uint32_t c = 0; c < sizes; ++c) add_class(size_class_key(c), plan.class_least[c]);
}

void set_bind(BindRequest* request) {
  request->matches = true;
  if (request->options_only || (request->config->flags & kMetaBound) == 0) refuse_options(request, kSetFamily, nullptr);
  if (request->options_only) return;
  if ((request->config->flags & kMetaBound) != 0) {
    most_elements(request->config);
    return;
  }
  const SetConfig stored{kMostIndexedElements};
  set_family(request->config, kSetFamily, kSetVersion, &stored, sizeof stored);
}

void set_describe(DescribeRequest* request) {
  request->parameters = psprintf("sets, elements of up to %u", most_elements(request->config));
  StringInfoData text;
  initStringInfo(&text);
  for (const auto& entry : kSetMeasures)
    appendStringInfo(&text, "%s %s", text.len == 0 ? "serves" : ",", info(entry.value).function);
  request->guarantee = psprintf("%s with any threshold above 0, exactly", text.data);
}

void minutiae_keys(KeysRequest* request) {
  const MinutiaeRules rules = minutiae_params(request->config);
  const IntSet set = read_int_set(request->value, true);
  demand_cells(rules, set);
  request->keys = bucket_keys(rules, set, &request->nkeys);
}

void minutiae_probes(ProbesRequest* request) {
  const MinutiaeRules rules = minutiae_params(request->config);
  const LshQueryView query = condition_query(request);
  if (query.measure != Measure::set_jaccard || query.bound <= 0) return;
  uint32_t n = 0;
  const uint64_t* keys = bucket_keys(rules, copied(query.set), &n);
  request->guaranteed = true;
  request->nothing = n == 0 || !(query.bound <= 1);
  if (request->nothing) return;
  add_whole_keys(request, keys, n);
  request->slack = static_cast<uint16_t>(n - 1);  // one bucket in common
}

void minutiae_bind(BindRequest* request) {
  request->matches = true;
  LshConfig* config = request->config;
  const bool bound = (config->flags & kMetaBound) != 0;
  if (request->options_only || !bound) refuse_options(request, kMinutiaeFamily, nullptr);
  if (request->options_only) return;
  if (!bound) {
    const auto* options = static_cast<const MinutiaeOptions*>(request->column_options);
    MinutiaeConfig stored{kDefaultMinutiae.functions, kDefaultMinutiae.cells, kDefaultMinutiae.grid};
    if (options != nullptr)
      stored = {static_cast<uint32_t>(options->functions), static_cast<uint32_t>(options->cells),
                static_cast<uint32_t>(options->grid)};
    set_family(config, kMinutiaeFamily, kMinutiaeVersion, &stored, sizeof stored);
    config->recall = Max(1e-6, Min(1.0, usual_recall({stored.functions, stored.cells, stored.grid})));
  }
  minutiae_params(config);
}

void minutiae_describe(DescribeRequest* request) {
  const MinutiaeRules rules = minutiae_params(request->config);
  request->parameters =
      psprintf("cells of a grid of %u x %u, %u functions of %u", rules.grid, rules.grid, rules.functions, rules.cells);
  request->guarantee = psprintf(
      "finds sets that share a bucket: with cells set at 0.2, %.3g %% of those that repeat 0.8 of their "
      "cells, %.3g %% of others",
      100 * usual_recall(rules), 100 * bucket_probability(rules, 0.2, 0.2));
}

constexpr LshFamily kSetFunctions = {set_keys, set_probes, set_bind, set_describe, nullptr};
constexpr LshFamily kMinutiaeFunctions = {minutiae_keys, minutiae_probes, minutiae_bind, minutiae_describe, nullptr};

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(lsh_minutiae_options);
Datum lsh_minutiae_options(PG_FUNCTION_ARGS) {
  auto* options = reinterpret_cast<local_relopts*>(PG_GETARG_POINTER(0));
  init_local_reloptions(options, sizeof(MinutiaeOptions));
  add_local_int_reloption(options, "functions", "Number of buckets.", static_cast<int>(kDefaultMinutiae.functions),
                          static_cast<int>(kLeastFunctions), static_cast<int>(kMaxFunctions),
                          offsetof(MinutiaeOptions, functions));
  add_local_int_reloption(options, "cells", "Cells that a set must have to be in a bucket.",
                          static_cast<int>(kDefaultMinutiae.cells), 1, static_cast<int>(kMaxFunctionCells),
                          offsetof(MinutiaeOptions, cells));
  add_local_int_reloption(options, "grid", "Cells a side of the grid that sets are of.",
                          static_cast<int>(kDefaultMinutiae.grid), static_cast<int>(kLeastGrid),
                          static_cast<int>(kMaxGrid), offsetof(MinutiaeOptions, grid));
  PG_RETURN_VOID();
}

NEARDUP_UNORDERED_FAMILY(set, kSetFunctions)
NEARDUP_UNORDERED_FAMILY(minutiae, kMinutiaeFunctions)

}  // extern "C"
