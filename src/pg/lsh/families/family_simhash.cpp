// The hash family "simhash": blocks of a value as keys, for the operator class simhash_ops.
#include <cmath>

#include "core/lsh/simhash_keys.h"
#include "pg/values/lsh_query_value.h"
#include "pg/values/simhash_value.h"
#include "pg/lsh/family.h"
#include "pg/lsh/families/families.h"

extern "C" {
#include "access/reloptions.h"
}

namespace neardup {
namespace {

constexpr char kSimhashFamily[] = "simhash";
constexpr uint32_t kFamilyVersion = 1;
static_assert(kBlockTagBits + kBlockValueBits == kKeyBits);

// LshConfig.params of this family; docs/format.md.
struct SimhashConfig {
  uint16_t blocks;
  uint16_t reserved;
};

struct SimhashOptions {
  int32 vl_len_;
  int blocks;  // 0: by the number of rows
};

bool valid_blocks(uint32_t blocks) { return blocks >= kFewestBlocks && blocks <= kMaxSimhashBlocks; }

// A bound config was read from disk: every field is checked.
uint32_t stored_blocks(const LshConfig* config) {
  SimhashConfig stored;
  read_family(config, kSimhashFamily, kFamilyVersion, &stored, sizeof stored);
  if (!valid_blocks(stored.blocks) || stored.reserved != 0 || config->nbands != stored.blocks) report_bad_params();
  return stored.blocks;
}

struct CheckedQuery {
  uint64_t keys[kMaxSimhashBlocks];  // by group
  int distance;
};

bool key_is_near(const ProbesRequest* request, const LshProbe* probe, uint64_t stored_key) {
  const auto* query = static_cast<const CheckedQuery*>(request->check_arg);
  return hamming_distance(stored_key, query->keys[probe->group]) <= query->distance;
}

// The plan of a query that the index serves. False: all rows have to be read, or (nothing) none.
bool plan_of_query(uint32_t blocks, const LshQueryView& query, bool* nothing, uint32_t* distance, BlockPlan* plan) {
  *nothing = query.bound < 0;
  // NaN is above all distances: it is not `nothing`.
  if (measure_kind(query.measure) != Kind::simhash || *nothing || !(query.bound < kSimhashBits)) return false;
  *distance = static_cast<uint32_t>(query.bound);
  return plan_blocks(blocks, *distance, plan);
}

void simhash_keys(KeysRequest* request) {
  const uint32_t blocks = stored_blocks(request->config);
  const uint64_t value = simhash_of_datum(request->value);
  request->keys = static_cast<uint64_t*>(palloc(blocks * sizeof(uint64_t)));
  request->nkeys = blocks;
  request->final = true;
  for (uint32_t i = 0; i < blocks; ++i) request->keys[i] = block_key(blocks, i, value);
}

void simhash_probes(ProbesRequest* request) {
  const uint32_t blocks = stored_blocks(request->config);
  BlockPlan plan;
  uint32_t distance;
  LshQueryView query;
  if (!is_distance_search(request, kSimhashFamily)) {
    query = lsh_query_view(request->query);
  } else {
    if (!next_reach(blocks, request->beyond, &distance)) return;
    request->reach = distance;
    query = {AnyValue(simhash_of_datum(request->query)), Measure::hamming, request->reach};
  }
  if (!plan_of_query(blocks, query, &request->nothing, &distance, &plan)) {
    request->nothing = request->nothing && measure_kind(query.measure) == Kind::simhash;
    request->guaranteed = request->nothing;
    return;
  }
  auto* checked = static_cast<CheckedQuery*>(palloc(sizeof(CheckedQuery)));
  checked->distance = static_cast<int>(distance);
  request->probes = static_cast<LshProbe*>(palloc(plan.probes * sizeof(LshProbe)));
  for (uint32_t i = 0; i < blocks; ++i) {
    if (plan.radius[i] < 0) continue;
    const uint16_t group = request->ngroups++;
    const auto bits = static_cast<uint8_t>(kBlockTagBits + block_width(blocks, i));
    checked->keys[group] = block_key(blocks, i, query.simhash);
    for_block_values(blocks, i, query.simhash, plan.radius[i], [&](uint64_t key) {
      request->probes[request->nprobes++] = {key, group, bits};
    });
  }
  request->slack = request->ngroups - 1;  // one block is enough
  request->guaranteed = true;
  request->final = true;
  request->check = key_is_near;
  request->check_arg = checked;
}

void simhash_bind(BindRequest* request) {
  if (!request->options_only && (request->config->flags & kMetaBound) != 0) {
    stored_blocks(request->config);
    request->matches = true;  // all are made alike
    return;
  }
  refuse_options(request, kSimhashFamily, "simhash_ops (blocks = 4)");
  if (request->options_only) return;
  const auto* options = static_cast<const SimhashOptions*>(request->column_options);
  SimhashConfig stored{};
  if (options != nullptr && options->blocks != 0)
    stored.blocks = static_cast<uint16_t>(options->blocks);
  else
    stored.blocks = request->rows > kLargeTable ? kBlocksOfLargeTables : kDefaultBlocks;
  LshConfig* config = request->config;
  set_family(config, kSimhashFamily, kFamilyVersion, &stored, sizeof stored);
  config->nbands = stored.blocks;
  request->matches = true;
}

void simhash_describe(DescribeRequest* request) {
  const uint32_t blocks = stored_blocks(request->config);
  request->parameters = psprintf("simhash, %u blocks", blocks);
  request->guarantee = psprintf("serves hamming <= %u, exactly", most_distance(blocks));
}

void simhash_order(OrderRequest* request) {
  const uint32_t blocks = stored_blocks(request->config);
  if (request->strategy != kStrategyAtLeast) return;
  const LshQueryView condition = lsh_query_view(request->condition);
  BlockPlan plan;
  uint32_t distance;
  bool nothing;
  if (!plan_of_query(blocks, condition, &nothing, &distance, &plan) ||
      condition.simhash != simhash_of_datum(request->query))
    return;
  // A row that the check of its key keeps away from a group is farther than the condition allows, which is no less.
  request->least = static_cast<double*>(palloc((request->probed + 1) * sizeof(double)));
  for (uint32_t h = 0; h <= request->probed; ++h) request->least[h] = least_distance(blocks, plan, h);
  request->usable = true;
}

constexpr LshFamily kSimhashFunctions = {simhash_keys, simhash_probes, simhash_bind, simhash_describe, simhash_order};

}  // namespace

uint32_t simhash_index_probes(uint32_t blocks, double distance) {
  if (!valid_blocks(blocks)) return 0;
  const LshQueryView query{{}, Measure::hamming, distance};
  BlockPlan plan;
  bool nothing;
  uint32_t whole;
  if (!plan_of_query(blocks, query, &nothing, &whole, &plan)) return 0;
  return plan.probes;
}

}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(lsh_simhash_options);
Datum lsh_simhash_options(PG_FUNCTION_ARGS) {
  auto* options = reinterpret_cast<local_relopts*>(PG_GETARG_POINTER(0));
  init_local_reloptions(options, sizeof(SimhashOptions));
  add_local_int_reloption(options, "blocks",
                          "Blocks that a value is cut into; by default 4, or 3 above 10 million rows.", 0,
                          kFewestBlocks, kMaxSimhashBlocks, offsetof(SimhashOptions, blocks));
  PG_RETURN_VOID();
}

NEARDUP_FAMILY(simhash, kSimhashFunctions)

}  // extern "C"
