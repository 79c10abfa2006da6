// What is known at plan time of a query.
#pragma once

#include "core/lsh/lsh_query.h"
#include "pg/base/pg.h"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace neardup {

// What is known at plan time of the right side of an index condition.
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

// By an index condition: strategy and right operand. ours: an operator of this extension, whose operands can be read.
KnownQuery known_operand(PlannerInfo* root, uint16_t strategy, Node* operand, bool ours);
// By the arguments of a predicate. make_query: of its measure; invalid: the value is not asked for.
KnownQuery known_arguments(PlannerInfo* root, Measure measure, Oid make_query, Node* value, Node* bound);

// Whether a value is a column, or what another part of the statement finds: not what a client or a function hands over.
bool comes_from_row(Node* value);

// Of the bound, or of a usual one where it is not known.
double query_closeness(const KnownQuery& query);

}  // namespace neardup
