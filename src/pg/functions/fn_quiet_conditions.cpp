// Conditions that never raise an error, whatever valid values they are given: what an index under row security is asked
// (sql/install/64_lsh_quiet.sql). LEAKPROOF, and to stay so: no check that raises, no message, no argument in a log
// line. True where the public condition raises an error: that one is evaluated afterwards, on rows that may be seen.
#include "pg/values/any_value.h"
#include "pg/values/lsh_query_value.h"

extern "C" {
#include "access/detoast.h"
}

namespace {

using namespace neardup;

bool alike(const MinhashView& a, const MinhashView& b) { return comparable(*a.header, *b.header); }

// A larger array is kept unseen, since running out of memory raises an error, too.
constexpr Size kMaxQuietSetBytes = 16 * 1024 * 1024;

// The operator %> of the kind.
bool is_quietly_within(FunctionCallInfo fcinfo, Kind kind) {
  const LshQueryView query = kept_query(fcinfo);
  if (measure_kind(query.measure) != kind) return true;
  if (kind == Kind::set && toast_raw_datum_size(PG_GETARG_DATUM(0)) > kMaxQuietSetBytes) return true;
  AnyValue value;
  if (!read_value(kind, PG_GETARG_DATUM(0), &value) && demands_fit_value(query)) return true;
  return !info(kind).comparable(value, query) || is_within(value, query);
}

// The operator <%> or <->: the farthest where the two are not comparable.
double quiet_distance(FunctionCallInfo fcinfo, Measure measure) {
  const MeasureInfo& of = info(measure);
  AnyValue a;
  AnyValue b;
  read_value(of.kind, PG_GETARG_DATUM(0), &a);
  read_value(of.kind, PG_GETARG_DATUM(1), &b);
  if (!info(of.kind).comparable(a, b)) return of.range.most;
  return of.is_similarity ? 1 - measured(measure, a, b) : measured(measure, a, b);
}

}  // namespace

extern "C" {

#define NEARDUP_QUIET_OPERATOR(kind, name, quiet) \
  PG_FUNCTION_INFO_V1(quiet);                     \
  Datum quiet(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(is_quietly_within(fcinfo, Kind::kind)); }
NEARDUP_OPERATORS(NEARDUP_QUIET_OPERATOR)

#define NEARDUP_QUIET_DISTANCE(measure, name) \
  PG_FUNCTION_INFO_V1(name);                  \
  Datum name(PG_FUNCTION_ARGS) { PG_RETURN_FLOAT8(quiet_distance(fcinfo, Measure::measure)); }
NEARDUP_QUIET_DISTANCE(jaccard, minhash_quiet_distance)
NEARDUP_QUIET_DISTANCE(ctph_edit_rate, ctph_quiet_distance)
NEARDUP_QUIET_DISTANCE(bit_hamming, bit_quiet_distance)

SQL_FUNCTION(minhash_quiet_similar) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  PG_RETURN_BOOL(!alike(a, b) || is_similar(a, b));
}

SQL_FUNCTION(lsh_quiet_conflicts) {
  const LshQueryView a = lsh_query_view(PG_GETARG_VARLENA_P(0));
  const LshQueryView b = lsh_query_view(PG_GETARG_VARLENA_P(1));
  if (measure_kind(a.measure) != Kind::minhash || measure_kind(b.measure) != Kind::minhash ||
      !alike(a.signature, b.signature))
    PG_RETURN_BOOL(true);
  const double j = estimate_jaccard(a.signature, b.signature);
  PG_RETURN_BOOL(j >= a.bound && j >= b.bound);
}

}  // extern "C"
