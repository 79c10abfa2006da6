// Knowledge of a query at plan time.
#pragma once

#include "core/lsh/lsh_query.h"
#include "pg/base/pg.h"

namespace neardup {

// The right side of an index condition, as far as it is known at plan time.
struct KnownQuery {
  uint16_t strategy;
  bool none;  // NULL, or a bound that no row reaches
  bool has_bound;
  Measure measure = Measure::jaccard;  // of the bound
  double bound;
  bool of_row;    // not known, but another row's
  double askers;  // then: of so many rows; 0: of one
  bool has_query;
  Oid type;     // of:
  Datum query;  // as the access method takes it: an lsh_query, or a minhash for %
  Datum value;  // of the indexed type; 0: not to be checked
};

// Reads the right operand of an index condition. ours: an operator of this extension, whose operands can be read.
KnownQuery known_operand(PlannerInfo* root, uint16_t strategy, Node* operand, bool ours);
// Reads the arguments of a predicate. make_query: its measure's; invalid: the value is not asked for.
KnownQuery known_arguments(PlannerInfo* root, Measure measure, Oid make_query, Node* value, Node* bound);

// True for a column and a value that another part of the statement finds; false for one of a client or a function.
bool comes_from_row(Node* value);

// The closeness of the bound, or of a usual one where it is not known.
double query_closeness(const KnownQuery& query);

}  // namespace neardup
