// The settings neardup.*.
#pragma once

namespace neardup {

// neardup.jaccard_threshold: what the operator % asks for. Nothing else reads it.
extern double guc_jaccard_threshold;

void define_settings();

}  // namespace neardup
