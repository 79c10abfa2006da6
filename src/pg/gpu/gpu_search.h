// Whether searches for pairs go to the GPU: neardup.device decides.
#pragma once

#include "core/pairs/pair_join.h"
#include "offload/gpu_fallback.h"

namespace neardup {

// What an engine made now is to be given: null with neardup.device = cpu, which leaves the module alone. Lives as long
// as the session. Opens nothing.
PairJoin* gpu_join();

// The loader, and a log that hears when the CPU takes over.
GpuHost gpu_host();

}  // namespace neardup
