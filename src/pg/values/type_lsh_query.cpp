// The type lsh_query, its makers and operators, and the predicates that an lsh index serves: what an index is asked.
#include <algorithm>
#include <limits>

#include "core/exact/int_set.h"
#include "core/signature/ctph_compare.h"
#include "core/base/message_text.h"
#include "pg/values/bit_value.h"
#include "pg/values/ctph_value.h"
#include "pg/values/lsh_query_value.h"
#include "pg/values/simhash_value.h"

namespace neardup {

LshQueryView lsh_query_view(struct varlena* value) {
  const char* data = VARDATA_ANY(value);
  const size_t size = VARSIZE_ANY_EXHDR(value);
  if (VARATT_IS_SHORT(value)) {
    // Short headers leave the fields unaligned.
    void* copy = palloc(size);
    memcpy(copy, data, size);
    data = static_cast<const char*>(copy);
  }
  LshQueryView v{};
  call_core([&] { v = view_lsh_query(data, size); });
  return v;
}

Datum lsh_query_datum(const LshQueryView& query) {
  const size_t size = VARHDRSZ + lsh_query_size(query);
  auto* value = static_cast<struct varlena*>(palloc(size));
  SET_VARSIZE(value, size);
  write_lsh_query(query, VARDATA(value));
  return PointerGetDatum(value);
}

namespace {

// What the bound of a named predicate may be.
struct BoundRange {
  const char* name;
  const char* range;
  double least;
  double most;
  bool above;  // the least is none
};
constexpr BoundRange kShare = {"threshold", "above 0 and at most 1", 0, 1, true};
constexpr BoundRange kRanges[] = {
    kShare,
    {"distance", "from 0 to 64", 0, 64, false},
    {"score", "from 0 to 100", 0, 100, false},
    {"rate", "from 0 to 1", 0, 1, false},
    kShare,
    kShare,
    kShare,
    {"overlap", "at least 1", 1, std::numeric_limits<double>::max(), false},
    {"distance", "from 0 to 4096", 0, kMostCodeBits, false},
};
const BoundRange& range_of(LshMeasure measure) { return kRanges[static_cast<int>(measure) - 1]; }

}  // namespace

// Only keep_lsh_query() leaves something in fn_extra.
LshQueryView kept_query(FunctionCallInfo fcinfo) {
  const auto* memo = fcinfo->flinfo != nullptr ? static_cast<const LshQueryMemo*>(fcinfo->flinfo->fn_extra) : nullptr;
  return memo != nullptr && memo->argument == PG_GETARG_DATUM(1) ? memo->view : lsh_query_view(PG_GETARG_VARLENA_P(1));
}

bool is_within(const IntSet& set, const LshQueryView& query) {
  const IntSet wanted = int_set_of(query.set);
  const double value = compare_sets(query.measure, set.elements, set.n, wanted.elements, wanted.n);
  pfree(wanted.elements);
  return within(query.measure, value, query.bound);
}

bool valid_bound(LshMeasure measure, double bound) {
  const BoundRange& range = range_of(measure);
  return (range.above ? bound > range.least : bound >= range.least) && bound <= range.most;
}

double bound_arg(FunctionCallInfo fcinfo, int n, LshMeasure measure) {
  const double bound = PG_GETARG_FLOAT8(n);
  if (valid_bound(measure, bound)) return bound;
  const bool own = get_fn_expr_arg_stable(fcinfo->flinfo, n);
  if (own && measure == LshMeasure::jaccard) check_threshold(bound);  // which has a hint
  const BoundRange& range = range_of(measure);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  own ? errmsg("%s must be %s: %s", range.name, range.range, shown(bound).text)
                      : errmsg("%s must be %s", range.name, range.range)));
}

namespace {

LshQueryView query_arg(FunctionCallInfo fcinfo, int n) { return lsh_query_view(PG_GETARG_VARLENA_P(n)); }

// As jaccard(a, b) in SQL, and so on.
double measured(const MinhashView& a, const MinhashView& b) {
  demand_comparable(a, b);
  return jaccard_of(a, b);
}
double measured(LshMeasure measure, const CtphView& a, const CtphView& b) {
  double value = 0;
  call_core([&] { value = measure == LshMeasure::ctph_score ? ctph_score(a, b) : ctph_edit_rate(a, b); });
  return value;
}

// Only a query of the operator's own type can be meant. `good`: the query is one.
void demand_query(bool good, const char* type) {
  if (!good) ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the lsh_query is not one of a %s", type)));
}

Datum ctph_predicate(FunctionCallInfo fcinfo, LshMeasure measure) {
  const CtphView a = ctph_arg(fcinfo, 0);
  const CtphView b = ctph_arg(fcinfo, 1);
  const double bound = bound_arg(fcinfo, 2, measure);
  PG_RETURN_BOOL(within(measure, measured(measure, a, b), bound));
}

}  // namespace
}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(lsh_query_in);
Datum lsh_query_in(PG_FUNCTION_ARGS) {
  const char* text = PG_GETARG_CSTRING(0);
  return datum_from([&] { return lsh_query_from_text(text); });
}

PG_FUNCTION_INFO_V1(lsh_query_out);
Datum lsh_query_out(PG_FUNCTION_ARGS) {
  const LshQueryView v = query_arg(fcinfo, 0);
  // An element of a set takes 8 bytes, and at most 21 as text; a bit of a code is a character.
  const size_t room = 192 + lsh_query_size(v) * (v.measure == LshMeasure::bit_hamming ? 8 : 3);
  PG_RETURN_CSTRING(cstring_from(room, "an lsh_query", [&] { return lsh_query_to_text(v); }));
}

PG_FUNCTION_INFO_V1(lsh_query_recv);
Datum lsh_query_recv(PG_FUNCTION_ARGS) {
  const Bytes message = message_arg(fcinfo);
  return datum_from([&] { return lsh_query_from_wire(message.data, message.size); });
}

PG_FUNCTION_INFO_V1(lsh_query_send);
Datum lsh_query_send(PG_FUNCTION_ARGS) {
  const LshQueryView v = query_arg(fcinfo, 0);
  return datum_from([&] { return lsh_query_to_wire(v); });
}

PG_FUNCTION_INFO_V1(lsh_with_threshold);
Datum lsh_with_threshold(PG_FUNCTION_ARGS) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  return lsh_query_datum(jaccard_query(signature, bound_arg(fcinfo, 1, LshMeasure::jaccard)));
}

// What the planner derives from `jaccard(a, b) >= bound` and the like: the comparisons take any bound, so these do. The
// strict ones stand for the named predicates, which do not.

PG_FUNCTION_INFO_V1(lsh_query_bound);
Datum lsh_query_bound(PG_FUNCTION_ARGS) {
  return lsh_query_datum(jaccard_query(minhash_arg(fcinfo, 0), PG_GETARG_FLOAT8(1)));
}

PG_FUNCTION_INFO_V1(lsh_hamming_query);
Datum lsh_hamming_query(PG_FUNCTION_ARGS) {
  return lsh_query_datum(hamming_query(simhash_arg(fcinfo, 0), PG_GETARG_FLOAT8(1)));
}

PG_FUNCTION_INFO_V1(lsh_hamming_query_strict);
Datum lsh_hamming_query_strict(PG_FUNCTION_ARGS) {
  return lsh_query_datum(hamming_query(simhash_arg(fcinfo, 0), bound_arg(fcinfo, 1, LshMeasure::hamming)));
}

PG_FUNCTION_INFO_V1(lsh_score_query);
Datum lsh_score_query(PG_FUNCTION_ARGS) {
  return lsh_query_datum(ctph_query(LshMeasure::ctph_score, ctph_arg(fcinfo, 0), PG_GETARG_FLOAT8(1)));
}

PG_FUNCTION_INFO_V1(lsh_score_query_strict);
Datum lsh_score_query_strict(PG_FUNCTION_ARGS) {
  const double bound = bound_arg(fcinfo, 1, LshMeasure::ctph_score);
  return lsh_query_datum(ctph_query(LshMeasure::ctph_score, ctph_arg(fcinfo, 0), bound));
}

PG_FUNCTION_INFO_V1(lsh_rate_query);
Datum lsh_rate_query(PG_FUNCTION_ARGS) {
  return lsh_query_datum(ctph_query(LshMeasure::ctph_edit_rate, ctph_arg(fcinfo, 0), PG_GETARG_FLOAT8(1)));
}

PG_FUNCTION_INFO_V1(lsh_rate_query_strict);
Datum lsh_rate_query_strict(PG_FUNCTION_ARGS) {
  const double bound = bound_arg(fcinfo, 1, LshMeasure::ctph_edit_rate);
  return lsh_query_datum(ctph_query(LshMeasure::ctph_edit_rate, ctph_arg(fcinfo, 0), bound));
}

// A set with a NULL has no form: the condition that stands for it keeps every row, so that the query's own raises its
// error.
static Datum bounded_set_query(FunctionCallInfo fcinfo, LshMeasure measure, double bound) {
  const IntSet set = int_set_arg(fcinfo, 0, false);
  return lsh_query_datum(set.null_at >= 0 ? set_query_of(measure, {}, -std::numeric_limits<double>::infinity())
                                          : set_query_of(measure, view_of(set), bound));
}
static Datum set_query(FunctionCallInfo fcinfo, LshMeasure measure) {
  return bounded_set_query(fcinfo, measure, PG_GETARG_FLOAT8(1));
}
static Datum set_query_strict(FunctionCallInfo fcinfo, LshMeasure measure) {
  return bounded_set_query(fcinfo, measure, bound_arg(fcinfo, 1, measure));
}

PG_FUNCTION_INFO_V1(lsh_set_query);
Datum lsh_set_query(PG_FUNCTION_ARGS) { return set_query(fcinfo, LshMeasure::set_jaccard); }

PG_FUNCTION_INFO_V1(lsh_set_query_strict);
Datum lsh_set_query_strict(PG_FUNCTION_ARGS) { return set_query_strict(fcinfo, LshMeasure::set_jaccard); }

PG_FUNCTION_INFO_V1(lsh_set_in_query);
Datum lsh_set_in_query(PG_FUNCTION_ARGS) { return set_query(fcinfo, LshMeasure::set_in_query); }

PG_FUNCTION_INFO_V1(lsh_set_in_query_strict);
Datum lsh_set_in_query_strict(PG_FUNCTION_ARGS) { return set_query_strict(fcinfo, LshMeasure::set_in_query); }

PG_FUNCTION_INFO_V1(lsh_query_in_set);
Datum lsh_query_in_set(PG_FUNCTION_ARGS) { return set_query(fcinfo, LshMeasure::query_in_set); }

PG_FUNCTION_INFO_V1(lsh_query_in_set_strict);
Datum lsh_query_in_set_strict(PG_FUNCTION_ARGS) { return set_query_strict(fcinfo, LshMeasure::query_in_set); }

PG_FUNCTION_INFO_V1(lsh_overlap_query);
Datum lsh_overlap_query(PG_FUNCTION_ARGS) { return set_query(fcinfo, LshMeasure::set_overlap); }

PG_FUNCTION_INFO_V1(lsh_overlap_query_strict);
Datum lsh_overlap_query_strict(PG_FUNCTION_ARGS) { return set_query_strict(fcinfo, LshMeasure::set_overlap); }

// The operator %> of each type, for any bound.

PG_FUNCTION_INFO_V1(minhash_at_least);
Datum minhash_at_least(PG_FUNCTION_ARGS) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  const LshQueryView query = kept_query(fcinfo);
  demand_query(query.measure == LshMeasure::jaccard, "minhash");
  PG_RETURN_BOOL(within(query.measure, measured(signature, query.signature), query.bound));
}

PG_FUNCTION_INFO_V1(simhash_within);
Datum simhash_within(PG_FUNCTION_ARGS) {
  const LshQueryView query = kept_query(fcinfo);
  demand_query(query.measure == LshMeasure::hamming, "simhash");
  PG_RETURN_BOOL(within(query.measure, hamming_distance(simhash_arg(fcinfo, 0), query.simhash), query.bound));
}

PG_FUNCTION_INFO_V1(ctph_within);
Datum ctph_within(PG_FUNCTION_ARGS) {
  const CtphView digest = ctph_arg(fcinfo, 0);
  const LshQueryView query = kept_query(fcinfo);
  demand_query(query.measure == LshMeasure::ctph_score || query.measure == LshMeasure::ctph_edit_rate, "ctph");
  PG_RETURN_BOOL(within(query.measure, measured(query.measure, digest, query.digest), query.bound));
}

PG_FUNCTION_INFO_V1(int_set_within);
Datum int_set_within(PG_FUNCTION_ARGS) {
  const LshQueryView query = kept_query(fcinfo);
  demand_query(is_of_sets(query.measure), "set");
  const IntSet set = int_set_arg(fcinfo, 0, demands_whole_set(query));
  PG_RETURN_BOOL(is_within(set, query));
}

PG_FUNCTION_INFO_V1(lsh_query_conflicts);
Datum lsh_query_conflicts(PG_FUNCTION_ARGS) {
  const LshQueryView a = query_arg(fcinfo, 0);
  const LshQueryView b = query_arg(fcinfo, 1);
  demand_query(a.measure == LshMeasure::jaccard && b.measure == LshMeasure::jaccard, "minhash");
  const double j = measured(a.signature, b.signature);
  PG_RETURN_BOOL(j >= a.bound && j >= b.bound);
}

// The named predicates.

PG_FUNCTION_INFO_V1(jaccard_at_least);
Datum jaccard_at_least(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  const double threshold = bound_arg(fcinfo, 2, LshMeasure::jaccard);
  PG_RETURN_BOOL(measured(a, b) >= threshold);
}

static Datum sets_at_least(FunctionCallInfo fcinfo, LshMeasure measure) {
  const IntSet a = int_set_arg(fcinfo, 0, true);
  const IntSet b = int_set_arg(fcinfo, 1, true);
  const double bound = bound_arg(fcinfo, 2, measure);
  PG_RETURN_BOOL(compare_sets(measure, a.elements, a.n, b.elements, b.n) >= bound);
}

PG_FUNCTION_INFO_V1(int_set_at_least);
Datum int_set_at_least(PG_FUNCTION_ARGS) { return sets_at_least(fcinfo, LshMeasure::set_jaccard); }

// The first set in the second one.
PG_FUNCTION_INFO_V1(containment_at_least);
Datum containment_at_least(PG_FUNCTION_ARGS) { return sets_at_least(fcinfo, LshMeasure::set_in_query); }

PG_FUNCTION_INFO_V1(overlap_at_least);
Datum overlap_at_least(PG_FUNCTION_ARGS) { return sets_at_least(fcinfo, LshMeasure::set_overlap); }

PG_FUNCTION_INFO_V1(hamming_at_most);
Datum hamming_at_most(PG_FUNCTION_ARGS) {
  const double distance = bound_arg(fcinfo, 2, LshMeasure::hamming);
  PG_RETURN_BOOL(hamming_distance(simhash_arg(fcinfo, 0), simhash_arg(fcinfo, 1)) <= distance);
}

PG_FUNCTION_INFO_V1(ctph_score_at_least);
Datum ctph_score_at_least(PG_FUNCTION_ARGS) { return ctph_predicate(fcinfo, LshMeasure::ctph_score); }

PG_FUNCTION_INFO_V1(ctph_edit_rate_at_most);
Datum ctph_edit_rate_at_most(PG_FUNCTION_ARGS) { return ctph_predicate(fcinfo, LshMeasure::ctph_edit_rate); }

// fn_quiet_conditions.cpp
Datum minhash_quiet_within(PG_FUNCTION_ARGS);
Datum simhash_quiet_within(PG_FUNCTION_ARGS);
Datum ctph_quiet_within(PG_FUNCTION_ARGS);
Datum int_set_quiet_within(PG_FUNCTION_ARGS);
Datum bit_quiet_within(PG_FUNCTION_ARGS);

// fn_bit_codes.cpp
Datum bit_within(PG_FUNCTION_ARGS);
Datum lsh_bit_query(PG_FUNCTION_ARGS);
Datum lsh_bit_query_strict(PG_FUNCTION_ARGS);

}  // extern "C"

namespace neardup {

void keep_lsh_query(FmgrInfo* function, Datum argument, LshQueryMemo* memo) {
  static constexpr PGFunction kUsers[] = {
      minhash_at_least,     simhash_within,    ctph_within,          int_set_within, minhash_quiet_within,
      simhash_quiet_within, ctph_quiet_within, int_set_quiet_within, bit_within,     bit_quiet_within};
  if (std::find(std::begin(kUsers), std::end(kUsers), function->fn_addr) == std::end(kUsers)) return;
  function->fn_extra = nullptr;
  // The view of one that has to be copied would be one of the copy.
  if (VARATT_IS_EXTENDED(reinterpret_cast<struct varlena*>(DatumGetPointer(argument)))) return;
  memo->argument = argument;
  memo->view = lsh_query_view(argument);
  memo->needed = LshQueryMemo::kAskOperator;
  function->fn_extra = memo;
  const MinhashView& wanted = memo->view.signature;
  if ((function->fn_addr == minhash_at_least || function->fn_addr == minhash_quiet_within) &&
      memo->view.measure == LshMeasure::jaccard && !wanted.empty())
    memo->needed = min_matches(memo->view.bound, false, wanted.num_perm(), wanted.bits());
  if ((function->fn_addr == bit_within || function->fn_addr == bit_quiet_within) &&
      memo->view.measure == LshMeasure::bit_hamming && memo->view.code.bytes != nullptr && memo->view.bound >= 0)
    memo->needed = static_cast<uint32_t>(std::min<double>(memo->view.bound, kMostCodeBits));
}

namespace {

QuickAnswer quick_bit_answer(const LshQueryMemo& memo, Datum value) noexcept {
  const BitCode code = plain_bit_string_of(value);
  if (code.bytes == nullptr || code.bits != memo.view.code.bits) return QuickAnswer::unknown;
  return bit_distance(code, memo.view.code) <= memo.needed ? QuickAnswer::yes : QuickAnswer::no;
}

}  // namespace

QuickAnswer quick_answer(const LshQueryMemo& memo, Datum value) noexcept {
  if (memo.needed == LshQueryMemo::kAskOperator) return QuickAnswer::unknown;
  if (memo.view.measure == LshMeasure::bit_hamming) return quick_bit_answer(memo, value);
  const auto* signature = reinterpret_cast<const struct varlena*>(DatumGetPointer(value));
  const MinhashView& wanted = memo.view.signature;
  // With the header of the query's signature, which is valid, it is one, made as that one was and as long.
  if (VARATT_IS_EXTENDED(signature) || VARSIZE(signature) != VARHDRSZ + wanted.size ||
      memcmp(VARDATA(signature), wanted.header, sizeof *wanted.header) != 0)
    return QuickAnswer::unknown;
  const void* components = VARDATA(signature) + sizeof *wanted.header;
  return count_matches(components, wanted.components, wanted.num_perm(), wanted.bits()) >= memo.needed
             ? QuickAnswer::yes
             : QuickAnswer::no;
}

bool makes_lsh_query(Oid function, LshMeasure* measure) {
  static constexpr struct {
    PGFunction function;
    LshMeasure measure;
  } kMakers[] = {
      {lsh_query_bound, LshMeasure::jaccard},       {lsh_with_threshold, LshMeasure::jaccard},
      {lsh_hamming_query, LshMeasure::hamming},     {lsh_hamming_query_strict, LshMeasure::hamming},
      {lsh_score_query, LshMeasure::ctph_score},    {lsh_score_query_strict, LshMeasure::ctph_score},
      {lsh_rate_query, LshMeasure::ctph_edit_rate}, {lsh_rate_query_strict, LshMeasure::ctph_edit_rate},
      {lsh_set_query, LshMeasure::set_jaccard},     {lsh_set_query_strict, LshMeasure::set_jaccard},
      {lsh_set_in_query, LshMeasure::set_in_query}, {lsh_set_in_query_strict, LshMeasure::set_in_query},
      {lsh_query_in_set, LshMeasure::query_in_set}, {lsh_query_in_set_strict, LshMeasure::query_in_set},
      {lsh_overlap_query, LshMeasure::set_overlap}, {lsh_overlap_query_strict, LshMeasure::set_overlap},
      {lsh_bit_query, LshMeasure::bit_hamming},     {lsh_bit_query_strict, LshMeasure::bit_hamming},
  };
  FmgrInfo info;
  fmgr_info(function, &info);
  for (const auto& maker : kMakers) {
    if (info.fn_addr != maker.function) continue;
    *measure = maker.measure;
    return true;
  }
  return false;
}

}  // namespace neardup
