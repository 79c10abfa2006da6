// See cuda_gpu.h.
#include "gpu/base/cuda_gpu.h"

namespace neardup::gpu {
namespace {

// The oldest GPUs that the Makefile builds code for.
constexpr int kLeastMajor = 7;
constexpr int kLeastMinor = 5;

constexpr unsigned kSelfCheckThreads = 64;

__host__ __device__ constexpr uint32_t self_check_value(uint32_t i) { return i * 2654435761u + 1; }

// Grid 1, block kSelfCheckThreads, no shared memory; out holds kSelfCheckThreads values.
__global__ void self_check(uint32_t* out) { out[threadIdx.x] = self_check_value(threadIdx.x); }

}  // namespace

void try_device() {
  const Stream stream;
  const DeviceBuffer<uint32_t> on_device(kSelfCheckThreads);
  const PinnedBuffer<uint32_t> on_host(kSelfCheckThreads);
  std::memset(on_host.data(), 0, on_host.bytes());
  self_check<<<1, kSelfCheckThreads, 0, stream.get()>>>(on_device.data());
  check_launch("self_check");
  check(cudaMemcpyAsync(on_host.data(), on_device.data(), on_device.bytes(), cudaMemcpyDeviceToHost, stream.get()),
        "cudaMemcpyAsync");
  stream.wait();
  for (uint32_t i = 0; i < kSelfCheckThreads; ++i) {
    if (on_host[i] != self_check_value(i)) throw Error(Errc::device, "the GPU computed a wrong answer");
  }
}

std::string too_old(const cudaDeviceProp& properties) {
  if (properties.major * 10 + properties.minor >= kLeastMajor * 10 + kLeastMinor) return {};
  return "compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor) +
         " is below " + std::to_string(kLeastMajor) + "." + std::to_string(kLeastMinor);
}

CudaGpu::CudaGpu(int ordinal) : ordinal_(ordinal) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  const std::string reason = too_old(properties);
  if (!reason.empty()) throw Error(Errc::device, reason);
  shared_bytes_ = static_cast<uint32_t>(properties.sharedMemPerBlockOptin);
  use();
  try_device();
}

uint64_t CudaGpu::free_memory() const {
  use();
  size_t free = 0;
  size_t all = 0;
  check(cudaMemGetInfo(&free, &all), "cudaMemGetInfo");
  return free;
}

}  // namespace neardup::gpu
