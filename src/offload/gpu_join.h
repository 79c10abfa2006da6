// Joins the rows of a pair engine on the GPU, behind the module's C boundary. Knows nothing of PostgreSQL.
#pragma once

#include <cstdint>

#include "core/pairs/pair_join.h"
#include "offload/gpu_fallback.h"

namespace neardup {

// Joins that the GPU does not take over, or fails at, are the engine's: see GpuFallback.
class GpuJoin final : public PairJoin {
 public:
  explicit GpuJoin(const GpuHost& host) : fallback_(host) {}

  // See GpuFallback::set().
  void set(bool required, uint64_t memory_limit) noexcept { fallback_.set(required, memory_limit); }

  bool join(const MinhashJob& job, double cost, Workspace& ws, const Found& found) override;
  bool join(const SimhashJob& job, double cost, Workspace& ws, const Found& found) override;
  bool join(const CtphJob& job, double cost, Workspace& ws, const Found& found) override;
  void refuse_large() override;

  // Figures of the latest join that the GPU did.
  const NeardupGpuStats& stats() const noexcept { return stats_; }

 private:
  bool run(const NeardupGpuJob& job, double cost, Workspace& ws, const Found& found);

  GpuFallback fallback_;
  NeardupGpuStats stats_ = {};
};

}  // namespace neardup
