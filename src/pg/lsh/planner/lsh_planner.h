// The planner's side of lsh: what its files offer each other.
#pragma once

#include "core/lsh/lsh_query.h"
#include "core/lsh/pair_sample.h"
#include "pg/lsh/family.h"
#include "pg/lsh/scan/probe_estimate.h"

extern "C" {
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"
}

namespace neardup {

struct PlanMeasures;

// index_paths.cpp ----------------------------------------------------------------------------------------------------

// Puts set_rel_pathlist_hook in place; from _PG_init. The library is loaded, at the latest, when the planner opens the
// first lsh index of a query, which is before it makes paths.
void install_planner_hook();

// lsh_support.cpp ----------------------------------------------------------------------------------------------------

// One measure that an operator class tells the planner of. Found by number, never by name: search_path has no say in it.
struct PlanMeasure {
  bool is_distance;  // less is nearer
  bool is_whole;     // an integer
  Oid type;          // of the indexed values
  Oid query_type;    // lsh_query
  Oid function;      // jaccard(type, type), hamming(type, type) ..
  Oid predicate;     // jaccard_at_least(type, type, float8), hamming_at_most ..
  Oid make_query;    // lsh_query_bound(type, float8) ..
  Oid make_strict;   // with_threshold(type, float8) ..; invalid where there is none
  Oid condition;     // operator type %> query_type
  Oid quiet;         // its quiet twin (family.h); invalid where there is none
  Oid order;         // the function of the ordering operator, if it orders by this measure; else invalid
};
inline constexpr int kMaxMeasures = 2;  // of an operator class

bool is_lsh(const IndexOptInfo* index);
// As value_column() of store/lsh_columns.h.
inline int planned_value_column(const IndexOptInfo* index) { return index->nkeycolumns - 1; }
// The measures of the operator class of a type in a family that are complete. Returns how many.
int find_measures(Oid family, Oid type, PlanMeasure measures[kMaxMeasures]);
inline int find_measures(const IndexOptInfo* index, int column, PlanMeasure measures[kMaxMeasures]) {
  return find_measures(index->opfamily[column], index->opcintype[column], measures);
}

// Where a call of a predicate comes from. A call's parse location says so, which equal() ignores and EXPLAIN does not
// show.
enum CallOrigin : int {
  kUsersCall = 0,         // or any other location; its bound must be in range
  kImpliedCall = -19551,  // true wherever a comparison of the query is; any bound is right
  kEqualCall = -19552,    // true where the comparison is, and there only
  kGuardedCall = -19553,  // as kImpliedCall, to be evaluated before row security: by a quiet twin
  kGuardedUsersCall = -19554,
};
inline bool is_guarded(int location) { return location == kGuardedCall || location == kGuardedUsersCall; }

// `key %> query` for predicate(args) where argument `key_argument` is the index's column; null when the index cannot or
// should not be used for it. location: of the call. *exact: it is true where the call is, and there only.
Expr* index_condition(PlannerInfo* root, IndexOptInfo* index, int column, Oid predicate, List* args, int key_argument,
                      int location, bool* exact);

// The quiet twin, in the operator family, of one of its operators, if that is leakproof; else invalid.
Oid quiet_twin(Oid operator_id, Oid family);

// derive.cpp ----------------------------------------------------------------------------------------------------------

// A predicate's call that is true wherever the clause is, in which the clause and its arguments are not to be changed;
// null for clauses that are no comparison of a measure with a bound, and no predicate.
FuncExpr* implied_call(const PlanMeasures* measures, Node* clause);

// lsh_views.cpp ------------------------------------------------------------------------------------------------------

// Puts planner_hook in place; from _PG_init.
void install_view_hook();

// lsh_guarded.cpp ----------------------------------------------------------------------------------------------------

// Orders by quiet twins in the index paths of a relation that hides rows: the executor evaluates the order of rows
// before row security. A path that cannot is one without an order.
void guard_orders(const PlannerInfo* root, RelOptInfo* rel);

// A copy of the operator's call with the quiet twin that the operator family has; null where it has none.
Expr* quiet_call(Oid family, Node* clause);

// Whether evaluating the expressions tells nothing of the values that they are given, as PostgreSQL means it; calls of
// makers of lsh_querys whose bound is a constant in its range are, too.
bool tells_nothing(Node* node);

// lsh_cost.cpp -------------------------------------------------------------------------------------------------------

// What is known at plan time of the right side of an index condition.
struct KnownQuery {
  uint16_t strategy;
  bool none;  // NULL, or a bound that no row reaches
  bool has_bound;
  LshMeasure measure;  // of the bound
  double bound;
  bool of_row;  // not known, but another row's
  bool has_query;
  Oid type;     // of:
  Datum query;  // as the access method takes it: an lsh_query, or a minhash for %
  Datum value;  // of the indexed type; 0: not to be checked
};

// By an index condition: strategy and right operand. ours: an operator of this extension, whose operands can be read.
KnownQuery known_operand(PlannerInfo* root, uint16_t strategy, Node* operand, bool ours);
// By the arguments of a predicate. make_query: of its measure; invalid: the value is not asked for.
KnownQuery known_arguments(PlannerInfo* root, LshMeasure measure, Oid make_query, Node* value, Node* bound);

// The measures that the lsh indexes of a query level know, found once.
struct PlanMeasures {
  PlannerInfo* root;
  bool rows_estimated;
  int n;
  PlanMeasure at[16];

  const PlanMeasure* of(Oid predicate) const {
    for (int i = 0; i < n; ++i)
      if (at[i].predicate == predicate) return &at[i];
    return nullptr;
  }
  void add(Oid family, Oid type) {
    PlanMeasure found[kMaxMeasures];
    const int nfound = find_measures(family, type, found);
    for (int i = 0; i < nfound && n < static_cast<int>(lengthof(at)); ++i)
      if (of(found[i].predicate) == nullptr) at[n++] = found[i];
  }
};
PlanMeasures* measures_of(PlannerInfo* root);

// Whether row security, or a view that is a security barrier, comes before the query's own conditions on the table. How
// many rows an index has for a value is then not for the planner to count: EXPLAIN would tell of hidden ones.
bool hides_rows(const PlannerInfo* root, const RelOptInfo* rel);

// Whether the index finds all rows that the query asks for (or what its `recall` promises) by looking keys up. What is
// not known yet counts as served: a scan that turns out not to be hands out every row. `estimate`, if not null, is
// filled when the query is known and `counted` becomes true. Never raises an error for a query that the index cannot
// take.
bool index_serves(PlannerInfo* root, const IndexOptInfo* index, const KnownQuery& query,
                  ProbeEstimate* estimate = nullptr, bool* counted = nullptr);

// lsh_selectivity.cpp ------------------------------------------------------------------------------------------------

// What ANALYZE knows of near duplicates, or guesses without it: rows that match a value at least pair_level(i) near on
// the scale of closeness(), and those that are handed out to be checked.
struct NearLevels {
  float4 matches[kPairLevels];
  float4 candidates[kPairLevels];
};
struct NearStats {
  double rows;  // that the table has
  bool analyzed;
  NearLevels of_row;
  NearLevels of_document;  // copies of each other taken as one
};
NearStats near_stats(PlannerInfo* root, const VariableStatData* variable, LshMeasure measure);
// For a query: a row's mean where it is one. What comes from outside is as likely one document as another, as PostgreSQL
// takes it for equality: a popular row is not asked for more often.
double expected_matches(const NearStats& stats, const KnownQuery& query);
double expected_candidates(const NearStats& stats, const KnownQuery& query);

// Of a predicate's call: the share of rows of one table, or of pairs of two, as clause_selectivity() means it.
double predicate_selectivity(PlannerInfo* root, LshMeasure measure, Oid predicate, List* args, int var_relid,
                             JoinType jointype, const SpecialJoinInfo* sjinfo);

// Of the bound, or of a usual one where it is not known.
double closeness_of(const KnownQuery& query);

}  // namespace neardup
