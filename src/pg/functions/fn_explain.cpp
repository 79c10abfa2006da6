// compare_texts() and explain_pair(): how alike two documents are, and why a pair is found or not.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/exact/edit_distance.h"
#include "core/signature/sign.h"
#include "core/signature/simhash.h"
#include "pg/values/explain.h"
#include "pg/values/lsh_query_value.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// Of edit_rate_within(), for compare_texts(): a few seconds (bench/results.md). Documented, and part of what an
// immutable function answers.
constexpr uint64_t kMaxCells = 50'000'000'000;

// For people; 100 of the whole only.
double percent(double share) { return share < 1 ? std::min(99.0, std::round(100 * share)) : 100; }

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_compare_texts);
Datum neardup_compare_texts(PG_FUNCTION_ARGS) {
  const Utf8 a = utf8_of(PG_GETARG_TEXT_PP(0));
  const Utf8 b = utf8_of(PG_GETARG_TEXT_PP(1));
  const int k = PG_GETARG_INT32(2);
  const Unit unit = unit_arg(fcinfo, 3);
  Overlap o;
  double estimate = 0;
  bool any_features = false;
  int hamming = 0;
  bool near_enough = false;
  double rate = 0;
  char note[256];
  call_core([&] {
    PgStop stop;
    const MinhashParams params = document_params(unit, k, 128, 32, 0);
    SimhashCounts counts_a;
    SimhashCounts counts_b;
    const auto sa = distinct_shingles(unit, k, a.data, a.size, &stop, &counts_a);
    const auto sb = distinct_shingles(unit, k, b.data, b.size, &stop, &counts_b);
    o = overlap(sa, sb);
    const std::optional<uint64_t> ha = counts_a.result();
    const std::optional<uint64_t> hb = counts_b.result();
    any_features = ha && hb;
    if (any_features) hamming = hamming_distance(*ha, *hb);
    std::vector<uint32_t> ca(params.num_perm);
    std::vector<uint32_t> cb(params.num_perm);
    const bool any_a = sign_set(params, sa.data(), sa.size(), &stop, ca.data());
    const bool any_b = sign_set(params, sb.data(), sb.size(), &stop, cb.data());
    if (any_a && any_b)
      estimate = estimate_jaccard(count_matches(ca.data(), cb.data(), params.num_perm, 32), params.num_perm, 32);
    EditOptions options;
    options.stop = &stop;
    const std::optional<double> r =
        edit_rate_within(Unit::character, a.data, a.size, b.data, b.size, kMaxCells, options);
    near_enough = r.has_value();
    rate = r.value_or(0);
    const double j = o.jaccard();
    const bool same = a.size == b.size && std::equal(a.data, a.data + a.size, b.data);
    const char* what = unit == Unit::word ? "words" : "characters";
    if (o.a == 0 || o.b == 0)
      snprintf(note, sizeof note, "%s has no %s, so nothing is similar to it",
               o.a == 0 && o.b == 0 ? "neither text" : o.a == 0 ? "the first text" : "the second text", what);
    else if (same)
      snprintf(note, sizeof note, "the texts are equal");
    else if (j == 1)
      snprintf(note, sizeof note, "the same shingles of %d %s: copies but for what shingling leaves out", k, what);
    else if (j >= 0.8)
      snprintf(note, sizeof note, "near copies: %.0f %% of their shingles are shared", percent(j));
    else if (std::max(o.shared / static_cast<double>(o.a), o.shared / static_cast<double>(o.b)) >= 0.8)
      snprintf(note, sizeof note, "one holds most of the other: %.0f %% of the shorter one's shingles",
               percent(std::max(o.shared / static_cast<double>(o.a), o.shared / static_cast<double>(o.b))));
    else if (o.shared > 0)
      snprintf(note, sizeof note, "some passages are shared; below the usual threshold of 0.8");
    else
      snprintf(note, sizeof note, "no shingle of %d %s is shared", k, what);
  });
  const auto share = [&](uint64_t n) { return n == 0 ? 0.0 : static_cast<double>(o.shared) / static_cast<double>(n); };
  const Datum values[10] = {
      Float8GetDatum(o.jaccard()),
      Float8GetDatum(estimate),
      Float8GetDatum(share(o.a)),
      Float8GetDatum(share(o.b)),
      Int64GetDatum(static_cast<int64>(o.shared)),
      Int64GetDatum(static_cast<int64>(o.a - o.shared)),
      Int64GetDatum(static_cast<int64>(o.b - o.shared)),
      Int32GetDatum(hamming),
      Float8GetDatum(rate),
      CStringGetTextDatum(note),
  };
  const bool nulls[10] = {false, false, false, false, false, false, false, !any_features, !near_enough, false};
  return row_datum(fcinfo, values, nulls);
}

PG_FUNCTION_INFO_V1(minhash_explain_pair);
Datum minhash_explain_pair(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  const double threshold = PG_GETARG_FLOAT8(2);
  check_threshold(threshold);
  PairExplanation pair;
  explain_minhash_pair(a, b, threshold, &pair);
  const Datum values[6] = {
      BoolGetDatum(pair.comparable),
      Int32GetDatum(static_cast<int32>(pair.matches)),
      Int32GetDatum(static_cast<int32>(pair.needed)),
      Float8GetDatum(pair.jaccard),
      Float8GetDatum(pair.standard_error),
      CStringGetTextDatum(pair.verdict),
  };
  const bool unknown = !pair.comparable;
  const bool nulls[6] = {false, unknown, unknown, unknown, unknown, false};
  return row_datum(fcinfo, values, nulls);
}

PG_FUNCTION_INFO_V1(simhash_explain_pair);
Datum simhash_explain_pair(PG_FUNCTION_ARGS) {
  const double distance = bound_arg(fcinfo, 2, LshMeasure::hamming);
  SimhashExplanation pair;
  explain_simhash_pair(simhash_arg(fcinfo, 0), simhash_arg(fcinfo, 1), distance, &pair);
  const Datum values[3] = {
      Int32GetDatum(pair.hamming),
      Float8GetDatum(pair.cosine),
      CStringGetTextDatum(pair.verdict),
  };
  const bool nulls[3] = {};
  return row_datum(fcinfo, values, nulls);
}

PG_FUNCTION_INFO_V1(ctph_explain_pair);
Datum ctph_explain_pair(PG_FUNCTION_ARGS) {
  const CtphView a = ctph_arg(fcinfo, 0);
  const CtphView b = ctph_arg(fcinfo, 1);
  const double score = bound_arg(fcinfo, 2, LshMeasure::ctph_score);
  const double rate = bound_arg(fcinfo, 3, LshMeasure::ctph_edit_rate);
  CtphExplanation pair;
  explain_ctph_pair(a, b, score, rate, &pair);
  const Datum values[5] = {
      BoolGetDatum(pair.comparable),
      Int64GetDatum(static_cast<int64>(pair.block_size)),
      Int32GetDatum(pair.score),
      Float8GetDatum(pair.edit_rate),
      CStringGetTextDatum(pair.verdict),
  };
  const bool unknown = !pair.comparable;
  const bool nulls[5] = {false, pair.block_size == 0, unknown, unknown, false};
  return row_datum(fcinfo, values, nulls);
}

}  // extern "C"
