// See gpu_words.h.
#include "pg/gpu/gpu_words.h"

#include "pg/gpu/gpu_search.h"
#include "offload/gpu_word_tiles.h"
#include "pg/base/guc.h"

#include "pg/base/pg.h"

extern "C" {
#include "access/xact.h"
}

namespace neardup {
namespace {

GpuWords* made = nullptr;

// A call that ends by an error leaves its block on the device.
void at_end(XactEvent event, void*) {
  if (made == nullptr) return;
  switch (event) {
    case XACT_EVENT_COMMIT:
    case XACT_EVENT_PARALLEL_COMMIT:
    case XACT_EVENT_ABORT:
    case XACT_EVENT_PARALLEL_ABORT:
    case XACT_EVENT_PREPARE:
      made->release();
      break;
    default:
      break;
  }
}

}  // namespace

WordTiles* gpu_words() {
  if (guc_device == kDeviceCpu) return nullptr;
  static GpuWords words(gpu_host());
  words.set(guc_device == kDeviceGpu, gpu_memory_limit());
  made = &words;
  return made;
}

void watch_gpu_words() { RegisterXactCallback(at_end, nullptr); }

}  // namespace neardup
