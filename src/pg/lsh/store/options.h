// The storage parameters of an index, and calls of its operator class.
#pragma once

#include "pg/lsh/family.h"

namespace neardup {

// Storage parameters as the relation cache holds them. threshold and recall: below 0 when not given.
struct LshOptions {
  int32 vl_len_;
  float8 threshold;
  float8 recall;
  int pending_limit;
};
LshOptionValues option_values(Relation index);
int pending_limit(Relation index);

// Calls support function `proc` of the operator class with its request.
void call_family(Relation index, LshProc proc, void* request);
// beyond: for kStrategyDistance.
ProbesRequest plan_probes(Relation index, uint16_t strategy, Datum query, const LshConfig* config, double beyond = 0);
DescribeRequest describe_index(Relation index, const LshConfig* config);
// True if the value was made by the parameters of the config, which is bound.
bool value_matches(Relation index, Datum value, LshConfig* config);

bool is_lsh_index(Relation relation);

}  // namespace neardup
