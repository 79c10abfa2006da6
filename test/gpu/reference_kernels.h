// Older kernels for the distances of digests' parts: a second opinion for tests, and what to be faster than.
#pragma once

#include <vector>

#include "gpu/neardup_gpu.h"

// A pair of parts to a thread, which fills the table of Wagner and Fischer a row at a time, one cell after the other:
// the design of a study of 2015 that compared digests on a GPU. shared: the rows lie in shared memory, else in global
// memory. One set, one list, parts of at most 64 characters. ms, where not null: the time of the kernels alone, all
// copies left out. Throws neardup::gpu::CudaError.
std::vector<NeardupGpuPair> older_kernel_pairs(const NeardupGpuJob& job, bool shared, double* ms);
