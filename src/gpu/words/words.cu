// Words compared on CUDA devices.
#include "gpu/base/cuda_gpu.h"
#include "gpu/words/words_search.h"

namespace neardup::gpu {

std::unique_ptr<Words> make_words(const std::vector<CudaGpu*>& gpus, uint32_t way) {
  return std::make_unique<WordSearch<CudaGpu>>(gpus, way);
}

}  // namespace neardup::gpu
