// See options.h.
#include "pg/lsh/store/options.h"

#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/store/lsh_columns.h"

extern "C" {
#include "access/reloptions.h"
}

namespace neardup {
namespace {

relopt_kind option_kind;
bool options_added = false;

// Once a process: PostgreSQL keeps them in its own list.
void add_options() {
  if (options_added) return;
  options_added = true;
  option_kind = add_reloption_kind();
  add_real_reloption(option_kind, "threshold", "Least similarity that the index serves exactly; acts when it is built.",
                     -1, 0, 1, AccessExclusiveLock);
  add_real_reloption(option_kind, "recall",
                     "Least share of the similar rows that the index finds; acts when it is built.", -1, 0, 1,
                     AccessExclusiveLock);
  add_int_reloption(option_kind, "pending_limit", "Pages of new rows after which an insert sorts them into a run.",
                    kDefaultPendingLimit, 1, kMaxPendingLimit, ShareUpdateExclusiveLock);
}

}  // namespace

bytea* lshoptions(Datum reloptions, bool validate) {
  add_options();
  // Member by member: PostgreSQL 18 has one more.
  static relopt_parse_elt table[3];
  const auto set = [](relopt_parse_elt* option, const char* name, relopt_type type, size_t offset) {
    option->optname = name;
    option->opttype = type;
    option->offset = static_cast<int>(offset);
  };
  set(&table[0], "threshold", RELOPT_TYPE_REAL, offsetof(LshOptions, threshold));
  set(&table[1], "recall", RELOPT_TYPE_REAL, offsetof(LshOptions, recall));
  set(&table[2], "pending_limit", RELOPT_TYPE_INT, offsetof(LshOptions, pending_limit));
  bytea* result = static_cast<bytea*>(
      build_reloptions(reloptions, validate, option_kind, sizeof(LshOptions), table, lengthof(table)));
  if (validate && result != nullptr) {
    const LshOptions* options = reinterpret_cast<const LshOptions*>(result);
    const char* zero = options->threshold == 0 ? "threshold" : options->recall == 0 ? "recall" : nullptr;
    if (zero != nullptr)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be above 0 and at most 1: 0", zero)));
  }
  return result;
}

LshOptionValues option_values(Relation index) {
  const LshOptions* options = reinterpret_cast<const LshOptions*>(index->rd_options);
  return options == nullptr ? LshOptionValues{-1, -1} : LshOptionValues{options->threshold, options->recall};
}

int pending_limit(Relation index) {
  const LshOptions* options = reinterpret_cast<const LshOptions*>(index->rd_options);
  return options == nullptr ? kDefaultPendingLimit : options->pending_limit;
}

void call_family(Relation index, LshProc proc, void* request) {
  const int column = value_column(index);
  FunctionCall1Coll(index_getprocinfo(index, static_cast<AttrNumber>(column + 1), static_cast<uint16>(proc)),
                    index->rd_indcollation[column], PointerGetDatum(request));
}

ProbesRequest plan_probes(Relation index, uint16_t strategy, Datum query, const LshConfig* config, double beyond) {
  ProbesRequest plan{};
  plan.query = query;
  plan.strategy = strategy;
  plan.config = config;
  plan.beyond = beyond;
  call_family(index, kProcProbes, &plan);
  return plan;
}

DescribeRequest describe_index(Relation index, const LshConfig* config) {
  DescribeRequest words{};
  words.config = config;
  call_family(index, kProcDescribe, &words);
  return words;
}

bool value_matches(Relation index, Datum value, LshConfig* config) {
  BindRequest request{};
  request.value = value;
  request.config = config;
  call_family(index, kProcBind, &request);
  return request.matches;
}

bool is_lsh_index(Relation relation) {
  return relation->rd_rel->relkind == RELKIND_INDEX && relation->rd_indam != nullptr &&
         relation->rd_indam->amcostestimate == lshcostestimate;
}

}  // namespace neardup
