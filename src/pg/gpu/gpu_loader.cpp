// Finds, opens and checks the GPU module on first use, and remembers for the session what did not work.
#include "pg/gpu/gpu_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/work/signals_blocked.h"
#include "offload/gpu_text.h"
#include "pg/base/pg.h"

namespace neardup {
namespace {

// Devices whose failure is remembered; a machine with more of them is asked again for the rest.
constexpr uint32_t kRememberedDevices = 64;

// The folder that holds neardup.so: not $libdir where dynamic_library_path has named another one, as it does for an
// extension that is mounted.
void library_folder(char (&folder)[MAXPGPATH]) {
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(&library_folder), &library) == 0 || strrchr(library.dli_fname, '/') == nullptr) {
    strlcpy(folder, pkglib_path, sizeof folder);
    return;
  }
  strlcpy(folder, library.dli_fname, sizeof folder);
  *strrchr(folder, '/') = '\0';
}

const NeardupGpuApi* open_module(char (&reason)[NEARDUP_GPU_TEXT]) {
  char folder[MAXPGPATH];
  library_folder(folder);
  char path[MAXPGPATH];
  const int length = snprintf(path, sizeof path, "%s/%s", folder, NEARDUP_GPU_FILE);
  if (length < 0 || static_cast<size_t>(length) >= sizeof path) {
    snprintf(reason, sizeof reason, "the path of the GPU module is too long");
    return nullptr;
  }
  if (access(path, F_OK) != 0) {
    if (errno == ENOENT) {
      snprintf(reason, sizeof reason, "the GPU module is not installed ($libdir/%s)", NEARDUP_GPU_FILE);
    } else {
      snprintf(reason, sizeof reason, "the GPU module $libdir/%s cannot be reached: errno %d", NEARDUP_GPU_FILE, errno);
    }
    return nullptr;
  }

  // Never closed again: the CUDA runtime and its driver leave exit handlers and threads behind.
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    snprintf(reason, sizeof reason, "the GPU module cannot be opened: %s", dlerror());
    return nullptr;
  }
  void* symbol = dlsym(module, NEARDUP_GPU_SYMBOL);
  if (symbol == nullptr) {
    snprintf(reason, sizeof reason, "$libdir/%s is not neardup's GPU module: it has no function %s", NEARDUP_GPU_FILE,
             NEARDUP_GPU_SYMBOL);
    return nullptr;
  }
  const NeardupGpuApi* api = reinterpret_cast<NeardupGpuGetApi>(symbol)();
  if (api == nullptr || api->abi != NEARDUP_GPU_ABI || api->size != sizeof(NeardupGpuApi)) {
    snprintf(reason, sizeof reason,
             "the GPU module is from another build of neardup: interface %u (%u bytes), expected %u (%u bytes)",
             static_cast<unsigned>(api == nullptr ? 0 : api->abi),
             static_cast<unsigned>(api == nullptr ? 0 : api->size), static_cast<unsigned>(NEARDUP_GPU_ABI),
             static_cast<unsigned>(sizeof(NeardupGpuApi)));
    return nullptr;
  }
  return api;
}

void ask_machine(GpuMachine* machine) {
  const char* why = nullptr;
  const NeardupGpuApi* api = gpu_api(&why);
  if (api == nullptr) {
    snprintf(machine->reason, sizeof machine->reason, "%s", why);
    return;
  }
  const SignalsBlocked blocked;
  char error[NEARDUP_GPU_TEXT] = "";
  if (api->driver(machine->driver, sizeof machine->driver, error, sizeof error) != NEARDUP_GPU_OK) {
    machine->driver[0] = '\0';
  }
  make_plain(machine->driver);
  const NeardupGpuStatus status = api->device_count(&machine->count, machine->reason, sizeof machine->reason);
  make_plain(machine->reason);
  if (status == NEARDUP_GPU_OK && machine->count > 0) {
    machine->reason[0] = '\0';
    return;
  }
  machine->count = 0;
  if (machine->reason[0] == '\0') {
    snprintf(machine->reason, sizeof machine->reason, "the GPU module gave no reason (status %d)",
             static_cast<int>(status));
  }
}

}  // namespace

const NeardupGpuApi* gpu_api(const char** reason) {
  static bool tried = false;
  static const NeardupGpuApi* api = nullptr;
  static char failure[NEARDUP_GPU_TEXT];

  // This is not remembered: a child of the postmaster starts with a copy of its variables.
  if (IsPostmasterEnvironment && !IsUnderPostmaster) {
    *reason = "the GPU module is not opened in the postmaster";
    return nullptr;
  }
  if (!tried) {
    tried = true;  // first, so that whatever happens below happens once
    const SignalsBlocked blocked;
    api = open_module(failure);
    make_plain(failure);
  }
  *reason = api == nullptr ? failure : nullptr;
  return api;
}

const GpuMachine& gpu_machine() {
  static bool asked = false;
  static GpuMachine machine;

  if (IsPostmasterEnvironment && !IsUnderPostmaster) {
    static const GpuMachine nothing = {0, "", "the GPU module is not opened in the postmaster"};
    return nothing;
  }
  if (!asked) {
    asked = true;
    ask_machine(&machine);
  }
  return machine;
}

bool gpu_device_info(uint32_t device, NeardupGpuDevice* info) {
  static NeardupGpuDevice failed[kRememberedDevices];
  static bool has_failed[kRememberedDevices];

  if (device < kRememberedDevices && has_failed[device]) {
    *info = failed[device];
    return false;
  }
  memset(info, 0, sizeof *info);
  const char* why = nullptr;
  const NeardupGpuApi* api = gpu_api(&why);
  if (api == nullptr) {
    snprintf(info->reason, sizeof info->reason, "%s", why);
    return false;
  }
  char error[NEARDUP_GPU_TEXT] = "";
  NeardupGpuStatus status;
  {
    const SignalsBlocked blocked;
    status = api->device_info(device, info, error, sizeof error);
  }
  if (status != NEARDUP_GPU_OK) {
    memset(info, 0, sizeof *info);
    memcpy(info->reason, error, sizeof error);
  }
  info->device = device;
  make_plain(info->name);
  make_plain(info->reason);
  if (status == NEARDUP_GPU_OK && info->usable != 0) return true;

  info->usable = 0;
  if (info->reason[0] == '\0') {
    snprintf(info->reason, sizeof info->reason, "the GPU module gave no reason (status %d)", static_cast<int>(status));
  }
  if (device < kRememberedDevices) {
    failed[device] = *info;
    has_failed[device] = true;
  }
  return false;
}

}  // namespace neardup
