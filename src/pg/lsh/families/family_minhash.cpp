// The hash family "minhash": bands of a signature as keys, for the operator classes minhash_ops and lsh_query_ops.
#include "core/lsh/minhash_keys.h"
#include "core/base/message_text.h"
#include "pg/base/guc.h"
#include "pg/lsh/family.h"
#include "pg/values/lsh_query_value.h"

namespace {

using namespace neardup;

constexpr char kMinhashFamily[] = "minhash";
constexpr uint32_t kFamilyVersion = 1;
static_assert(kMaxIndexBands == kMaxPendingKeys);

// LshConfig.params of this family; docs/format.md.
struct MinhashConfig {
  MinhashHeader header;  // of the indexed signatures; flags 0
  uint16_t bands;
  uint16_t rows;  // BandLayout's: 0 for the exact layout
  uint16_t need;
  uint16_t reserved;
};
static_assert(sizeof(MinhashConfig) == 24 && sizeof(MinhashConfig) <= sizeof(LshConfig::params));

struct IndexParams {
  MinhashHeader header;
  BandLayout layout;
};

// A bound config was read from disk: every field is checked.
IndexParams index_params(const LshConfig* config) {
  MinhashConfig stored;
  read_family(config, kMinhashFamily, kFamilyVersion, &stored, sizeof stored);
  const IndexParams p{stored.header,
                      {stored.header.num_perm, stored.header.bits, stored.bands, stored.rows, stored.need}};
  if (stored.header.format != kMinhashFormat || stored.header.flags != 0 || stored.reserved != 0 ||
      config->nbands != stored.bands || !valid_layout(p.layout))
    report_bad_params();
  return p;
}

// A view that says how the indexed signatures were made.
MinhashView header_view(const IndexParams& p) { return {&p.header, nullptr, sizeof p.header}; }

MinhashView detoasted_minhash(Datum value) {
  return minhash_view(reinterpret_cast<struct varlena*>(PG_DETOAST_DATUM(value)));
}

LshQueryView indexed_query(Datum value) {
  const LshQueryView query = lsh_query_view(value);
  if (measure_kind(query.measure) != Kind::minhash)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("an index on lsh_query holds those of a minhash only")));
  return query;
}

// "word 3, 128x32, seed 0"; describe() of any header is shorter than this.
struct Words {
  char text[128];
};
Words describe_header(const MinhashHeader& header) {
  Words w;
  call_core([&] { strlcpy(w.text, describe(header_params(header)).c_str(), sizeof w.text); });
  return w;
}

const char* first_difference(const MinhashHeader& a, const MinhashHeader& b) {
  if (a.kind != b.kind) return "unit";
  if (a.k != b.k) return "k";
  if (a.num_perm != b.num_perm) return "num_perm";
  if (a.bits != b.bits) return "bits";
  return a.seed != b.seed ? "seed" : "tokenizer";
}

void fill_band_keys(KeysRequest* request, const MinhashView& v) {
  const IndexParams p = index_params(request->config);
  demand_comparable(header_view(p), v);
  // An empty one is similar to nothing, and found by no key.
  if (v.empty()) return;
  request->keys = static_cast<uint64_t*>(palloc(p.layout.bands * sizeof(uint64_t)));
  request->nkeys = p.layout.bands;
  band_keys(p.layout, v.components, request->keys);
}

// bound: the threshold of an index that has none of its own.
struct Guarantee {
  double threshold;
  double recall;
};
Guarantee checked_guarantee(const LshOptionValues& options, double bound) {
  const Guarantee g{options.threshold < 0 ? bound : options.threshold, options.recall < 0 ? 1 : options.recall};
  check_threshold(g.threshold);
  if (!(g.recall > 0 && g.recall <= 1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("recall must be above 0 and at most 1: %s", shown(g.recall).text),
                    errhint("1 finds every row; below 1 an index is smaller and may miss some.")));
  return g;
}

// An error where no layout reaches the guarantee.
BandLayout choose_layout(uint32_t num_perm, uint32_t bits, const Guarantee& g) {
  BandLayout layout{};
  call_core([&] { layout = choose_bands(num_perm, bits, g.threshold, g.recall); });
  return layout;
}

void bind_or_check(BindRequest* request, const MinhashView& v, double bound) {
  LshConfig* config = request->config;
  if (config->flags & kMetaBound) {
    const IndexParams p = index_params(config);
    request->matches = comparable(p.header, *v.header);
    if (request->matches || !request->can_raise) return;
    const Words index = describe_header(p.header);
    const Words row = describe_header(*v.header);
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("signature was not made like those of the index"),
                    request->shows_index ? errdetail("index: %s; row: %s", index.text, row.text)
                                         : errdetail("row: %s; the index has another %s", row.text,
                                                     first_difference(p.header, *v.header)),
                    errhint("Use minhash_like(document, column). An index keeps the parameters of its first row until "
                            "REINDEX or TRUNCATE.")));
  }
  const Guarantee guarantee = checked_guarantee(request->options, bound);
  const BandLayout layout = choose_layout(v.num_perm(), v.bits(), guarantee);
  MinhashConfig stored{};
  stored.header = *v.header;
  stored.header.flags = 0;
  stored.bands = static_cast<uint16_t>(layout.bands);
  stored.rows = static_cast<uint16_t>(layout.rows);
  stored.need = static_cast<uint16_t>(layout.need);
  set_family(config, kMinhashFamily, kFamilyVersion, &stored, sizeof stored);
  config->nbands = stored.bands;
  config->threshold = guarantee.threshold;
  config->recall = guarantee.recall;
  request->matches = true;
}

double recall_at(const LshConfig* config, double similarity) {
  const IndexParams p = index_params(config);
  const uint32_t matches = min_matches(similarity, false, p.layout.num_perm, p.layout.bits);
  double recall = 0;
  call_core([&] { recall = hit_probability(p.layout, matches); });
  return recall;
}

// The ordering operator's own expression.
double distance_of_matches(const BandLayout& layout, uint32_t matches) {
  return 1.0 - estimate_jaccard(matches, layout.num_perm, layout.bits);
}

// A search without a threshold first looks for rows with this share of the differences that the index serves: of those
// farther away many more are candidates by chance.
constexpr double kNearShare = 0.75;

// The equal components of the nearest rows that are not known yet.
uint32_t next_need(const BandLayout& layout, double beyond) {
  const uint32_t near = static_cast<uint32_t>(kNearShare * (layout.num_perm - layout.need));
  const uint32_t need = layout.num_perm - near;
  return distance_of_matches(layout, need) > beyond ? need : layout.need;
}

void minhash_keys(KeysRequest* request) { fill_band_keys(request, detoasted_minhash(request->value)); }

void query_keys(KeysRequest* request) { fill_band_keys(request, indexed_query(request->value).signature); }

// The bound becomes a least number of equal components by the function that jaccard() uses, and that a greatest number
// of bands which a qualifying row does not share with the query.
void minhash_probes(ProbesRequest* request) {
  const IndexParams p = index_params(request->config);
  const BandLayout& layout = p.layout;
  MinhashView query{};
  double bound = 0;
  const bool is_nearest = request->strategy == kStrategyDistance;
  switch (request->strategy) {
    case kStrategyDistance:
      query = detoasted_minhash(request->query);
      break;
    case kStrategyAtLeast:
    case kStrategyConflict: {  // the rows' own bounds can only ask for more
      const LshQueryView q = lsh_query_view(request->query);
      if (measure_kind(q.measure) != Kind::minhash) return;  // the operator raises the error
      query = q.signature;
      bound = q.bound;
      break;
    }
    case kStrategySimilar:
      query = detoasted_minhash(request->query);
      bound = guc_jaccard_threshold;
      break;
    default:
      elog(ERROR, "hash family minhash has no strategy %u", request->strategy);
  }
  // A query with other parameters is for a scan of all rows: it raises the error if there is a row to compare with, as
  // without an index.
  if (!comparable(*header_view(p).header, *query.header)) return;
  // num_perm + 1 for NaN, too
  const uint32_t need =
      is_nearest ? next_need(layout, request->beyond) : min_matches(bound, false, layout.num_perm, layout.bits);
  if (is_nearest) {
    request->reach = distance_of_matches(layout, need);
    if (!(request->reach > request->beyond)) return;
  }
  // An empty signature has similarity 0 to all.
  if (need > layout.num_perm || (query.empty() && need > 0)) {
    request->nothing = true;
    request->guaranteed = true;
    return;
  }
  if (need == 0) return;
  const uint32_t mismatches = layout.num_perm - need;
  if (mismatches < layout.bands)
    request->slack = static_cast<uint16_t>(mismatches);
  else if (need >= layout.need)
    request->slack = static_cast<uint16_t>(layout.bands - 1);  // one hit is all that recall below 1 promises
  else
    return;
  request->guaranteed = true;
  uint64_t keys[kMaxIndexBands];
  band_keys(layout, query.components, keys);
  add_whole_keys(request, keys, layout.bands);
}

void minhash_bind(BindRequest* request) {
  if (!request->options_only) {
    bind_or_check(request, detoasted_minhash(request->value), kDefaultThreshold);
    return;
  }
  // The type modifier says how large the first signature will be, not how it is made. Of 8 bits needs the fewest bands.
  const auto [num_perm, bits] = minhash_shape(request->typmod);
  if (num_perm != 0)
    choose_layout(num_perm, bits != 0 ? bits : 8, checked_guarantee(request->options, kDefaultThreshold));
}

void query_bind(BindRequest* request) {
  if (request->options_only) return;
  const LshQueryView value = indexed_query(request->value);
  bind_or_check(request, value.signature, value.bound);
}

void minhash_describe(DescribeRequest* request) {
  const IndexParams p = index_params(request->config);
  const double threshold = request->config->threshold;
  request->parameters = pstrdup(describe_header(p.header).text);
  const char* serves =
      p.layout.bits == 8  // where the share of equal components is not the similarity
          ? psprintf("serves jaccard >= %s (%u of %u components equal)", shown(threshold).text, p.layout.need,
                     p.layout.num_perm)
          : psprintf("serves jaccard >= %u/%u (%s)", p.layout.need, p.layout.num_perm, shown(threshold).text);
  request->guarantee = p.layout.exact() ? psprintf("%s, exactly", serves)
                                        : psprintf("%s, each row with probability at least %s", serves,
                                                   shown(request->config->recall).text);
  request->recall_at = recall_at;
}

// A row that was met in h of p probed bands differs from the query in at least p - h components, one in each of the
// other bands; bands are disjoint in every layout, so that holds at recall below 1 as well. Keys that are equal by
// chance raise h and lower the bound. The distance is the operator's own expression, and like it monotone.
void minhash_order(OrderRequest* request) {
  const IndexParams p = index_params(request->config);
  const MinhashView query = detoasted_minhash(request->query);
  MinhashView condition{};
  switch (request->strategy) {
    case kStrategyAtLeast:
      condition = lsh_query_view(request->condition).signature;  // of a guaranteed plan
      break;
    case kStrategySimilar:
      condition = detoasted_minhash(request->condition);
      break;
    default:
      return;
  }
  if (query.size != condition.size || memcmp(query.header, condition.header, query.size) != 0) return;
  const uint32_t most = p.layout.num_perm;
  request->least = static_cast<double*>(palloc((request->probed + 1) * sizeof(double)));
  for (uint32_t h = 0; h <= request->probed; ++h) {
    const uint32_t differing = Min(request->probed - h, most);
    request->least[h] = distance_of_matches(p.layout, most - differing);
  }
  request->usable = true;
}

constexpr LshFamily kMinhashFunctions = {minhash_keys, minhash_probes, minhash_bind, minhash_describe, minhash_order};

}  // namespace

extern "C" {

NEARDUP_FAMILY(minhash, kMinhashFunctions)
// An index on lsh_query.
NEARDUP_FAMILY_FUNCTION(lsh_query_keys, query_keys, KeysRequest)
NEARDUP_FAMILY_FUNCTION(lsh_query_bind, query_bind, BindRequest)

}  // extern "C"
