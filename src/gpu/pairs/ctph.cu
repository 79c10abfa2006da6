// The search for near digests, on CUDA devices.
#include "gpu/base/cuda_gpu.h"
#include "gpu/pairs/ctph_search.h"

namespace neardup::gpu {

std::unique_ptr<Search> make_ctph_search(const std::vector<CudaGpu*>& gpus, const NeardupGpuJob& job,
                                         const NeardupGpuOptions& options) {
  return std::make_unique<CtphSearch<CudaGpu>>(gpus, job, options.filter);
}

}  // namespace neardup::gpu
