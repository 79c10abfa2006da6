// Questions of the planner to hash families of this extension, when a query's bound is known and its value is not.
#pragma once

#include "core/lsh/bit_keys.h"
#include "pg/lsh/family.h"

namespace neardup {

// Look-ups for a Hamming distance; 0: not served, all rows are read. blocks: as read from disk, perhaps damaged.
uint32_t simhash_index_probes(uint32_t blocks, double distance);

// Reads the parameters of an index of bit strings; false while it is not bound. An error for damaged ones.
bool read_bit_layout(const LshConfig* config, BitLayout* layout);

double ctph_index_max_rate(const LshConfig* config);

}  // namespace neardup
