// Conditions that never raise an error, whatever valid values they are given: what an index under row security is asked
// (sql/install/64_lsh_quiet.sql). LEAKPROOF, and to stay so: no check that raises, no message, no argument in a log
// line. True where the public condition raises an error: that one is evaluated afterwards, on rows that may be seen.
#include "core/signature/ctph_compare.h"
#include "pg/values/bit_value.h"
#include "pg/values/ctph_value.h"
#include "pg/values/lsh_query_value.h"
#include "pg/values/simhash_value.h"

extern "C" {
#include "access/detoast.h"
}

namespace {

using namespace neardup;

bool alike(const MinhashView& a, const MinhashView& b) { return comparable(*a.header, *b.header); }

double edit_rate(const CtphView& a, const CtphView& b) {
  double rate = 1;
  call_core([&] { rate = ctph_edit_rate(a, b); });
  return rate;
}

double score(const CtphView& a, const CtphView& b) {
  double value = 0;
  call_core([&] { value = ctph_score(a, b); });
  return value;
}

// Of an array that is looked at; a larger one is kept unseen, since memory that runs out is an error, too.
constexpr Size kMaxSetBytes = 16 * 1024 * 1024;

// Of a value that is compared with no other one like it.
constexpr double kFarthest = 1;

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(minhash_quiet_within);
Datum minhash_quiet_within(PG_FUNCTION_ARGS) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  const LshQueryView query = kept_query(fcinfo);
  if (query.measure != LshMeasure::jaccard || !alike(signature, query.signature)) PG_RETURN_BOOL(true);
  PG_RETURN_BOOL(within(query.measure, jaccard_of(signature, query.signature), query.bound));
}

PG_FUNCTION_INFO_V1(minhash_quiet_similar);
Datum minhash_quiet_similar(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  PG_RETURN_BOOL(!alike(a, b) || is_similar(a, b));
}

PG_FUNCTION_INFO_V1(minhash_quiet_distance);
Datum minhash_quiet_distance(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  PG_RETURN_FLOAT8(alike(a, b) ? 1.0 - jaccard_of(a, b) : kFarthest);
}

PG_FUNCTION_INFO_V1(lsh_quiet_conflicts);
Datum lsh_quiet_conflicts(PG_FUNCTION_ARGS) {
  const LshQueryView a = lsh_query_view(PG_GETARG_VARLENA_P(0));
  const LshQueryView b = lsh_query_view(PG_GETARG_VARLENA_P(1));
  if (a.measure != LshMeasure::jaccard || b.measure != LshMeasure::jaccard || !alike(a.signature, b.signature))
    PG_RETURN_BOOL(true);
  const double j = jaccard_of(a.signature, b.signature);
  PG_RETURN_BOOL(j >= a.bound && j >= b.bound);
}

PG_FUNCTION_INFO_V1(simhash_quiet_within);
Datum simhash_quiet_within(PG_FUNCTION_ARGS) {
  const LshQueryView query = kept_query(fcinfo);
  if (query.measure != LshMeasure::hamming) PG_RETURN_BOOL(true);
  PG_RETURN_BOOL(within(query.measure, hamming_distance(simhash_arg(fcinfo, 0), query.simhash), query.bound));
}

PG_FUNCTION_INFO_V1(ctph_quiet_within);
Datum ctph_quiet_within(PG_FUNCTION_ARGS) {
  const CtphView digest = ctph_arg(fcinfo, 0);
  const LshQueryView query = kept_query(fcinfo);
  const bool by_score = query.measure == LshMeasure::ctph_score;
  if ((!by_score && query.measure != LshMeasure::ctph_edit_rate) || !comparable(digest, query.digest))
    PG_RETURN_BOOL(true);
  const double value = by_score ? score(digest, query.digest) : edit_rate(digest, query.digest);
  PG_RETURN_BOOL(within(query.measure, value, query.bound));
}

PG_FUNCTION_INFO_V1(ctph_quiet_distance);
Datum ctph_quiet_distance(PG_FUNCTION_ARGS) {
  const CtphView a = ctph_arg(fcinfo, 0);
  const CtphView b = ctph_arg(fcinfo, 1);
  PG_RETURN_FLOAT8(comparable(a, b) ? edit_rate(a, b) : kFarthest);
}

PG_FUNCTION_INFO_V1(int_set_quiet_within);
Datum int_set_quiet_within(PG_FUNCTION_ARGS) {
  const LshQueryView query = kept_query(fcinfo);
  if (!is_of_sets(query.measure)) PG_RETURN_BOOL(true);
  if (toast_raw_datum_size(PG_GETARG_DATUM(0)) > kMaxSetBytes) PG_RETURN_BOOL(true);
  const IntSet set = int_set_arg(fcinfo, 0, false);
  if (set.null_at >= 0 && demands_whole_set(query)) PG_RETURN_BOOL(true);
  PG_RETURN_BOOL(is_within(set, query));
}

PG_FUNCTION_INFO_V1(bit_quiet_within);
Datum bit_quiet_within(PG_FUNCTION_ARGS) {
  const LshQueryView query = kept_query(fcinfo);
  const BitCode code = bit_string_arg(fcinfo, 0);
  if (query.measure != LshMeasure::bit_hamming || !are_comparable(code, query.code)) PG_RETURN_BOOL(true);
  PG_RETURN_BOOL(within(query.measure, bit_distance(code, query.code), query.bound));
}

PG_FUNCTION_INFO_V1(bit_quiet_distance);
Datum bit_quiet_distance(PG_FUNCTION_ARGS) {
  const BitCode a = bit_string_arg(fcinfo, 0);
  const BitCode b = bit_string_arg(fcinfo, 1);
  PG_RETURN_FLOAT8(are_comparable(a, b) ? bit_distance(a, b) : kMostCodeBits);
}

}  // extern "C"
