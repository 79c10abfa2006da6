// Fills the table of neardup_gpu.h. Every entry catches everything and returns a status.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gpu/base/cuda_gpu.h"
#include "gpu/base/device.h"
#include "gpu/base/memory.h"
#include "gpu/base/slots.h"
#include "gpu/neardup_gpu.h"
#include "gpu/pairs/check_job.h"
#include "gpu/pairs/search.h"
#include "gpu/words/words_search.h"

namespace neardup::gpu {
namespace {

void put_text(char* to, uint32_t size, const char* text) noexcept {
  if (to != nullptr && size > 0) std::snprintf(to, size, "%s", text);
}

// A failure that is known before any CUDA call fails: it carries the status it stands for.
struct Refusal {
  NeardupGpuStatus status;
  std::string reason;
};

// The one place where C++ turns into C: runs body and translates whatever leaves it.
template <class Body>
NeardupGpuStatus guarded(char* error, uint32_t error_size, Body body) noexcept {
  put_text(error, error_size, "");
  try {
    body();
    return NEARDUP_GPU_OK;
  } catch (const Refusal& e) {
    put_text(error, error_size, e.reason.c_str());
    return e.status;
  } catch (const NoMemory& e) {
    put_text(error, error_size, e.what());
    return NEARDUP_GPU_OUT_OF_MEMORY;
  } catch (const CudaError& e) {
    put_text(error, error_size, e.what());
    return e.out_of_memory() ? NEARDUP_GPU_OUT_OF_MEMORY : NEARDUP_GPU_DEVICE_ERROR;
  } catch (const Error& e) {
    put_text(error, error_size, e.what());
    if (e.code() == Errc::invalid_argument) return NEARDUP_GPU_INVALID_ARGUMENT;
    return e.code() == Errc::device ? NEARDUP_GPU_DEVICE_ERROR : NEARDUP_GPU_INTERNAL;
  } catch (const std::bad_alloc&) {
    put_text(error, error_size, "out of host memory");
    return NEARDUP_GPU_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    put_text(error, error_size, e.what());
  } catch (...) {
    put_text(error, error_size, "unknown exception");
  }
  return NEARDUP_GPU_INTERNAL;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The CUDA version that the driver was made for, 0 when there is no driver.
int driver_cuda_version() {
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return version;
}

// The driver's own release, such as "580.82.07": the CUDA runtime does not know it, the kernel does. "" if it does not
// say.
std::string driver_release() {
  char line[64] = "";
  std::FILE* file = std::fopen("/sys/module/nvidia/version", "re");
  if (file == nullptr) return {};
  if (std::fgets(line, sizeof line, file) == nullptr) line[0] = '\0';
  std::fclose(file);
  line[std::strcspn(line, "\r\n")] = '\0';
  return line;
}

[[noreturn]] void refuse_without_driver() {
  throw Refusal{NEARDUP_GPU_NO_DRIVER, "no NVIDIA driver on this machine (libcuda.so.1 is missing or does not answer)"};
}

uint32_t device_count() {
  const int driver = driver_cuda_version();
  if (driver == 0) refuse_without_driver();
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    ignore(status);
    throw Refusal{NEARDUP_GPU_NO_DRIVER, "the NVIDIA driver is too old: it supports CUDA " + version_text(driver) +
                                             ", the GPU module was built with CUDA " + version_text(CUDART_VERSION)};
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count <= 0)) {
    ignore(status);
    throw Refusal{NEARDUP_GPU_NO_DEVICE, "the NVIDIA driver shows no GPU to this process"};
  }
  check(status, "cudaGetDeviceCount");
  return static_cast<uint32_t>(count);
}

// True if anyone in this process has the device's primary context open, or if that cannot be found out, so that
// nobody's context is taken down. The runtime cannot be asked this; the driver library that it has loaded by now can.
bool context_is_open(int ordinal) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return true;
  const auto device_get = reinterpret_cast<CUresult (*)(CUdevice*, int)>(dlsym(driver, "cuDeviceGet"));
  const auto get_state =
      reinterpret_cast<CUresult (*)(CUdevice, unsigned int*, int*)>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  CUdevice device = 0;
  unsigned int flags = 0;
  int active = 0;
  const bool known = device_get != nullptr && get_state != nullptr && device_get(&device, ordinal) == CUDA_SUCCESS &&
                     get_state(device, &flags, &active) == CUDA_SUCCESS;
  dlclose(driver);
  return !known || active != 0;
}

// Takes the primary context down at the end of a scope, unless it was there before.
class BorrowedContext {
 public:
  explicit BorrowedContext(int ordinal) : keep_(context_is_open(ordinal)) {
    check(cudaSetDevice(ordinal), "cudaSetDevice");
  }
  ~BorrowedContext() {
    if (!keep_) ignore(cudaDeviceReset());
  }
  BorrowedContext(const BorrowedContext&) = delete;
  BorrowedContext& operator=(const BorrowedContext&) = delete;

 private:
  bool keep_;
};

NeardupGpuStatus api_driver(char* text, uint32_t text_size, char* error, uint32_t error_size) noexcept {
  put_text(text, text_size, "");
  return guarded(error, error_size, [&] {
    const int version = driver_cuda_version();
    if (version == 0) refuse_without_driver();
    const std::string release = driver_release();
    const std::string cuda = "CUDA " + version_text(version);
    put_text(text, text_size, (release.empty() ? cuda : release + ", " + cuda).c_str());
  });
}

NeardupGpuStatus api_device_count(uint32_t* count, char* error, uint32_t error_size) noexcept {
  return guarded(error, error_size, [&] {
    if (count == nullptr) throw Error(Errc::invalid_argument, "count must not be null");
    *count = 0;
    *count = device_count();
  });
}

NeardupGpuStatus api_device_info(uint32_t device, NeardupGpuDevice* info, char* error, uint32_t error_size) noexcept {
  return guarded(error, error_size, [&] {
    if (info == nullptr) throw Error(Errc::invalid_argument, "info must not be null");
    std::memset(info, 0, sizeof *info);
    const uint32_t count = device_count();
    if (device >= count) {
      throw Error(Errc::invalid_argument,
                  "device must be below " + std::to_string(count) + ": " + std::to_string(device));
    }
    const int ordinal = static_cast<int>(device);
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    info->device = device;
    info->memory_bytes = properties.totalGlobalMem;
    info->capability_major = properties.major;
    info->capability_minor = properties.minor;
    put_text(info->name, sizeof info->name, properties.name);

    const std::string reason = too_old(properties);
    if (!reason.empty()) {
      put_text(info->reason, sizeof info->reason, reason.c_str());
      return;
    }
    const NeardupGpuStatus tried = guarded(info->reason, sizeof info->reason, [&] {
      const BorrowedContext context(ordinal);
      try_device();
    });
    info->usable = tried == NEARDUP_GPU_OK ? 1 : 0;
  });
}

using Gpus = std::vector<std::unique_ptr<CudaGpu>>;

// The handle behind a NeardupGpuSearch, and behind a NeardupGpuWords; Work: Search or Words.
template <class Work>
struct Handle {
  NeardupGpuOptions options = {};
  Gpus gpus;
  double create_ms = 0;
  double start_ms = 0;
  double step_ms = 0;
  std::unique_ptr<Work> work;
};
using SearchHandle = Handle<Search>;
using WordsHandle = Handle<Words>;

// Adds its own duration to a sum, however it is left.
class Watch {
 public:
  explicit Watch(double& sum) : sum_(sum), began_(milliseconds()) {}
  ~Watch() { sum_ += milliseconds() - began_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  double& sum_;
  double began_;
};

SearchHandle& checked_handle(NeardupGpuSearch* search) {
  if (search == nullptr) throw Error(Errc::invalid_argument, "search must not be null");
  return *reinterpret_cast<SearchHandle*>(search);
}
WordsHandle& checked_handle(NeardupGpuWords* words) {
  if (words == nullptr) throw Error(Errc::invalid_argument, "words must not be null");
  return *reinterpret_cast<WordsHandle*>(words);
}

// The devices asked for that work.
Gpus devices_for(const NeardupGpuOptions& options) {
  Gpus out;
  std::string reason;
  bool full = false;
  const uint32_t count = device_count();
  for (uint32_t i = 0; i < std::min(count, 64u); ++i) {
    if (options.devices != 0 && (options.devices >> i & 1) == 0) continue;
    try {
      out.push_back(std::make_unique<CudaGpu>(static_cast<int>(i)));
    } catch (const Error& e) {
      full = full || CudaGpu::out_of_memory(e);
      if (reason.empty()) reason = "GPU " + std::to_string(i) + ": " + e.what();
    }
  }
  if (out.empty() && full) throw NoMemory(reason);  // another time there may be some
  if (out.empty()) throw Refusal{NEARDUP_GPU_NO_DEVICE, reason.empty() ? "none of the GPUs asked for is here" : reason};
  return out;
}

std::vector<CudaGpu*> pointers(const Gpus& gpus) {
  std::vector<CudaGpu*> out;
  for (const auto& gpu : gpus) out.push_back(gpu.get());
  return out;
}

// The memory that may be taken of a device.
uint64_t usable_memory(const NeardupGpuOptions& options, const CudaGpu& gpu) {
  const uint64_t free = gpu.free_memory();
  return options.memory_limit == 0 ? free - memory_reserve(free) : std::min(free, options.memory_limit);
}

// The memory that may be taken of each device.
uint64_t memory_for(const NeardupGpuOptions& options, const Gpus& gpus) {
  uint64_t limit = UINT64_MAX;
  for (const auto& gpu : gpus) limit = std::min(limit, usable_memory(options, *gpu));
  if (limit >> 20 == 0 && options.memory_limit == 0)
    throw NoMemory("too little memory of the GPU is free: " + std::to_string(gpus.front()->free_memory() >> 20) +
                   " MB");
  return limit;
}

// Drops full devices: all work in pieces of one size, and a device that others have filled would make them small for
// all.
void leave_full_ones(const NeardupGpuOptions& options, Gpus& gpus) {
  std::vector<uint64_t> free;  // read once: others take of it meanwhile, and one device must stay
  for (const auto& gpu : gpus) free.push_back(usable_memory(options, *gpu));
  const uint64_t most = *std::max_element(free.begin(), free.end());
  Gpus kept;
  for (size_t i = 0; i < gpus.size(); ++i)
    if (free[i] >= most / 4) kept.push_back(std::move(gpus[i]));
  gpus = std::move(kept);
}

// Makes what stands behind an opaque pointer; prepare(handle) does so, and its time counts.
template <class Work, class Opaque, class Prepare>
void create(const NeardupGpuOptions& options, Opaque** out, Prepare prepare) {
  auto handle = std::make_unique<Handle<Work>>();
  handle->options = options;
  {
    const Watch watch(handle->create_ms);
    handle->gpus = devices_for(options);
    prepare(*handle);
  }
  *out = reinterpret_cast<Opaque*>(handle.release());
}

NeardupGpuStatus api_search_create(const NeardupGpuOptions* options, NeardupGpuSearch** search, char* error,
                                   uint32_t error_size) noexcept {
  return guarded(error, error_size, [&] {
    if (search == nullptr || options == nullptr)
      throw Error(Errc::invalid_argument, "options and search must not be null");
    *search = nullptr;
    if (options->filter > NEARDUP_GPU_FILTER_LCS || options->way > NEARDUP_GPU_WAY_COMPARE)
      throw Error(Errc::invalid_argument, "no such filter or way");
    create<Search>(*options, search, [](SearchHandle&) {});
  });
}

NeardupGpuStatus api_search_start(NeardupGpuSearch* search, const NeardupGpuJob* job, char* error,
                                  uint32_t error_size) noexcept {
  return guarded(error, error_size, [&] {
    SearchHandle& handle = checked_handle(search);
    if (job == nullptr) throw Error(Errc::invalid_argument, "job must not be null");
    if (handle.work != nullptr) throw Error(Errc::invalid_argument, "the search was started before");
    check_job(*job);
    const Watch watch(handle.start_ms);
    leave_full_ones(handle.options, handle.gpus);
    const uint64_t limit = memory_for(handle.options, handle.gpus);
    const std::vector<CudaGpu*> gpus = pointers(handle.gpus);
    handle.work = job->kind == NEARDUP_GPU_MINHASH   ? make_minhash_search(gpus, *job, handle.options)
                  : job->kind == NEARDUP_GPU_SIMHASH ? make_simhash_search(gpus, *job, handle.options)
                                                     : make_ctph_search(gpus, *job, handle.options);
    handle.work->start(limit);
  });
}

// The next pairs of a search, or of a probe.
template <class Opaque>
NeardupGpuStatus api_step(Opaque* opaque, NeardupGpuPair* pairs, uint32_t max, uint32_t* count, double* done,
                          char* error, uint32_t error_size) noexcept {
  return guarded(error, error_size, [&] {
    auto& handle = checked_handle(opaque);
    if (pairs == nullptr || count == nullptr || done == nullptr || max == 0)
      throw Error(Errc::invalid_argument, "pairs, count and done must not be null, and max not 0");
    if (handle.work == nullptr) throw Error(Errc::invalid_argument, "the search was not started");
    *count = 0;
    const Watch watch(handle.step_ms);
    *count = handle.work->step(pairs, max, done);
  });
}

void api_search_stats(const NeardupGpuSearch* search, NeardupGpuStats* stats) noexcept {
  if (stats == nullptr) return;
  *stats = {};
  if (search == nullptr) return;
  const SearchHandle& handle = *reinterpret_cast<const SearchHandle*>(search);
  if (handle.work != nullptr) *stats = handle.work->stats;
  stats->create_ms = handle.create_ms;
  stats->start_ms = handle.start_ms;
  stats->step_ms = handle.step_ms;
}

void api_search_destroy(NeardupGpuSearch* search) noexcept { delete reinterpret_cast<SearchHandle*>(search); }

NeardupGpuStatus api_words_create(const NeardupGpuOptions* options, NeardupGpuWords** words, char* error,
                                  uint32_t error_size) noexcept {
  return guarded(error, error_size, [&] {
    if (words == nullptr || options == nullptr)
      throw Error(Errc::invalid_argument, "options and words must not be null");
    *words = nullptr;
    if (options->way > NEARDUP_GPU_WAY_COMPARE) throw Error(Errc::invalid_argument, "no such way");
    create<Words>(*options, words, [](WordsHandle& handle) {
      leave_full_ones(handle.options, handle.gpus);
      handle.work = make_words(pointers(handle.gpus), handle.options.way);
    });
  });
}

NeardupGpuStatus api_words_begin(NeardupGpuWords* words, const NeardupGpuWordBlock* block, char* error,
                                 uint32_t error_size) noexcept {
  return guarded(error, error_size, [&] {
    WordsHandle& handle = checked_handle(words);
    if (block == nullptr) throw Error(Errc::invalid_argument, "block must not be null");
    const Watch watch(handle.start_ms);
    handle.work->drop();
    handle.work->begin(*block, memory_for(handle.options, handle.gpus));
  });
}

NeardupGpuStatus api_words_probe(NeardupGpuWords* words, const NeardupGpuWordRows* rows, const float* least,
                                 char* error, uint32_t error_size) noexcept {
  return guarded(error, error_size, [&] {
    WordsHandle& handle = checked_handle(words);
    if (rows == nullptr || least == nullptr) throw Error(Errc::invalid_argument, "rows and least must not be null");
    const Watch watch(handle.step_ms);
    handle.work->probe(*rows, least);
  });
}

void api_words_stats(const NeardupGpuWords* words, NeardupGpuWordStats* stats) noexcept {
  if (stats == nullptr) return;
  *stats = {};
  if (words == nullptr) return;
  const WordsHandle& handle = *reinterpret_cast<const WordsHandle*>(words);
  *stats = handle.work->stats;
  stats->create_ms = handle.create_ms;
  stats->begin_ms = handle.start_ms;
  stats->step_ms = handle.step_ms;
}

void api_words_destroy(NeardupGpuWords* words) noexcept { delete reinterpret_cast<WordsHandle*>(words); }

constexpr NeardupGpuApi kApi = {
    NEARDUP_GPU_ABI,   sizeof(NeardupGpuApi), api_driver,      api_device_count, api_device_info,
    api_search_create, api_search_start,      api_step,        api_search_stats, api_search_destroy,
    api_words_create,  api_words_begin,       api_words_probe, api_step,         api_words_stats,
    api_words_destroy,
};

}  // namespace
}  // namespace neardup::gpu

extern "C" const NeardupGpuApi* neardup_gpu_get_api(void) { return &neardup::gpu::kApi; }
