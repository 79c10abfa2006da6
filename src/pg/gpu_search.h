// Whether searches for pairs go to the GPU: neardup.device decides.
#pragma once

#include "core/pair_join.h"

namespace neardup {

// What an engine made now is to be given: null with neardup.device = cpu, which leaves the module alone. Lives as long
// as the session. Opens nothing.
PairJoin* gpu_join();

}  // namespace neardup
