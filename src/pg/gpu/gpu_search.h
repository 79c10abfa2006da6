// Decides, by neardup.device, whether searches for pairs go to the GPU.
#pragma once

#include "core/pairs/pair_join.h"
#include "offload/gpu_fallback.h"

namespace neardup {

// The join for an engine that is made now: null with neardup.device = cpu, which leaves the module alone. Lives as long
// as the session. Opens nothing.
PairJoin* gpu_join();

// The loader, and a log that hears when the CPU takes over.
GpuHost gpu_host();

}  // namespace neardup
