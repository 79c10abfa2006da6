// Decides if work goes to the GPU module, and what becomes of it when that fails. Knows nothing of PostgreSQL.
#pragma once

#include <cstdint>

#include "gpu/neardup_gpu.h"

namespace neardup {

// Pairs that one step of the module may bring.
inline constexpr uint32_t kStepPairs = 1 << 16;

// The host of the users of the module.
struct GpuHost {
  // The module's table, or null with the reason.
  const NeardupGpuApi* (*open)(const char** reason);
  // Called when the CPU takes over, with the reason. Must not throw.
  void (*fell_back)(const char* reason);
};

// Where the GPU is required, a failure raises Error{device}. Else the engine does the work itself: also when it is too
// little for a GPU, which then is not touched, and ever after where a device has failed.
class GpuFallback {
 public:
  // Nanoseconds of CPU work from which on a GPU is worth its context, which takes 0.2 to 0.3 seconds and is made once a
  // session (bench/results.md, "On a GPU").
  static constexpr double kWorth = 4e8;

  explicit GpuFallback(const GpuHost& host) : host_(host) {}

  // Sets what holds for the work that follows. memory_limit: bytes of device memory, 0: none.
  void set(bool required, uint64_t memory_limit) noexcept {
    required_ = required;
    memory_limit_ = memory_limit;
  }
  bool required() const noexcept { return required_; }

  // The table for work of this cost; null: the engine does it itself.
  const NeardupGpuApi* open(double cost);
  NeardupGpuOptions options() const noexcept {
    NeardupGpuOptions out = {};
    out.memory_limit = memory_limit_;
    return out;
  }

  // Always false: the engine does the work itself. for_good: so it is for the rest of the session.
  bool give_up(const char* reason, bool for_good);
  // A call of the module came to this status, not OK, and left its reason.
  bool failed(NeardupGpuStatus status, char (&reason)[NEARDUP_GPU_TEXT]);

 private:
  GpuHost host_;
  bool required_ = false;
  uint64_t memory_limit_ = 0;
  bool failed_ = false;
  char reason_[NEARDUP_GPU_TEXT] = "";
};

}  // namespace neardup
