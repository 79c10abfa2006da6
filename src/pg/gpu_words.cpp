// See gpu_words.h.
#include "pg/gpu_words.h"

#include <cstdio>

#include "pg/boundary.h"
#include "pg/gpu_loader.h"
#include "pg/gpu_word_tiles.h"
#include "pg/guc.h"

#include "pg/pg.h"

#include "access/xact.h"

namespace neardup {
namespace {

void fell_back(const char* reason) {
  char text[NEARDUP_GPU_TEXT + 64];
  snprintf(text, sizeof text, "searching on the CPU: %s", reason);
  log_debug1(text);
}

GpuWords& words() {
  static GpuWords the_words({gpu_api, fell_back});
  return the_words;
}

// A call that ends by an error leaves its block on the device.
void at_end(XactEvent event, void*) {
  switch (event) {
    case XACT_EVENT_COMMIT:
    case XACT_EVENT_PARALLEL_COMMIT:
    case XACT_EVENT_ABORT:
    case XACT_EVENT_PARALLEL_ABORT:
    case XACT_EVENT_PREPARE:
      words().release();
      break;
    default:
      break;
  }
}

}  // namespace

WordTiles* gpu_words() {
  static bool registered = false;
  if (guc_device == kDeviceCpu) return nullptr;
  if (!registered) {
    RegisterXactCallback(at_end, nullptr);
    registered = true;
  }
  words().set(guc_device == kDeviceGpu, gpu_memory_limit());
  return &words();
}

}  // namespace neardup
