// Private to the dispatcher: the tables of the single forms.
#pragma once

#include "core/cpu.h"

namespace neardup {

extern const Kernels kScalarKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
void unpack_tids_avx2(const PackedTids& tids, uint32_t from, uint32_t to, uint64_t* out);  // as fast as more lanes would be
extern const Kernels kAvx512Kernels;
#endif

}  // namespace neardup
