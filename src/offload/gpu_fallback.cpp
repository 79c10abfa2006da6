// See gpu_fallback.h.
#include "offload/gpu_fallback.h"

#include <cstdio>
#include <string>

#include "core/base/error.h"
#include "offload/gpu_text.h"

namespace neardup {

const NeardupGpuApi* GpuFallback::open(double cost) {
  if (!required_ && cost < kWorth) return nullptr;
  const char* reason = reason_;
  const NeardupGpuApi* api = !required_ && failed_ ? nullptr : host_.open(&reason);
  if (api == nullptr) give_up(reason, true);
  return api;
}

bool GpuFallback::give_up(const char* reason, bool for_good) {
  if (required_)
    throw Error(Errc::device, std::string("cannot search on the GPU: ") + reason, {},
                "With neardup.device = 'auto' or 'cpu' the CPU does it.");
  if (for_good && !failed_) {
    failed_ = true;
    std::snprintf(reason_, sizeof reason_, "%s", reason);
  }
  host_.fell_back(reason);
  return false;
}

bool GpuFallback::failed(NeardupGpuStatus status, char (&reason)[NEARDUP_GPU_TEXT]) {
  make_plain(reason);
  if (reason[0] == '\0') std::snprintf(reason, sizeof reason, "the GPU module gave no reason");
  // Another time there may be memory.
  return give_up(reason, status != NEARDUP_GPU_OUT_OF_MEMORY);
}

}  // namespace neardup
