// The settings neardup.*.
#pragma once

namespace neardup {

// neardup.jaccard_threshold: what the operator % asks for. Nothing else reads it.
extern double guc_jaccard_threshold;

// neardup.derive_conditions: whether the planner turns jaccard(x, q) > t into a condition that an lsh index serves.
extern bool guc_derive_conditions;

void define_settings();

}  // namespace neardup
