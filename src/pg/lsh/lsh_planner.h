// The planner's side of lsh: what its files offer each other.
#pragma once

#include "pg/lsh/lsh_am.h"

extern "C" {
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"
}

namespace neardup {

// lsh_planner.cpp ----------------------------------------------------------------------------------------------------

// Puts set_rel_pathlist_hook in place; from _PG_init. The library is loaded, at the latest, when the planner opens the
// first lsh index of a query, which is before it makes paths.
void install_planner_hook();

// lsh_support.cpp ----------------------------------------------------------------------------------------------------


// What an operator class tells the planner. Found by number, never by name: search_path has no say in it.
struct PlanMeasure {
  Oid type;        // of the indexed values: minhash
  Oid query_type;  // lsh_query
  Oid similarity;  // jaccard(type, type)
  Oid at_least;    // jaccard_at_least(type, type, float8)
  Oid make_query;  // lsh_query_bound(type, float8)
  Oid make_strict;  // with_threshold(type, float8); invalid where there is none
  Oid condition;   // operator type %> query_type
  Oid distance;    // the function of type <%> type; invalid where there is none
};

bool is_lsh(const IndexOptInfo* index);
// False unless the operator class has all of it but the distance.
bool find_measure(const IndexOptInfo* index, int column, PlanMeasure* measure);

// Location of calls of at_least that the planner derived: for them any bound is right, where the user's own call
// demands one in (0, 1]. A parse location is what equal() ignores and EXPLAIN does not show.
inline constexpr int kDerivedLocation = -19551;

// `key %> query` for at_least(args) where argument `key_argument` is the index's column; null when the index cannot or
// should not be used for it.
Expr* index_condition(PlannerInfo* root, IndexOptInfo* index, int column, List* args, int key_argument, bool derived);

// lsh_cost.cpp -------------------------------------------------------------------------------------------------------

// What is known at plan time of the right side of an index condition.
struct KnownQuery {
  uint16_t strategy;
  bool none;  // NULL, or a bound that no row reaches
  bool has_bound;
  double bound;
  bool has_query;
  Oid type;     // of:
  Datum query;  // as the access method takes it: an lsh_query, or a minhash for %
  Datum value;  // of the indexed type; 0: not to be checked
};

// By an index condition: strategy and right operand. minhash: an operator of minhash_ops or lsh_query_ops, whose
// operands can be read.
KnownQuery known_operand(PlannerInfo* root, uint16_t strategy, Node* operand, bool minhash);
// By the arguments of `at_least`.
KnownQuery known_arguments(PlannerInfo* root, const PlanMeasure& measure, Node* value, Node* bound);

// The measures that the lsh indexes of a query level know, found once.
struct PlanMeasures {
  PlannerInfo* root;
  bool rows_estimated;
  int n;
  PlanMeasure at[8];
};
PlanMeasures* measures_of(PlannerInfo* root);

// Whether the index finds all rows that the query asks for (or what its `recall` promises) by looking keys up. What is
// not known yet counts as served: a scan that turns out not to be hands out every row. `estimate`, if not null, is
// filled when the query is known and `counted` becomes true. Never raises an error for a query that the index cannot
// take.
bool index_serves(PlannerInfo* root, const IndexOptInfo* index, const KnownQuery& query,
                  ProbeEstimate* estimate = nullptr, bool* counted = nullptr);

// lsh_selectivity.cpp ------------------------------------------------------------------------------------------------

// What ANALYZE knows of near duplicates, or guesses without it.
struct NearStats {
  double rows;  // that the table has
  bool analyzed;
  float4 matches[11];  // per row, at least pair_level(i) similar
  float4 candidates[11];
};
NearStats near_stats(PlannerInfo* root, const VariableStatData* variable);
// Rows that match a row, or are handed out to be checked, at this bound.
double expected_matches(const NearStats& stats, double bound);
double expected_candidates(const NearStats& stats, double bound);

// Of jaccard_at_least(a, b, bound): the share of rows of one table, or of pairs of two, as clause_selectivity() means
// it.
double at_least_selectivity(PlannerInfo* root, List* args, int var_relid, JoinType jointype,
                            const SpecialJoinInfo* sjinfo);

// Where the bound is not known.
inline constexpr double kUsualBound = 0.8;

}  // namespace neardup
