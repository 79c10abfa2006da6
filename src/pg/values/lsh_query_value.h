// Values of the type lsh_query: a value and how near to it another one has to be. What SQL asks by them.
#pragma once

#include <limits>

#include "core/lsh/lsh_query.h"
#include "pg/values/values.h"

// The operators %> of the kinds, for any bound, and their quiet twins, which fn_quiet_conditions.cpp has.
#define NEARDUP_OPERATORS(X)                         \
  X(minhash, minhash_at_least, minhash_quiet_within) \
  X(simhash, simhash_within, simhash_quiet_within)   \
  X(ctph, ctph_within, ctph_quiet_within)            \
  X(set, int_set_within, int_set_quiet_within)       \
  X(bits, bit_within, bit_quiet_within)

namespace neardup {

// The value as a view; points into the datum or its detoasted copy. ERRCODE_INVALID_BINARY_REPRESENTATION for other
// bytes.
LshQueryView lsh_query_view(struct varlena* value);
inline LshQueryView lsh_query_view(Datum value) {
  return lsh_query_view(reinterpret_cast<struct varlena*>(PG_DETOAST_DATUM(value)));
}

// A caller that calls an operator often with the same lsh_query reads it once.
struct LshQueryMemo {
  Datum argument;  // the very same bytes each time, and neither moved nor freed
  LshQueryView view;
  // Equal components of a minhash that the operator asks for, or differing bits of a code that it allows; kAskOperator:
  // it has to be asked.
  uint32_t needed;

  static constexpr uint32_t kAskOperator = ~uint32_t{0};
};
// For the calls of `function` from now on, if it is one that uses memos and the argument need not be copied to be read;
// the memo and the argument stay as long.
void keep_lsh_query(FmgrInfo* function, Datum argument, LshQueryMemo* memo);

// The right argument of an operator that uses memos.
LshQueryView kept_query(FunctionCallInfo fcinfo);

// The operator's answer for a value of its type, if it takes neither memory nor an error, whatever the value is; else
// unknown. Cost: that of comparing the components or bits.
enum class QuickAnswer { unknown, no, yes };
QuickAnswer quick_answer(const LshQueryMemo& memo, Datum value) noexcept;

Datum lsh_query_datum(const LshQueryView& query);

// True if a value that no measure takes raises an error: a query for a set with a NULL keeps every row instead.
inline bool demands_fit_value(const LshQueryView& query) {
  return query.bound > -std::numeric_limits<double>::infinity();
}

// The values must be comparable.
double measured(Measure measure, const AnyValue& a, const AnyValue& b);
bool is_within(const AnyValue& value, const LshQueryView& query);

// A bound that the named predicates take; else an error. Leakproof: a bound from a column may be another's, so only the
// caller's own constant is named.
double bound_arg(FunctionCallInfo fcinfo, int n, Measure measure);

// True if calls of the function make lsh_querys; *measure: by which measure.
bool makes_lsh_query(Oid function, Measure* measure);

}  // namespace neardup
