// Joins the rows of a pair engine on the GPU, behind the module's C boundary. Knows nothing of PostgreSQL.
#pragma once

#include <cstdint>

#include "core/pair_join.h"
#include "gpu/neardup_gpu.h"

namespace neardup {

// What a join needs of its host.
struct GpuHost {
  // The module's table, or null with the reason.
  const NeardupGpuApi* (*open)(const char** reason);
  // Told when the CPU takes over, and why. Must not throw.
  void (*fell_back)(const char* reason);
};

// Required: a failure is an Error{device}. Else the engine is told to join itself: also when the work is too little for
// a GPU, which then is not touched, and ever after where a device has failed.
class GpuJoin final : public PairJoin {
 public:
  // Nanoseconds of CPU work from which on a GPU is worth its context, which takes some tenths of a second and is made
  // once a session.
  static constexpr double kWorth = 1e9;

  explicit GpuJoin(const GpuHost& host) : host_(host) {}

  // For the joins that follow. memory_limit: bytes of device memory, 0: none.
  void set(bool required, uint64_t memory_limit) noexcept {
    required_ = required;
    memory_limit_ = memory_limit;
  }

  bool join(const MinhashJob& job, double cost, Workspace& ws, const Found& found) override;
  bool join(const SimhashJob& job, double cost, Workspace& ws, const Found& found) override;
  bool join(const CtphJob& job, double cost, Workspace& ws, const Found& found) override;
  void refuse_large() override;

  // Of the latest join that the GPU did.
  const NeardupGpuStats& stats() const noexcept { return stats_; }

 private:
  bool run(const NeardupGpuJob& job, double cost, Workspace& ws, const Found& found);
  bool give_up(const char* reason, bool for_good);

  GpuHost host_;
  bool required_ = false;
  uint64_t memory_limit_ = 0;
  bool failed_ = false;
  char reason_[NEARDUP_GPU_TEXT] = "";
  NeardupGpuStats stats_ = {};
};

}  // namespace neardup
