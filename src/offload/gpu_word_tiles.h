// Compares rows of words on the GPU, behind the module's C boundary. Knows nothing of PostgreSQL.
#pragma once

#include <cstdint>

#include "core/word_model/word_tiles.h"
#include "offload/gpu_fallback.h"

namespace neardup {

// Blocks that the GPU does not take over, or fails at, are the engine's: see GpuFallback.
//
// Device memory is held from begin() until rows up to the end of the block have been probed, until a failure, or
// until release().
class GpuWords final : public WordTiles {
 public:
  explicit GpuWords(const GpuHost& host) : fallback_(host) {}
  ~GpuWords() override { release(); }
  GpuWords(const GpuWords&) = delete;
  GpuWords& operator=(const GpuWords&) = delete;

  // See GpuFallback::set().
  void set(bool required, uint64_t memory_limit) noexcept { fallback_.set(required, memory_limit); }

  bool begin(const WordMatrix& block, const uint32_t* weights, uint32_t words, uint32_t features, uint32_t k,
             double cost, Workspace& ws) override;
  bool probe(const WordMatrix& rows, const float* least, Workspace& ws, const Found& found) override;

  // Gives back what the device holds for a block. The rest of the block is the engine's.
  void release() noexcept;

  // Figures of the latest block.
  const NeardupGpuWordStats& stats() const noexcept { return stats_; }

 private:
  bool give_up(const char* reason, bool for_good);
  bool failed(NeardupGpuStatus status);
  bool run_probe(const WordMatrix& rows, const float* least, Workspace& ws, const Found& found);

  GpuFallback fallback_;
  char error_[NEARDUP_GPU_TEXT] = "";
  const NeardupGpuApi* api_ = nullptr;
  NeardupGpuWords* words_ = nullptr;
  const Workspace* owner_ = nullptr;  // of the engine whose block it is: queries of one may run another
  uint32_t block_end_ = 0;
  NeardupGpuWordStats stats_ = {};
};

}  // namespace neardup
