// The hash family "bits": blocks of bit strings as keys, for the operator class bit_ops.
#include "core/base/bits.h"
#include "core/lsh/bit_keys.h"
#include "core/lsh/lsh_query.h"
#include "pg/values/bit_value.h"
#include "pg/values/lsh_query_value.h"
#include "pg/lsh/family.h"
#include "pg/lsh/families/families.h"

extern "C" {
#include "access/reloptions.h"
}

namespace neardup {
namespace {

constexpr char kBitsFamily[] = "bits";
constexpr uint32_t kFamilyVersion = 1;

// LshConfig.params of this family; docs/format.md.
struct BitConfig {
  uint32_t bits;
  uint16_t blocks;
  uint16_t most;
  uint16_t scale;
  uint16_t reserved;
};

struct BitOptions {
  int32 vl_len_;
  int max_distance;  // kByLength: an eighth of the bits
};
constexpr int kByLength = -1;

// A bound config was read from disk: every field is checked.
BitLayout stored_layout(const LshConfig* config) {
  BitConfig stored;
  read_family(config, kBitsFamily, kFamilyVersion, &stored, sizeof stored);
  const BitLayout layout{stored.bits, stored.blocks, stored.most, stored.scale};
  if (!valid_layout(layout) || stored.reserved != 0 || config->nbands != stored.blocks) report_bad_params();
  return layout;
}

struct CheckedQuery {
  uint32_t distance;
  uint64_t keys[kMostCodeBlocks];  // by group
};

bool key_is_near(const ProbesRequest* request, const LshProbe* probe, uint64_t stored_key) {
  const auto* query = static_cast<const CheckedQuery*>(request->check_arg);
  return count_bits(stored_key ^ query->keys[probe->group]) <= query->distance;
}

enum class Served : uint8_t { nothing, by_plan, by_all_rows };

// NaN is above all distances, so all rows serve it.
Served plan_bound(const BitLayout& layout, double bound, uint32_t* distance, CodePlan* plan) {
  if (bound < 0) return Served::nothing;
  if (!(bound < layout.most + 1.0)) return Served::by_all_rows;
  *distance = static_cast<uint32_t>(bound);
  return plan_codes(layout, *distance, plan) ? Served::by_plan : Served::by_all_rows;
}

// The greatest distance that the option, or its absence, asks for; an error unless codes of so many bits have it.
uint32_t max_distance(const BitOptions* options, uint32_t bits) {
  if (options == nullptr || options->max_distance == kByLength) return bits / kUsualDistancePart;
  const auto most = static_cast<uint32_t>(options->max_distance);
  if (most > bits / kMostDistancePart)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("max_distance must be at most %u, a quarter of the %u bits: %u", bits / kMostDistancePart,
                           bits, most),
                    errhint("Beyond that an index finds nothing sooner than a scan of all rows does.")));
  return most;
}

void check_code(BindRequest* request, const BitCode& code) {
  const BitLayout layout = stored_layout(request->config);
  request->matches = code.bits == layout.bits;
  if (request->matches || !request->can_raise) return;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  request->shows_index
                      ? errmsg("the index has bit strings of %u bits, the row has %u", layout.bits, code.bits)
                      : errmsg("the index has bit strings of another length than the row's %u bits", code.bits),
                  errhint("An index keeps the length of its first row until REINDEX or TRUNCATE.")));
}

void bind_to(BindRequest* request, const BitOptions* options, const BitCode& code) {
  demand_code(code);
  const BitLayout layout = choose_bit_layout(code.bits, max_distance(options, code.bits), request->rows);
  LshConfig* config = request->config;
  const BitConfig stored{layout.bits, static_cast<uint16_t>(layout.blocks), static_cast<uint16_t>(layout.most),
                         static_cast<uint16_t>(layout.scale), 0};
  set_family(config, kBitsFamily, kFamilyVersion, &stored, sizeof stored);
  config->nbands = stored.blocks;
  request->matches = true;
}

void fill_probes(ProbesRequest* request, const BitLayout& layout, const CodePlan& plan, uint32_t distance,
                 const BitCode& code) {
  const CodeKeys keys(layout);
  auto* checked = static_cast<CheckedQuery*>(palloc(sizeof(CheckedQuery)));
  checked->distance = distance;
  request->probes = static_cast<LshProbe*>(palloc(plan.probes * sizeof(LshProbe)));
  for (uint32_t block = 0; block < plan.groups; ++block) {
    const auto group = static_cast<uint16_t>(block);
    const uint8_t bits = keys.prefix_bits(block);
    checked->keys[group] = keys.key(block, code);
    keys.for_each_near(block, code, plan.radius_in(block), [&](uint64_t key) {
      if (request->nprobes == plan.probes) elog(ERROR, "a plan of %u probes has more", plan.probes);
      request->probes[request->nprobes++] = {key, group, bits};
    });
  }
  request->ngroups = static_cast<uint16_t>(plan.groups);
  request->slack = static_cast<uint16_t>(plan.slack);
  request->guaranteed = true;
  request->final = true;
  if (!keys.has_further_bits()) return;
  request->check = key_is_near;
  request->check_arg = checked;
}

void bits_keys(KeysRequest* request) {
  const BitLayout layout = stored_layout(request->config);
  const BitCode code = read_bit_string(request->value);
  if (code.bits != layout.bits) elog(ERROR, "a bit string of %u bits has no keys here", code.bits);
  const CodeKeys keys(layout);
  request->keys = static_cast<uint64_t*>(palloc(layout.blocks * sizeof(uint64_t)));
  request->nkeys = layout.blocks;
  request->final = true;
  for (uint32_t i = 0; i < layout.blocks; ++i) request->keys[i] = keys.key(i, code);
}

// A query of another length is for a scan of all rows: it raises the error if there is a row to compare with, as
// without an index.
void bits_probes(ProbesRequest* request) {
  const BitLayout layout = stored_layout(request->config);
  CodePlan plan;
  uint32_t distance;
  LshQueryView query;
  if (!is_distance_search(request, kBitsFamily)) {
    query = lsh_query_view(request->query);
  } else {
    if (!next_code_reach(layout, request->beyond, &distance)) return;
    request->reach = distance;
    query = {read_bit_string(request->query), Measure::bit_hamming, request->reach};
  }
  if (measure_kind(query.measure) != Kind::bits || query.code.bits != layout.bits) return;
  const Served served = plan_bound(layout, query.bound, &distance, &plan);
  request->nothing = request->guaranteed = served == Served::nothing;
  if (served == Served::by_plan) fill_probes(request, layout, plan, distance, query.code);
}

void bits_bind(BindRequest* request) {
  const auto* options = static_cast<const BitOptions*>(request->column_options);
  const bool is_bound = !request->options_only && (request->config->flags & kMetaBound) != 0;
  if (!is_bound) refuse_options(request, "bit", "bit_ops (max_distance = 31)");
  if (request->options_only) {
    // The type modifier of a bit string is its length.
    const auto bits = static_cast<uint32_t>(Max(request->typmod, 0));
    if (bits > 0) {
      demand_code({nullptr, bits});
      max_distance(options, bits);
    }
    return;
  }
  const BitCode code = read_bit_string(request->value);
  if (is_bound)
    check_code(request, code);
  else
    bind_to(request, options, code);
}

void bits_describe(DescribeRequest* request) {
  const BitLayout layout = stored_layout(request->config);
  request->parameters = psprintf("bit strings of %u bits, %u blocks", layout.bits, layout.blocks);
  request->guarantee = psprintf("serves bit_hamming <= %u, exactly", layout.most);
}

void bits_order(OrderRequest* request) {
  const BitLayout layout = stored_layout(request->config);
  if (request->strategy != kStrategyAtLeast) return;
  const LshQueryView condition = lsh_query_view(request->condition);
  const BitCode query = read_bit_string(request->query);
  CodePlan plan;
  uint32_t distance;
  if (measure_kind(condition.measure) != Kind::bits || condition.code.bits != layout.bits ||
      query.bits != layout.bits || memcmp(query.bytes, condition.code.bytes, code_bytes(query.bits)) != 0 ||
      plan_bound(layout, condition.bound, &distance, &plan) != Served::by_plan)
    return;
  // A row that the check of its key keeps away from a group is farther than the condition allows, which is no less.
  request->least = static_cast<double*>(palloc((request->probed + 1) * sizeof(double)));
  for (uint32_t h = 0; h <= request->probed; ++h)
    request->least[h] = h <= plan.groups ? least_code_distance(plan, h) : 0;
  request->usable = true;
}

constexpr LshFamily kBitsFunctions = {bits_keys, bits_probes, bits_bind, bits_describe, bits_order};

}  // namespace

bool read_bit_layout(const LshConfig* config, BitLayout* layout) {
  if ((config->flags & kMetaBound) == 0) return false;
  *layout = stored_layout(config);
  return true;
}

}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(lsh_bits_options);
Datum lsh_bits_options(PG_FUNCTION_ARGS) {
  auto* options = reinterpret_cast<local_relopts*>(PG_GETARG_POINTER(0));
  init_local_reloptions(options, sizeof(BitOptions));
  add_local_int_reloption(options, "max_distance",
                          "Greatest Hamming distance that is looked up; by default an eighth of the bits.", kByLength,
                          0, static_cast<int>(kMostCodeBits / kMostDistancePart), offsetof(BitOptions, max_distance));
  PG_RETURN_VOID();
}

NEARDUP_FAMILY(bits, kBitsFunctions)

}  // extern "C"
