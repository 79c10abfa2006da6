// Private to the dispatcher: the tables of the single forms.
#pragma once

#include "core/kernels/kernels.h"

namespace neardup {

extern const Kernels kScalarKernels;
// Few lanes without a shift across them and without three-way logic would gain little.
void edit_stripe_scalar(const uint64_t* masks, const uint16_t* column_masks, size_t columns, unsigned blocks,
                        uint64_t* vp, uint64_t* vn, uint64_t* p, uint64_t* n);
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
// As fast as more lanes would be.
void unpack_entries_avx2(const PackedEntries& leaf, uint32_t from, uint32_t to, Entry* out);
void unpack_tids_avx2(const PackedEntries& leaf, uint32_t from, uint32_t to, uint64_t* out);
size_t count_differing_avx2(const uint8_t* a, const uint8_t* b, size_t n);
size_t near_codes_avx2(const uint64_t* x, size_t nx, const uint64_t* y, size_t ny, size_t words, bool triangle,
                       unsigned most, uint32_t* out);
extern const Kernels kAvx512Kernels;
#elif defined(__aarch64__)
extern const Kernels kNeonKernels;
#endif

}  // namespace neardup
