// Private to the dispatcher: the tables of the single forms.
#pragma once

#include "core/cpu.h"

namespace neardup {

extern const Kernels kScalarKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace neardup
