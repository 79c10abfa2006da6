// The searches as api.cu makes them; each is compiled with its kernels in a file of its own.
#pragma once

#include <memory>
#include <vector>

#include "gpu/neardup_gpu.h"

namespace neardup::gpu {

class CudaGpu;
class Search;

// job: checked by check_job().
std::unique_ptr<Search> make_ctph_search(const std::vector<CudaGpu*>& gpus, const NeardupGpuJob& job,
                                         const NeardupGpuOptions& options);
std::unique_ptr<Search> make_simhash_search(const std::vector<CudaGpu*>& gpus, const NeardupGpuJob& job,
                                            const NeardupGpuOptions& options);
std::unique_ptr<Search> make_minhash_search(const std::vector<CudaGpu*>& gpus, const NeardupGpuJob& job,
                                            const NeardupGpuOptions& options);

}  // namespace neardup::gpu
