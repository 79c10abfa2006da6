// Finds, opens and checks the GPU module on first use, and remembers for the session what did not work.
#pragma once

#include <cstdint>

#include "gpu/neardup_gpu.h"

namespace neardup {

// The module's table, or null with the reason in plain words (a static string that lives as long as the session).
// The first call opens $libdir/neardup_gpu.so; its outcome, good or bad, is final for this session.
// Refuses in the postmaster: what CUDA sets up there would be broken in every child. Raises no PostgreSQL error.
const NeardupGpuApi* gpu_api(const char** reason);

// The module's report on this machine. All text is ASCII.
struct GpuMachine {
  uint32_t count;                 // GPUs that this process may see; 0 when there is no module, driver or GPU
  char driver[NEARDUP_GPU_TEXT];  // the driver in words; empty where there is none
  char reason[NEARDUP_GPU_TEXT];  // why count is 0; else empty
};

// Asked of the module once per session. Raises no PostgreSQL error.
const GpuMachine& gpu_machine();

// Describes device 0 .. gpu_machine().count - 1 and tries it: true when it is usable, else info->reason says why
// not (info->name is empty when it could not even be described). A device that failed once is not touched again in
// this session; one that works is tried again at each call, which takes some tenths of a second and cannot be
// cancelled.
bool gpu_device_info(uint32_t device, NeardupGpuDevice* info);

}  // namespace neardup
