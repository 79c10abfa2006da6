// The searches for near minhashes and simhashes, on CUDA devices.
#include "gpu/base/cuda_gpu.h"
#include "gpu/pairs/join_search.h"

namespace neardup::gpu {

std::unique_ptr<Search> make_minhash_search(const std::vector<CudaGpu*>& gpus, const NeardupGpuJob& job,
                                            const NeardupGpuOptions& options) {
  return std::make_unique<MinhashSearch<CudaGpu>>(gpus, job, options.way);
}

std::unique_ptr<Search> make_simhash_search(const std::vector<CudaGpu*>& gpus, const NeardupGpuJob& job,
                                            const NeardupGpuOptions& options) {
  return std::make_unique<SimhashSearch<CudaGpu>>(gpus, job, options.way);
}

}  // namespace neardup::gpu
