// The hash family "ctph": grams of a digest as keys, for the operator class ctph_ops.
#include "core/lsh/ctph_keys.h"
#include "core/base/message_text.h"
#include "pg/values/ctph_value.h"
#include "pg/lsh/family.h"
#include "pg/lsh/families/families.h"
#include "pg/values/lsh_query_value.h"

extern "C" {
#include "access/reloptions.h"
}

namespace neardup {
namespace {

constexpr char kCtphFamily[] = "ctph";
constexpr uint32_t kFamilyVersion = 1;

// LshConfig.params of this family; docs/format.md.
struct CtphConfig {
  double max_rate;
  uint8_t q;
  uint8_t is_long;  // 1: digests of ctph_long(); 0: ssdeep's
  uint16_t short_length;
  uint32_t reserved;
};
static_assert(sizeof(CtphConfig) == 16 && 4 * kMaxGramLength + 16 <= kMaxPendingKeys);

struct CtphOptions {
  int32 vl_len_;
  double max_rate;
};

struct IndexParams {
  GramRules rules;
  bool is_long;
};

// A bound config was read from disk: every field is checked.
IndexParams index_params(const LshConfig* config) {
  CtphConfig stored;
  read_family(config, kCtphFamily, kFamilyVersion, &stored, sizeof stored);
  const IndexParams p{{stored.max_rate, stored.q, stored.short_length}, stored.is_long == 1};
  const bool none = stored.max_rate == 0 && stored.q == 0 && stored.short_length == 0;
  const bool some = stored.max_rate > 0 && stored.max_rate <= kMaxMaxRate && (stored.q == 3 || stored.q == 7) &&
                    stored.short_length <= kMaxGramLength;
  if ((!none && !some) || stored.is_long > 1 || stored.reserved != 0 || config->nbands != 0) report_bad_params();
  return p;
}

const char* made_by(const CtphView& digest) { return digest.is_long() ? "ctph_long()" : "to_ctph()"; }
const char* name_digests(bool is_long) { return is_long ? "digests of ctph_long()" : "digests of to_ctph()"; }

void ctph_keys(KeysRequest* request) {
  const IndexParams p = index_params(request->config);
  const CtphView digest = ctph_of_datum(request->value);
  request->keys = static_cast<uint64_t*>(palloc(kMaxPendingKeys * sizeof(uint64_t)));
  uint32_t n = 0;
  call_core([&] {
    const std::vector<uint64_t> keys = gram_keys(p.rules, digest);
    if (keys.size() > kMaxPendingKeys) throw Error(Errc::too_large, "too many grams in a digest");
    n = static_cast<uint32_t>(keys.size());
    std::copy(keys.begin(), keys.end(), request->keys);
  });
  request->nkeys = n;
}

void ctph_probes(ProbesRequest* request) {
  const IndexParams p = index_params(request->config);
  LshQueryView query;
  if (!is_distance_search(request, kCtphFamily)) {
    query = lsh_query_view(request->query);
  } else {
    if (!(p.rules.max_rate > request->beyond)) return;
    request->reach = p.rules.max_rate;
    query = {ctph_of_datum(request->query), Measure::ctph_edit_rate, request->reach};
  }
  // A query of another kind is for a scan of all rows: it raises the error if there is a row to compare with, as
  // without an index.
  if (measure_kind(query.measure) != Kind::ctph || query.digest.is_long() != p.is_long) return;
  struct {
    bool served;
    bool nothing;
    uint32_t hits;
    uint32_t n;
    uint64_t keys[kMaxPendingKeys];
  } plan;
  call_core([&] {
    const GramProbes probes = info(query.measure).is_similarity ? score_probes(query.digest, query.bound)
                                                                : rate_probes(p.rules, query.digest, query.bound);
    if (probes.keys.size() > kMaxPendingKeys) throw Error(Errc::too_large, "too many grams in a digest");
    plan.served = probes.served;
    plan.nothing = probes.nothing;
    plan.hits = probes.hits;
    plan.n = static_cast<uint32_t>(probes.keys.size());
    std::copy(probes.keys.begin(), probes.keys.end(), plan.keys);
  });
  if (!plan.served) return;
  request->guaranteed = true;
  request->nothing = plan.nothing;
  if (plan.nothing) return;
  add_whole_keys(request, plan.keys, plan.n);
  request->slack = static_cast<uint16_t>(plan.n - plan.hits);
}

void ctph_bind(BindRequest* request) {
  if (request->options_only) {
    refuse_options(request, kCtphFamily, "ctph_ops (max_rate = 0.1)");
    return;
  }
  const CtphView digest = ctph_of_datum(request->value);
  LshConfig* config = request->config;
  if ((config->flags & kMetaBound) != 0) {
    const IndexParams p = index_params(config);
    request->matches = digest.is_long() == p.is_long;
    if (request->matches || !request->can_raise) return;
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("digest was not made like those of the index"),
             request->shows_index ? errdetail("index: %s; row: one of %s", name_digests(p.is_long), made_by(digest))
                                  : errdetail("row: one of %s", made_by(digest)),
             errhint("Use one of both functions for all rows. An index keeps the kind of its first row until REINDEX "
                     "or TRUNCATE.")));
  }
  refuse_options(request, kCtphFamily, "ctph_ops (max_rate = 0.1)");
  const auto* options = static_cast<const CtphOptions*>(request->column_options);
  GramRules rules{};
  call_core([&] { rules = gram_rules(options == nullptr ? kDefaultMaxRate : options->max_rate); });
  CtphConfig stored{};
  stored.max_rate = rules.max_rate;
  stored.q = static_cast<uint8_t>(rules.q);
  stored.is_long = digest.is_long();
  stored.short_length = static_cast<uint16_t>(rules.short_length);
  set_family(config, kCtphFamily, kFamilyVersion, &stored, sizeof stored);
  request->matches = true;
}

void ctph_describe(DescribeRequest* request) {
  const IndexParams p = index_params(request->config);
  if (p.rules.q == 0) {
    request->parameters = psprintf("%s, max_rate 0", name_digests(p.is_long));
    request->guarantee = "serves ctph_score >= 1, exactly";
  } else {
    request->parameters =
        psprintf("%s, max_rate %s, %u-grams", name_digests(p.is_long), shown(p.rules.max_rate).text, p.rules.q);
    request->guarantee =
        psprintf("serves ctph_score >= 1 and ctph_edit_rate <= %s, exactly", shown(p.rules.max_rate).text);
  }
}

// Hits say too little of the rate: all rows come with the least distance, 0, and the executor orders them.
void ctph_order(OrderRequest*) {}

constexpr LshFamily kCtphFunctions = {ctph_keys, ctph_probes, ctph_bind, ctph_describe, ctph_order};

}  // namespace

double ctph_index_max_rate(const LshConfig* config) { return index_params(config).rules.max_rate; }

}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(lsh_ctph_options);
Datum lsh_ctph_options(PG_FUNCTION_ARGS) {
  auto* options = reinterpret_cast<local_relopts*>(PG_GETARG_POINTER(0));
  init_local_reloptions(options, sizeof(CtphOptions));
  add_local_real_reloption(options, "max_rate", "Greatest edit rate that the index serves; 0: it serves scores alone.",
                           kDefaultMaxRate, 0, kMaxMaxRate, offsetof(CtphOptions, max_rate));
  PG_RETURN_VOID();
}

NEARDUP_FAMILY(ctph, kCtphFunctions)

}  // extern "C"
