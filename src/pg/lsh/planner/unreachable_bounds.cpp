// Warns of a comparison that is never true because the measure has no such value: jaccard(a, b) >= 80. The planner asks
// the support function of a measure about each of its calls, and does not say where that is: all comparisons of the
// measure in the query's conditions are looked at.
#include "core/lsh/bit_keys.h"
#include "pg/lsh/planner/number_comparison.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "utils/float.h"
}

namespace neardup {
namespace {

struct MeasureRange {
  double least;
  double greatest;
};

struct Search {
  PlannerInfo* root;
  Oid measure;
  MeasureRange range;
};

bool is_call(const Node* node, Oid function) {
  return IsA(node, FuncExpr) && reinterpret_cast<const FuncExpr*>(node)->funcid == function;
}

// The measure's own cast to another type of number, as of hamming() that is compared with 2.5, is passed over.
const Node* without_cast(const Node* node) {
  if (!IsA(node, FuncExpr)) return node;
  const auto* cast = reinterpret_cast<const FuncExpr*>(node);
  const bool is_cast = cast->funcformat == COERCE_IMPLICIT_CAST || cast->funcformat == COERCE_EXPLICIT_CAST;
  return is_cast && list_length(cast->args) == 1 ? static_cast<const Node*>(linitial(cast->args)) : node;
}

bool read_literal(PlannerInfo* root, Node* side, double* number) {
  if (!IsA(without_cast(side), Const)) return false;
  Node* value = as_float8(side, Whole::as_it_is);
  if (value == nullptr) return false;
  value = eval_const_expressions(root, static_cast<Node*>(copyObjectImpl(value)));
  if (!IsA(value, Const) || reinterpret_cast<Const*>(value)->constisnull) return false;
  *number = DatumGetFloat8(reinterpret_cast<Const*>(value)->constvalue);
  return true;
}

// NaN is above all numbers.
bool is_never_true(Comparison comparison, double bound, const MeasureRange& range) {
  switch (comparison) {
    case Comparison::greater:
      return !(bound < range.greatest);
    case Comparison::greater_or_equal:
      return !(bound <= range.greatest);
    case Comparison::less:
      return bound <= range.least;
    case Comparison::less_or_equal:
      return bound < range.least;
    case Comparison::equal:
      return !(bound >= range.least && bound <= range.greatest);
    default:
      return false;
  }
}

// A statement is warned once of a measure.
bool has_warned(Oid measure) {
  constexpr int kMaxMeasuresWarnedOf = 16;
  static TimestampTz statement;
  static Oid warned_of[kMaxMeasuresWarnedOf];
  static int n;
  const TimestampTz now = GetCurrentStatementStartTimestamp();
  if (now != statement) n = 0;
  statement = now;
  for (int i = 0; i < n; ++i)
    if (warned_of[i] == measure) return true;
  if (n < kMaxMeasuresWarnedOf) warned_of[n++] = measure;
  return false;
}

void warn(const Search& search, Oid comparison, double bound) {
  if (has_warned(search.measure)) return;
  const char* measure = get_func_name(search.measure);
  const bool is_percentage = search.range.greatest == 1 && bound > 1 && bound <= 100;
  ereport(WARNING,
          (errmsg("%s(..) %s %s is true for no row", measure, get_opname(comparison), float8out_internal(bound)),
           is_percentage ? errhint("%s() is from %g to %g. For %s %%, write %s.", measure, search.range.least,
                                   search.range.greatest, float8out_internal(bound), float8out_internal(bound / 100))
                         : errhint("%s() is from %g to %g.", measure, search.range.least, search.range.greatest)));
}

bool look_at(Node* node, void* arg) {
  if (node == nullptr) return false;
  const auto* search = static_cast<const Search*>(arg);
  if (IsA(node, OpExpr) && list_length(reinterpret_cast<OpExpr*>(node)->args) == 2) {
    auto* comparison = reinterpret_cast<OpExpr*>(node);
    auto* left = static_cast<Node*>(linitial(comparison->args));
    auto* right = static_cast<Node*>(lsecond(comparison->args));
    const bool is_turned = is_call(without_cast(right), search->measure);
    double bound = 0;
    if ((is_turned || is_call(without_cast(left), search->measure)) &&
        read_literal(search->root, is_turned ? left : right, &bound)) {
      const Comparison by = find_comparison(get_opcode(comparison->opno));
      const Oid shown_operator = is_turned ? get_commutator(comparison->opno) : comparison->opno;
      if (is_never_true(is_turned ? turned(by) : by, bound, search->range)) warn(*search, shown_operator, bound);
      return false;
    }
  }
  return walk_expression(node, look_at, arg);
}

Datum warn_of_unreachable_bound(FunctionCallInfo fcinfo, MeasureRange range) {
  Node* raw = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
  if (!IsA(raw, SupportRequestSimplify)) PG_RETURN_POINTER(NULL);
  const auto* request = reinterpret_cast<SupportRequestSimplify*>(raw);
  if (request->root != nullptr) {
    Search search = {request->root, request->fcall->funcid, range};
    look_at(reinterpret_cast<Node*>(request->root->parse->jointree), &search);
  }
  PG_RETURN_POINTER(NULL);
}

}  // namespace
}  // namespace neardup

using namespace neardup;

extern "C" {

#define NEARDUP_BOUNDS(name, least, greatest) \
  PG_FUNCTION_INFO_V1(name);                  \
  Datum name(PG_FUNCTION_ARGS) { return warn_of_unreachable_bound(fcinfo, {least, greatest}); }

NEARDUP_BOUNDS(lsh_share_bounds, 0, 1)
NEARDUP_BOUNDS(lsh_bits_bounds, 0, 64)
NEARDUP_BOUNDS(lsh_code_bounds, 0, kMostCodeBits)
NEARDUP_BOUNDS(lsh_score_bounds, 0, 100)
NEARDUP_BOUNDS(lsh_overlap_bounds, 0, PG_INT32_MAX)

}  // extern "C"
