// See gpu_search.h.
#include "pg/gpu/gpu_search.h"

#include <cstdio>

#include "pg/base/boundary.h"
#include "offload/gpu_join.h"
#include "pg/gpu/gpu_loader.h"
#include "pg/base/guc.h"

namespace neardup {
namespace {

void fell_back(const char* reason) {
  char text[NEARDUP_GPU_TEXT + 64];
  snprintf(text, sizeof text, "searching on the CPU: %s", reason);
  log_debug1(text);
}

}  // namespace

GpuHost gpu_host() { return {gpu_api, fell_back}; }

PairJoin* gpu_join() {
  static GpuJoin join(gpu_host());
  if (guc_device == kDeviceCpu) return nullptr;
  join.set(guc_device == kDeviceGpu, gpu_memory_limit());
  return &join;
}

}  // namespace neardup
