// The settings neardup.*.
#pragma once

namespace neardup {

// neardup.jaccard_threshold: what the operator % asks for. Nothing else reads it.
extern double guc_jaccard_threshold;

// neardup.derive_conditions: whether the planner turns jaccard(x, q) > t into a condition that an lsh index serves.
extern bool guc_derive_conditions;

// neardup.enable_join: whether the planner considers similarity joins by the pair engines.
extern bool guc_enable_join;

// neardup.log_stages: whether long calls tell the time of their stages.
extern bool guc_log_stages;

// neardup.device: what may search for pairs.
enum { kDeviceAuto, kDeviceCpu, kDeviceGpu };
extern int guc_device;

// neardup.gpu_memory_limit in bytes; 0: none.
unsigned long long gpu_memory_limit();

// The threads of a search at most: neardup.threads, or where that is 0 max_parallel_workers_per_gather; at least 1.
unsigned search_threads();

void define_settings();

}  // namespace neardup
