// Older kernels for the distances of digests' parts and for the similarities of words: a second opinion for tests, and
// what to be faster than.
#pragma once

#include <vector>

#include "gpu/neardup_gpu.h"

inline constexpr uint32_t kOlderKernelWidth = 180;  // what fits in 48 KB of shared memory

// A pair of parts to a thread, which fills the table of Wagner and Fischer a row at a time, one cell after the other:
// the design of a study of 2015 that compared digests on a GPU. shared: the rows lie in shared memory, else in global
// memory. One set, one list, parts of at most kOlderKernelWidth characters. ms, where not null: the time of the kernels
// alone, all copies left out. Throws neardup::gpu::CudaError.
std::vector<NeardupGpuPair> older_kernel_pairs(const NeardupGpuJob& job, bool shared, double* ms);

// Numerators of the similarities of words, the two designs of the same study. compressed: rows as they are, a block of
// threads a word, whose row lies spread out, a warp for each word behind it; else rows as a matrix without the columns
// that a single word has (as many as are left is told in *columns, where not null), a thread a pair, tiles of 16 by 16
// in shared memory. numerators, where not null: of rows i < j at [i * rows + j]. ms as above. Throws
// neardup::gpu::CudaError.
void older_word_numerators(const NeardupGpuWordRows& rows, uint32_t features, bool compressed,
                           std::vector<uint32_t>* numerators, uint32_t* columns, double* ms);
