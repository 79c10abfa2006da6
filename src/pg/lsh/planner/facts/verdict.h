// The planner's answer to a condition that an lsh index could serve, which lsh_why_not() shows.
#pragma once

#include <cstdint>

namespace neardup {

enum class Verdict : uint8_t {
  usable,           // the planner may use the index
  no_index,         // the table has no lsh index
  foreign_table,    // another server has the table, and its indexes
  no_table,         // rows of a subquery, a function or VALUES, which have no index
  not_valid,        // CREATE INDEX CONCURRENTLY has failed, or is at work
  other_value,      // the index is over another column or expression
  other_measure,    // its operator class serves other measures
  far,              // the condition is true of values that are far from one another
  other_row,        // the other side, or the bound, is of the same table
  partial,          // the conditions of the query do not imply the predicate of the index
  bad_bound,        // no bound of the measure
  below_threshold,  // the index finds nearer values only
  beyond_distance,  // the same, of one that has a greatest distance
  other_signature,  // the signature was made with other parameters than those of the index
  hidden,           // the index does not serve it, and why would say something of rows that row security hides
  leaks,            // row security comes first, and to evaluate the condition before it could tell of hidden rows
  joined,           // a Similarity Join answers the condition
};

}  // namespace neardup
