// explain_pair(index, ..): why an lsh index finds a pair, or not.
#include "pg/explain.h"
#include "pg/lsh/lsh_inspect.h"
#include "pg/lsh/lsh_query.h"

namespace neardup {
namespace {

struct IndexAnswer {
  bool known;  // the bands below
  uint32_t agreeing;
  uint32_t bands;
  bool serves;
  char verdict[256];  // empty: nothing to add
};

uint32_t common_keys(const StoredKeys& a, const StoredKeys& b) {
  uint32_t n = 0;
  for (uint32_t i = 0, j = 0; i < a.n && j < b.n;) {
    if (a.keys[i] == b.keys[j]) ++n;
    const uint64_t key = a.keys[i];
    if (key <= b.keys[j]) ++i;
    if (b.keys[j] <= key) ++j;
  }
  return n;
}

// What the index makes of a pair of comparable signatures. minhash_type: the type's OID.
void ask_index(Relation index, Oid minhash_type, const MinhashView& a, const MinhashView& b, Datum a_value,
               Datum b_value, double threshold, bool similar, IndexAnswer* out) {
  LshMeta* meta = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  read_meta(index, meta);
  LshConfig* config = &meta->config;
  if ((config->flags & kMetaBound) == 0) {
    strlcpy(out->verdict, "the index has had no row yet", sizeof out->verdict);
    return;
  }
  // What the index holds: signatures, or lsh_queries for an exclusion constraint.
  const bool plain = index->rd_opcintype[0] == minhash_type;
  if (!plain) {
    a_value = lsh_query_datum(threshold, a);
    b_value = lsh_query_datum(threshold, b);
  }
  DescribeRequest describe{};
  describe.config = config;
  call_family(index, kProcDescribe, &describe);
  BindRequest bind{};
  bind.value = a_value;
  bind.config = config;
  call_family(index, kProcBind, &bind);
  if (!bind.matches) {
    snprintf(out->verdict, sizeof out->verdict, "not in this index, which holds %s", describe.parameters);
    return;
  }
  out->known = true;
  out->bands = config->nbands;
  out->agreeing = common_keys(stored_keys(index, a_value, config), stored_keys(index, b_value, config));
  ProbesRequest probes{};
  probes.query = lsh_query_datum(threshold, b);
  probes.strategy = plain ? kStrategyAtLeast : kStrategyConflict;
  probes.config = config;
  call_family(index, kProcProbes, &probes);
  out->serves = probes.guaranteed && index->rd_index->indisvalid;
  if (!index->rd_index->indisvalid)
    strlcpy(out->verdict, "the index is not valid and serves no query: REINDEX it", sizeof out->verdict);
  else if (!probes.guaranteed)
    snprintf(out->verdict, sizeof out->verdict, "the index %s, so a query for %g reads all rows", describe.guarantee,
             threshold);
  else if (similar && !probes.nothing && out->agreeing + probes.slack < probes.ngroups)
    snprintf(out->verdict, sizeof out->verdict, "the index misses it: %u of %u bands agree, %u would do (recall %g)",
             out->agreeing, out->bands, static_cast<unsigned>(probes.ngroups - probes.slack), config->recall);
  else if (similar)
    snprintf(out->verdict, sizeof out->verdict, "the index finds it: %u of %u bands agree%s", out->agreeing, out->bands,
             RelationGetIndexPredicate(index) != NIL ? ", if its WHERE covers the row" : "");
}

}  // namespace
}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(neardup_explain_indexed_pair);
Datum neardup_explain_indexed_pair(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 1);
  const MinhashView b = minhash_arg(fcinfo, 2);
  const double threshold = PG_GETARG_FLOAT8(3);
  check_threshold(threshold);
  const InspectedIndex opened = open_inspected(PG_GETARG_OID(0), false);
  PairExplanation pair;
  explain_minhash_pair(a, b, threshold, &pair);
  IndexAnswer answer{};
  if (pair.comparable)
    ask_index(opened.index, get_fn_expr_argtype(fcinfo->flinfo, 1), a, b, PG_GETARG_DATUM(1), PG_GETARG_DATUM(2),
              threshold, pair.similar, &answer);
  Datum values[9] = {
      BoolGetDatum(pair.comparable),
      Int32GetDatum(static_cast<int32>(pair.matches)),
      Int32GetDatum(static_cast<int32>(pair.needed)),
      Float8GetDatum(pair.jaccard),
      Float8GetDatum(pair.standard_error),
      CStringGetTextDatum(answer.verdict[0] == '\0' ? pair.verdict : psprintf("%s; %s", pair.verdict, answer.verdict)),
      Int32GetDatum(static_cast<int32>(answer.agreeing)),
      Int32GetDatum(static_cast<int32>(answer.bands)),
      BoolGetDatum(answer.serves),
  };
  bool nulls[9] = {};
  nulls[1] = nulls[2] = nulls[3] = nulls[4] = !pair.comparable;
  nulls[6] = nulls[7] = !answer.known;
  const Datum row = row_of(fcinfo, values, nulls);
  close_inspected(opened);
  PG_RETURN_DATUM(row);
}

}  // extern "C"
