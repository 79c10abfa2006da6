// explain_pair(index, ..): why an lsh index finds a pair, or not.
#include "core/base/message_text.h"
#include "pg/values/explain.h"
#include "pg/lsh/inspect/lsh_inspect.h"
#include "pg/values/lsh_query_value.h"
#include "pg/values/simhash_value.h"
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/stored_keys.h"
#include "pg/base/result_row.h"

namespace neardup {
namespace {

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

struct KeyedValue {
  LshConfig* config;
  DescribeRequest words;
  bool is_held;  // the index may hold it: the keys below
  StoredKeys keys;
  const char* verdict;  // why the index has no answer; null: it has one
};

KeyedValue look_into(Relation index, Datum value) {
  KeyedValue out{};
  out.config = &copy_meta(index)->config;
  if ((out.config->flags & kMetaBound) == 0) {
    out.verdict = "the index has had no row yet";
    return out;
  }
  out.words = describe_index(index, out.config);
  out.is_held = value_matches(index, value, out.config);
  if (!out.is_held) {
    out.verdict = psprintf("not in this index, which holds %s", out.words.parameters);
    return out;
  }
  if (!index->rd_index->indisvalid) out.verdict = "the index is not valid and serves no query: REINDEX it";
  out.keys = stored_keys(index, row_of_value(value), out.config);
  return out;
}

struct IndexAnswer {
  bool known;  // the bands below
  uint32_t agreeing;
  uint32_t bands;
  bool serves;
  const char* verdict;  // null: nothing to add
};

// Asks the index about a pair of comparable signatures. minhash_type: the type's OID.
IndexAnswer ask_index(Relation index, Oid minhash_type, const MinhashView& a, const MinhashView& b, Datum a_value,
                      Datum b_value, double threshold, bool similar) {
  // It holds signatures, or lsh_queries for an exclusion constraint.
  const bool plain = index->rd_opcintype[value_column(index)] == minhash_type;
  const Datum query = lsh_query_datum(LshQueryView{b, Measure::jaccard, threshold});
  if (!plain) {
    a_value = lsh_query_datum(LshQueryView{a, Measure::jaccard, threshold});
    b_value = query;
  }
  const KeyedValue held = look_into(index, a_value);
  if (!held.is_held) return {false, 0, 0, false, held.verdict};
  const uint32_t agreeing = common_keys(held.keys, stored_keys(index, row_of_value(b_value), held.config));
  const uint32_t bands = held.config->nbands;
  const ProbesRequest plan = plan_probes(index, plain ? kStrategyAtLeast : kStrategyConflict, query, held.config);
  const char* verdict = held.verdict;
  if (verdict == nullptr && !plan.guaranteed)
    verdict = psprintf("the index %s, so a query for %s reads all rows", held.words.guarantee, shown(threshold).text);
  else if (verdict == nullptr && similar && !plan.nothing && agreeing + plan.slack < plan.ngroups)
    verdict = psprintf("the index misses it: %u of %u bands agree, %u would do (recall %s)", agreeing, bands,
                       static_cast<unsigned>(plan.ngroups - plan.slack), shown(held.config->recall).text);
  else if (verdict == nullptr && similar)
    verdict = psprintf("the index finds it: %u of %u bands agree%s%s", agreeing, bands,
                       value_column(index) != 0 ? ", if the columns before the signature are equal" : "",
                       RelationGetIndexPredicate(index) != NIL ? ", if its WHERE covers the row" : "");
  return {true, agreeing, bands, plan.guaranteed && index->rd_index->indisvalid, verdict};
}

// True if the index serves the query by looking keys up; *finds: and then hands out the row.
bool serves(Relation index, const KeyedValue& row, const LshQueryView& query, bool* finds) {
  *finds = false;
  if (row.verdict != nullptr) return false;
  const ProbesRequest plan = plan_probes(index, kStrategyAtLeast, lsh_query_datum(query), row.config);
  if (!plan.guaranteed) return false;
  uint32_t hits = 0;
  for (uint32_t i = 0; i < plan.nprobes && !plan.nothing; ++i) {
    const unsigned free_bits = kKeyBits - plan.probes[i].bits;
    const uint64_t key = stored_key(plan.probes[i].key, plan.final);
    for (uint32_t k = 0; k < row.keys.n; ++k)
      hits += (row.keys.keys[k] ^ key) >> free_bits == 0 &&
              (plan.check == nullptr || plan.check(&plan, &plan.probes[i], row.keys.keys[k]));
  }
  *finds = !plan.nothing && hits + plan.slack >= plan.ngroups;
  return true;
}

const char* answer_text(const char* condition, bool served, bool finds) {
  return psprintf("%s: %s", condition,
                  !served ? "not by the index, a query reads all rows"
                  : finds ? "a candidate of the index"
                          : "no candidate of the index");
}

// An error unless the index's operator class looks up by this function.
void demand_family(Relation index, PGFunction probes, const char* what) {
  if (index_getprocinfo(index, static_cast<AttrNumber>(value_column(index) + 1), kProcProbes)->fn_addr != probes)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("\"%s\" is not an index on %s", RelationGetRelationName(index), what)));
}

}  // namespace
}  // namespace neardup

using namespace neardup;

extern "C" {

Datum lsh_minhash_probes(PG_FUNCTION_ARGS);
Datum lsh_simhash_probes(PG_FUNCTION_ARGS);
Datum lsh_ctph_probes(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(neardup_explain_indexed_pair);
Datum neardup_explain_indexed_pair(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 1);
  const MinhashView b = minhash_arg(fcinfo, 2);
  const double threshold = PG_GETARG_FLOAT8(3);
  check_threshold(threshold);
  const InspectedIndex opened = open_inspected(PG_GETARG_OID(0));
  demand_family(opened.index, lsh_minhash_probes, "minhash signatures");
  PairExplanation pair;
  explain_minhash_pair(a, b, threshold, &pair);
  IndexAnswer answer{};
  if (pair.comparable)
    answer = ask_index(opened.index, get_fn_expr_argtype(fcinfo->flinfo, 1), a, b, PG_GETARG_DATUM(1),
                       PG_GETARG_DATUM(2), threshold, pair.similar);
  Datum values[9] = {
      BoolGetDatum(pair.comparable),
      Int32GetDatum(static_cast<int32>(pair.matches)),
      Int32GetDatum(static_cast<int32>(pair.needed)),
      Float8GetDatum(pair.jaccard),
      Float8GetDatum(pair.standard_error),
      CStringGetTextDatum(answer.verdict == nullptr ? pair.verdict : psprintf("%s; %s", pair.verdict, answer.verdict)),
      Int32GetDatum(static_cast<int32>(answer.agreeing)),
      Int32GetDatum(static_cast<int32>(answer.bands)),
      BoolGetDatum(answer.serves),
  };
  bool nulls[9] = {};
  nulls[1] = nulls[2] = nulls[3] = nulls[4] = !pair.comparable;
  nulls[6] = nulls[7] = !answer.known;
  const Datum row = row_datum(fcinfo, values, nulls);
  close_inspected(opened);
  PG_RETURN_DATUM(row);
}

PG_FUNCTION_INFO_V1(neardup_explain_indexed_simhashes);
Datum neardup_explain_indexed_simhashes(PG_FUNCTION_ARGS) {
  const uint64_t a = simhash_arg(fcinfo, 1);
  const double distance = bound_arg(fcinfo, 3, Measure::hamming);
  const InspectedIndex opened = open_inspected(PG_GETARG_OID(0));
  demand_family(opened.index, lsh_simhash_probes, "simhash values");
  SimhashExplanation pair;
  explain_simhash_pair(a, simhash_arg(fcinfo, 2), distance, &pair);
  const KeyedValue row = look_into(opened.index, PG_GETARG_DATUM(2));
  bool finds;
  const bool served = serves(opened.index, row, {AnyValue(a), Measure::hamming, distance}, &finds);
  const char* added = row.verdict != nullptr
                          ? row.verdict
                          : answer_text(psprintf("hamming <= %s", shown(distance).text), served, finds);
  Datum values[4] = {
      Int32GetDatum(pair.hamming),
      Float8GetDatum(pair.cosine),
      CStringGetTextDatum(psprintf("%s; %s", pair.verdict, added)),
      BoolGetDatum(served),
  };
  bool nulls[4] = {};
  const Datum result = row_datum(fcinfo, values, nulls);
  close_inspected(opened);
  PG_RETURN_DATUM(result);
}

PG_FUNCTION_INFO_V1(neardup_explain_indexed_digests);
Datum neardup_explain_indexed_digests(PG_FUNCTION_ARGS) {
  const CtphView a = ctph_arg(fcinfo, 1);
  const CtphView b = ctph_arg(fcinfo, 2);
  const double score = bound_arg(fcinfo, 3, Measure::ctph_score);
  const double rate = bound_arg(fcinfo, 4, Measure::ctph_edit_rate);
  const InspectedIndex opened = open_inspected(PG_GETARG_OID(0));
  demand_family(opened.index, lsh_ctph_probes, "ctph digests");
  CtphExplanation pair;
  explain_ctph_pair(a, b, score, rate, &pair);
  const KeyedValue row = look_into(opened.index, PG_GETARG_DATUM(2));
  bool finds_score;
  bool finds_rate;
  const bool by_score = serves(opened.index, row, {a, Measure::ctph_score, score}, &finds_score);
  const bool by_rate = serves(opened.index, row, {a, Measure::ctph_edit_rate, rate}, &finds_rate);
  const char* added =
      row.verdict != nullptr
          ? row.verdict
          : psprintf("%s; %s", answer_text(psprintf("ctph_score >= %s", shown(score).text), by_score, finds_score),
                     answer_text(psprintf("ctph_edit_rate <= %s", shown(rate).text), by_rate, finds_rate));
  Datum values[7] = {
      BoolGetDatum(pair.comparable),
      Int64GetDatum(static_cast<int64>(pair.block_size)),
      Int32GetDatum(pair.score),
      Float8GetDatum(pair.edit_rate),
      CStringGetTextDatum(pair.comparable ? psprintf("%s; %s", pair.verdict, added) : pair.verdict),
      BoolGetDatum(by_score),
      BoolGetDatum(by_rate),
  };
  bool nulls[7] = {};
  nulls[1] = pair.block_size == 0;
  nulls[2] = nulls[3] = !pair.comparable;
  const Datum result = row_datum(fcinfo, values, nulls);
  close_inspected(opened);
  PG_RETURN_DATUM(result);
}

}  // extern "C"
