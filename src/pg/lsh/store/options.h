// What an index was created with: its storage parameters and its operator class.
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

// Whether the index is an lsh index (and, with raise, an error unless it is).
bool is_lsh_index(Relation relation);

}  // namespace neardup
