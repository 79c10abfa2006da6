// Test doubles behind the C boundary: what a GPU module may do to the extension, in the way that fake_kind.cpp says
// (other libraries in its place: fake_strangers.cpp). No CUDA: they stand in for it in test/t/100_gpu_absent.sh on
// machines with and without a GPU.
#include <cstdio>
#include <cstring>
#include <signal.h>

#include "gpu/neardup_gpu.h"

#include "test/gpu/fake_kind.h"
#include "test/gpu/fake_search.h"
#include "test/gpu/fake_words.h"

namespace {

using neardup::fake::Kind;
using neardup::fake::kKind;

constexpr char kNoDriver[] = "no NVIDIA driver on this machine (libcuda.so.1 is missing or does not answer)";

// Counted per process, to show what is asked twice and what is remembered.
unsigned counts, infos[3];

void put(char* to, uint32_t size, const char* text) {
  if (to != nullptr && size > 0) std::snprintf(to, size, "%s", text);
}

// Threads that the driver starts would inherit this mask.
bool signals_are_blocked() {
  sigset_t now;
  return pthread_sigmask(SIG_SETMASK, nullptr, &now) == 0 && sigismember(&now, SIGINT) == 1 &&
         sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGALRM) == 1;
}

NeardupGpuStatus driver(char* text, uint32_t size, char* error, uint32_t error_size) {
  if (kKind == Kind::no_driver) {
    put(text, size, "left over");
    put(error, error_size, kNoDriver);
    return NEARDUP_GPU_NO_DRIVER;
  }
  put(error, error_size, "");
  put(text, size, "999.10, CUDA 99.0");
  return NEARDUP_GPU_OK;
}

NeardupGpuStatus device_count(uint32_t* count, char* error, uint32_t error_size) {
  ++counts;
  if (kKind == Kind::no_driver) {
    *count = 5;
    put(error, error_size, kNoDriver);
    return NEARDUP_GPU_NO_DRIVER;
  }
  if (kKind == Kind::count_fails) {
    *count = 2;
    char text[NEARDUP_GPU_TEXT];
    std::snprintf(text, sizeof text, "cudaGetDeviceCount failed: unknown error, call %u", counts);
    put(error, error_size, text);
    return NEARDUP_GPU_DEVICE_ERROR;
  }
  put(error, error_size, "");
  *count = kKind == Kind::failing_device ? 3 : 2;
  return NEARDUP_GPU_OK;
}

NeardupGpuStatus device_info(uint32_t device, NeardupGpuDevice* info, char* error, uint32_t error_size) {
  put(error, error_size, "");
  std::memset(info, 0, sizeof *info);
  const unsigned call = device < 3 ? ++infos[device] : 0;
  char text[NEARDUP_GPU_TEXT];
  if (kKind == Kind::failing_device && device == 0) {
    std::memset(info, 0x41, sizeof *info);
    std::snprintf(text, sizeof text, "cudaGetDeviceProperties failed: GPU is lost, call %u", call);
    put(error, error_size, text);
    return NEARDUP_GPU_DEVICE_ERROR;
  }
  info->device = device;
  info->memory_bytes = uint64_t{24} << 30;
  info->capability_major = 9;
  info->capability_minor = static_cast<int32_t>(device);
  info->usable = 1;
  std::snprintf(info->name, sizeof info->name, "Fake GPU %u", device);
  if (!signals_are_blocked()) {
    info->usable = 0;
    put(info->reason, sizeof info->reason, "the caller has not blocked its signals");
  }
  if (kKind == Kind::failing_device && device == 1) {
    info->usable = 0;
    std::memset(info->name, '\xff', sizeof info->name);  // neither ASCII nor terminated
    std::snprintf(info->reason, sizeof info->reason, "self_check failed: no kernel image \xe2\x80\x94 call %u", call);
  }
  if (kKind == Kind::failing_device && device == 2) std::snprintf(info->name, sizeof info->name, "call %u", call);
  if (neardup::fake::searches != 0 && device == 0)
    std::snprintf(info->name, sizeof info->name, "Fake GPU 0, %d searches, %d open", neardup::fake::searches,
                  neardup::fake::open);
  return NEARDUP_GPU_OK;
}

void behave() {
  using neardup::fake::Behaviour;
  neardup::fake::behaviour = kKind == Kind::create_fails  ? Behaviour::create_fails
                             : kKind == Kind::lost        ? Behaviour::lost
                             : kKind == Kind::memory_once ? Behaviour::memory_once
                             : kKind == Kind::never_ends  ? Behaviour::never_ends
                                                          : Behaviour::works;
}

NeardupGpuStatus search_create(const NeardupGpuOptions* options, NeardupGpuSearch** search, char* error,
                               uint32_t size) {
  *search = nullptr;
  if (!signals_are_blocked()) {
    put(error, size, "the caller has not blocked its signals");
    return NEARDUP_GPU_INTERNAL;
  }
  behave();
  return neardup::fake::search_create(options, search, error, size);
}

// Blocked signals could not cancel a search.
NeardupGpuStatus search_step(NeardupGpuSearch* search, NeardupGpuPair* pairs, uint32_t max, uint32_t* count,
                             double* done, char* error, uint32_t size) {
  if (signals_are_blocked()) {
    put(error, size, "the caller has blocked its signals");
    return NEARDUP_GPU_INTERNAL;
  }
  return neardup::fake::search_step(search, pairs, max, count, done, error, size);
}

NeardupGpuStatus words_create(const NeardupGpuOptions* options, NeardupGpuWords** words, char* error, uint32_t size) {
  *words = nullptr;
  if (!signals_are_blocked()) {
    put(error, size, "the caller has not blocked its signals");
    return NEARDUP_GPU_INTERNAL;
  }
  behave();
  return neardup::fake::words_create(options, words, error, size);
}

NeardupGpuStatus words_step(NeardupGpuWords* words, NeardupGpuPair* pairs, uint32_t max, uint32_t* count, double* done,
                            char* error, uint32_t size) {
  if (signals_are_blocked()) {
    put(error, size, "the caller has blocked its signals");
    return NEARDUP_GPU_INTERNAL;
  }
  return neardup::fake::words_step(words, pairs, max, count, done, error, size);
}

const NeardupGpuApi api = {NEARDUP_GPU_ABI,
                           sizeof api,
                           driver,
                           device_count,
                           device_info,
                           search_create,
                           neardup::fake::search_start,
                           search_step,
                           neardup::fake::search_stats,
                           neardup::fake::search_destroy,
                           words_create,
                           neardup::fake::words_begin,
                           neardup::fake::words_probe,
                           words_step,
                           neardup::fake::words_stats,
                           neardup::fake::words_destroy};

}  // namespace

extern "C" const NeardupGpuApi* neardup_gpu_get_api(void) { return &api; }
