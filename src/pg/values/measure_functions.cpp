// The SQL functions of a measure: its value, lsh_querys and how they are made, the named predicates and the operators
// %>. Each is one line of a list; its work is in the tables of core/kinds.
#include <algorithm>
#include <limits>

#include "core/base/message_text.h"
#include "core/signature/minhash.h"
#include "pg/values/any_value.h"
#include "pg/values/bit_value.h"
#include "pg/values/lsh_query_value.h"
#include "pg/values/values.h"

// The functions of measures, and what they return. Those of minhashes and simhashes are in pg/functions.
#define NEARDUP_VALUES(X)                      \
  X(ctph_score, ctph_score_of, INT32)          \
  X(ctph_edit_rate, ctph_edit_rate_of, FLOAT8) \
  X(set_jaccard, jaccard_exact_bigint, FLOAT8) \
  X(set_in_query, containment_exact, FLOAT8)   \
  X(set_overlap, overlap_exact, INT32)         \
  X(set_dice, dice_exact, FLOAT8)              \
  X(set_cosine, set_cosine_exact, FLOAT8)      \
  X(bit_hamming, neardup_bit_hamming, INT32)   \
  X(bit_hamming, neardup_bit_distance, FLOAT8)

// The makers of lsh_querys. Comparisons take any bound, so the first one does, which the planner derives from a
// comparison. The second one stands for the named predicate, which does not.
#define NEARDUP_MAKERS(X)                                     \
  X(jaccard, lsh_query_bound, lsh_with_threshold)             \
  X(hamming, lsh_hamming_query, lsh_hamming_query_strict)     \
  X(ctph_score, lsh_score_query, lsh_score_query_strict)      \
  X(ctph_edit_rate, lsh_rate_query, lsh_rate_query_strict)    \
  X(set_jaccard, lsh_set_query, lsh_set_query_strict)         \
  X(set_in_query, lsh_set_in_query, lsh_set_in_query_strict)  \
  X(query_in_set, lsh_query_in_set, lsh_query_in_set_strict)  \
  X(set_overlap, lsh_overlap_query, lsh_overlap_query_strict) \
  X(set_dice, lsh_dice_query, lsh_dice_query_strict)          \
  X(set_cosine, lsh_cosine_query, lsh_cosine_query_strict)    \
  X(bit_hamming, lsh_bit_query, lsh_bit_query_strict)

// The named predicates.
#define NEARDUP_PREDICATES(X)               \
  X(jaccard, jaccard_at_least)              \
  X(hamming, hamming_at_most)               \
  X(ctph_score, ctph_score_at_least)        \
  X(ctph_edit_rate, ctph_edit_rate_at_most) \
  X(set_jaccard, int_set_at_least)          \
  X(set_in_query, containment_at_least)     \
  X(set_overlap, overlap_at_least)          \
  X(set_dice, dice_exact_at_least)          \
  X(set_cosine, set_cosine_exact_at_least)  \
  X(bit_hamming, bit_hamming_at_most)

namespace neardup {

double measured(Measure measure, const AnyValue& a, const AnyValue& b) {
  double value = 0;
  call_core([&] { value = info(measure).value(a, b); });
  return value;
}

bool is_within(const AnyValue& value, const LshQueryView& query) {
  return within(query.measure, measured(query.measure, value, query), query.bound);
}

double bound_arg(FunctionCallInfo fcinfo, int n, Measure measure) {
  const double bound = PG_GETARG_FLOAT8(n);
  if (is_valid_bound(measure, bound)) return bound;
  const bool own = get_fn_expr_arg_stable(fcinfo->flinfo, n);
  if (own && measure == Measure::jaccard) check_threshold(bound);  // which has a hint
  const BoundRange& range = info(measure).range;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  own ? errmsg("%s must be %s: %s", range.name, range.text, shown(bound).text)
                      : errmsg("%s must be %s", range.name, range.text)));
}

// keep_lsh_query() alone leaves something in fn_extra.
LshQueryView kept_query(FunctionCallInfo fcinfo) {
  const auto* memo = fcinfo->flinfo != nullptr ? static_cast<const LshQueryMemo*>(fcinfo->flinfo->fn_extra) : nullptr;
  return memo != nullptr && memo->argument == PG_GETARG_DATUM(1) ? memo->view : lsh_query_view(PG_GETARG_VARLENA_P(1));
}

namespace {

double measure_arguments(FunctionCallInfo fcinfo, Measure measure) {
  const Kind kind = measure_kind(measure);
  const AnyValue a = value_arg(fcinfo, 0, kind);
  const AnyValue b = value_arg(fcinfo, 1, kind);
  demand_comparable(kind, a, b);
  return measured(measure, a, b);
}

// A set with a NULL has no form: the condition that stands for it keeps every row, so that the query's own raises its
// error. A bit string that is no code has one, for the same error.
Datum make_query(FunctionCallInfo fcinfo, Measure measure, double bound) {
  const Kind kind = measure_kind(measure);
  LshQueryView query{{}, measure, bound};
  if (!read_value(kind, PG_GETARG_DATUM(0), &query) && kind == Kind::set)
    query = {SetView{}, measure, -std::numeric_limits<double>::infinity()};
  return lsh_query_datum(query);
}

Datum predicate(FunctionCallInfo fcinfo, Measure measure) {
  const Kind kind = measure_kind(measure);
  const AnyValue a = value_arg(fcinfo, 0, kind);
  const LshQueryView query{value_arg(fcinfo, 1, kind), measure, bound_arg(fcinfo, 2, measure)};
  demand_comparable(kind, a, query);
  PG_RETURN_BOOL(is_within(a, query));
}

// Only a query of the operator's own kind can be meant.
void demand_query(const LshQueryView& query, Kind kind) {
  if (measure_kind(query.measure) == kind) return;
  const char* name = kind == Kind::bits ? "bit string" : info(kind).name;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the lsh_query is not one of a %s", name)));
}

Datum is_value_within(FunctionCallInfo fcinfo, Kind kind) {
  const LshQueryView query = kept_query(fcinfo);
  demand_query(query, kind);
  AnyValue value;
  if (!read_value(kind, PG_GETARG_DATUM(0), &value) && kind == Kind::set && demands_fit_value(query))
    refuse_unfit(kind, PG_GETARG_DATUM(0), value);
  demand_comparable(kind, value, query);
  PG_RETURN_BOOL(is_within(value, query));
}

}  // namespace
}  // namespace neardup

using namespace neardup;

extern "C" {

#define NEARDUP_FUNCTION(name, result) \
  SQL_FUNCTION(name) { return result; }

#define INT32_RESULT(value) Int32GetDatum(static_cast<int32>(value))
#define FLOAT8_RESULT(value) Float8GetDatum(value)
#define NEARDUP_VALUE(measure, name, type) \
  NEARDUP_FUNCTION(name, type##_RESULT(measure_arguments(fcinfo, Measure::measure)))
NEARDUP_VALUES(NEARDUP_VALUE)

#define NEARDUP_MAKER(measure, any, strict)                                        \
  NEARDUP_FUNCTION(any, make_query(fcinfo, Measure::measure, PG_GETARG_FLOAT8(1))) \
  NEARDUP_FUNCTION(strict, make_query(fcinfo, Measure::measure, bound_arg(fcinfo, 1, Measure::measure)))
NEARDUP_MAKERS(NEARDUP_MAKER)

#define NEARDUP_PREDICATE(measure, name) NEARDUP_FUNCTION(name, predicate(fcinfo, Measure::measure))
NEARDUP_PREDICATES(NEARDUP_PREDICATE)

#define NEARDUP_OPERATOR(kind, name, quiet)                   \
  NEARDUP_FUNCTION(name, is_value_within(fcinfo, Kind::kind)) \
  Datum quiet(PG_FUNCTION_ARGS);
NEARDUP_OPERATORS(NEARDUP_OPERATOR)

SQL_FUNCTION(lsh_query_conflicts) {
  const LshQueryView a = lsh_query_view(PG_GETARG_VARLENA_P(0));
  const LshQueryView b = lsh_query_view(PG_GETARG_VARLENA_P(1));
  demand_query(a, Kind::minhash);
  demand_query(b, Kind::minhash);
  demand_comparable(a.signature, b.signature);
  const double j = estimate_jaccard(a.signature, b.signature);
  PG_RETURN_BOOL(j >= a.bound && j >= b.bound);
}

}  // extern "C"

namespace neardup {
namespace {

// Answers of an operator %> by what its query asks for: equal components, or bits that may differ.
struct QuickAnswers {
  uint32_t (*needed)(const LshQueryView& query);
  QuickAnswer (*answer)(const LshQueryMemo& memo, Datum value) noexcept;
};

uint32_t needed_components(const LshQueryView& query) {
  const MinhashView& wanted = query.signature;
  return wanted.empty() ? LshQueryMemo::kAskOperator
                        : min_matches(query.bound, false, wanted.num_perm(), wanted.bits());
}

QuickAnswer answer_minhash(const LshQueryMemo& memo, Datum value) noexcept {
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

uint32_t allowed_bits(const LshQueryView& query) {
  return query.code.bytes != nullptr && query.bound >= 0
             ? static_cast<uint32_t>(std::min<double>(query.bound, kMostCodeBits))
             : LshQueryMemo::kAskOperator;
}

QuickAnswer answer_bits(const LshQueryMemo& memo, Datum value) noexcept {
  const BitCode code = read_plain_bit_string(value);
  if (code.bytes == nullptr || code.bits != memo.view.code.bits) return QuickAnswer::unknown;
  return bit_distance(code, memo.view.code) <= memo.needed ? QuickAnswer::yes : QuickAnswer::no;
}

// One entry for each Kind; those without ask their operator.
constexpr QuickAnswers kQuickAnswers[] = {{needed_components, answer_minhash}, {}, {}, {allowed_bits, answer_bits}, {}};
static_assert(lengthof(kQuickAnswers) == kKinds);

const QuickAnswers& quick_answers(Measure measure) { return kQuickAnswers[static_cast<size_t>(measure_kind(measure))]; }

// True if the function is an operator %> or its quiet twin; *kind: of which kind.
bool find_operator(PGFunction function, Kind* kind) {
  static constexpr struct {
    PGFunction function;
    Kind kind;
  } kOperators[] = {
#define NEARDUP_OPERATOR_ROWS(kind, name, quiet) {name, Kind::kind}, {quiet, Kind::kind},
      NEARDUP_OPERATORS(NEARDUP_OPERATOR_ROWS)};
  for (const auto& op : kOperators) {
    if (op.function != function) continue;
    *kind = op.kind;
    return true;
  }
  return false;
}

}  // namespace

void keep_lsh_query(FmgrInfo* function, Datum argument, LshQueryMemo* memo) {
  Kind kind;
  if (!find_operator(function->fn_addr, &kind)) return;
  function->fn_extra = nullptr;
  // The view of one that has to be copied would be one of the copy.
  if (VARATT_IS_EXTENDED(reinterpret_cast<struct varlena*>(DatumGetPointer(argument)))) return;
  memo->argument = argument;
  memo->view = lsh_query_view(argument);
  const QuickAnswers& quick = quick_answers(memo->view.measure);
  const bool has_answers = kind == measure_kind(memo->view.measure) && quick.needed != nullptr;
  memo->needed = has_answers ? quick.needed(memo->view) : LshQueryMemo::kAskOperator;
  function->fn_extra = memo;
}

QuickAnswer quick_answer(const LshQueryMemo& memo, Datum value) noexcept {
  if (memo.needed == LshQueryMemo::kAskOperator) return QuickAnswer::unknown;
  return quick_answers(memo.view.measure).answer(memo, value);
}

bool makes_lsh_query(Oid function, Measure* measure) {
  static constexpr struct {
    PGFunction function;
    Measure measure;
  } kMakers[] = {
#define NEARDUP_MAKER_ROWS(measure, any, strict) {any, Measure::measure}, {strict, Measure::measure},
      NEARDUP_MAKERS(NEARDUP_MAKER_ROWS)};
  FmgrInfo found;
  fmgr_info(function, &found);
  for (const auto& maker : kMakers) {
    if (found.fn_addr != maker.function) continue;
    *measure = maker.measure;
    return true;
  }
  return false;
}

}  // namespace neardup
