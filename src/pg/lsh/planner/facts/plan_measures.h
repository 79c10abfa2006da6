// The measures that the operator classes of lsh indexes declare for the planner.
#pragma once

#include "pg/lsh/family.h"

namespace neardup {

// One measure that an operator class declares. Found by number, never by name: search_path has no say in it.
struct PlanMeasure {
  bool is_distance;  // less is nearer
  bool is_whole;     // an integer
  Oid type;          // of the indexed values
  Oid query_type;    // lsh_query
  Oid function;      // jaccard(type, type), hamming(type, type) ..
  Oid predicate;     // jaccard_at_least(type, type, float8), hamming_at_most ..
  Oid make_query;    // lsh_query_bound(type, float8) ..
  Oid make_strict;   // with_threshold(type, float8) ..; invalid where there is none
  // The same where the measure is not symmetric and the indexed value is the second one; else as the others.
  Oid make_second;
  Oid make_second_strict;
  Oid condition;  // operator type %> query_type
  Oid quiet;      // its quiet twin (family.h); invalid where there is none
  Oid order;      // the function of the ordering operator, if it orders by this measure; else invalid

  // key: the argument of the predicate that is the indexed value, 0 or 1.
  Oid maker(int key) const { return key == 0 ? make_query : make_second; }
  Oid strict_maker(int key) const { return key == 0 ? make_strict : make_second_strict; }
};

bool is_lsh(const IndexOptInfo* index);
// value_column() of store/lsh_columns.h, by the planner's data.
inline int planned_value_column(const IndexOptInfo* index) { return index->nkeycolumns - 1; }

// The measures of the operator class of a type in a family that are complete. Returns how many.
int find_measures(Oid family, Oid type, PlanMeasure measures[kMaxMeasures]);
inline int find_measures(const IndexOptInfo* index, int column, PlanMeasure measures[kMaxMeasures]) {
  return find_measures(index->opfamily[column], index->opcintype[column], measures);
}

// The quiet twin, in the operator family, of one of its operators, if that is leakproof; else invalid.
Oid quiet_twin(Oid operator_id, Oid family);

// The measures that the lsh indexes of a query level know, and those of its join conditions, found once.
struct PlanMeasures {
  PlannerInfo* root;
  bool rows_estimated;
  int n;
  PlanMeasure at[32];

  const PlanMeasure* find(Oid predicate) const {
    for (int i = 0; i < n; ++i)
      if (at[i].predicate == predicate) return &at[i];
    return nullptr;
  }
  void add(Oid family, Oid type) {
    PlanMeasure found[kMaxMeasures];
    const int nfound = find_measures(family, type, found);
    for (int i = 0; i < nfound && n < static_cast<int>(lengthof(at)); ++i)
      if (find(found[i].predicate) == nullptr) at[n++] = found[i];
  }
};
PlanMeasures* plan_measures(PlannerInfo* root);
// Adds the measures of all operator classes of lsh. Returns their families.
List* add_all_measures(PlanMeasures* measures);

// The two arguments of a call or an operator; false for other expressions.
bool two_arguments(Node* node, Node** a, Node** b);

// The access method lsh, if it is this extension's: one of this name could be another's; then invalid.
Oid own_access_method();
// The strategy by which operator classes of lsh search with an operator; 0: none.
uint16_t search_strategy(Oid operator_id);

// Adds the measures that this extension's default operator class of a type has, where the clause may compare by them
// two values of the type. Returns its family; invalid where there is none.
Oid add_clause_measures(PlanMeasures* measures, Node* clause);

}  // namespace neardup
