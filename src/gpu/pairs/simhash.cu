// The search for near simhashes, on CUDA devices.
#include "gpu/base/cuda_gpu.h"
#include "gpu/pairs/join_search.h"

namespace neardup::gpu {

std::unique_ptr<Search> make_simhash_search(const std::vector<CudaGpu*>& gpus, const NeardupGpuJob& job,
                                            const NeardupGpuOptions& options) {
  return std::make_unique<SimhashSearch<CudaGpu>>(gpus, job, options.way);
}

}  // namespace neardup::gpu
