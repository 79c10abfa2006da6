// A CUDA device as searches use one: memory, streams, kernels written for portable.h, sorting and summing (sort.cu).
#pragma once

#include <cstdint>
#include <cuda_runtime.h>
#include <string>

#include "gpu/base/cublas.h"
#include "gpu/base/device.h"
#include "gpu/base/portable.h"

namespace neardup::gpu {

// The thread's view of its block: see portable.h.
class CudaBlock {
 public:
  template <class T>
  class PerThread {
   public:
    NEARDUP_HD T& operator()(uint32_t) { return value_; }

   private:
    T value_;
  };

  NEARDUP_HD explicit CudaBlock(unsigned char* shared) : shared_(shared) {}
  NEARDUP_HD unsigned char* shared() const { return shared_; }
#ifdef __CUDA_ARCH__
  __device__ uint32_t x() const { return blockIdx.x; }
  __device__ uint32_t y() const { return blockIdx.y; }
  template <class F>
  __device__ void each(F f) const {
    f(threadIdx.x);
    __syncthreads();
  }
#else
  // Never called: kernels do not run on the host.
  NEARDUP_HD uint32_t x() const { return 0; }
  NEARDUP_HD uint32_t y() const { return 0; }
  template <class F>
  NEARDUP_HD void each(F) const {}
#endif

 private:
  unsigned char* shared_;
};

// Why no search can run on a device: its compute capability; empty where one can.
std::string too_old(const cudaDeviceProp& properties);

// Proves that memory, a copy and this module's own code work on the current device. Throws when they do not.
void try_device();

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads) run_kernel(const Kernel kernel) {
  extern __shared__ __align__(16) unsigned char shared[];
  CudaBlock block(shared);
  kernel(block);
}

class CudaGpu {
 public:
  // Makes the device's context unless the process has one there, and shows that code runs in it.
  explicit CudaGpu(int ordinal);

  static bool out_of_memory(const Error& e) noexcept {
    const auto* cuda = dynamic_cast<const CudaError*>(&e);
    return cuda != nullptr && cuda->out_of_memory();
  }

  template <class T>
  struct Buffer : DeviceBuffer<T> {
    Buffer() = default;
    Buffer(CudaGpu&, size_t n) : DeviceBuffer<T>(n) {}
  };
  template <class T>
  struct Pinned : PinnedBuffer<T> {
    Pinned() = default;
    Pinned(CudaGpu&, size_t n) : PinnedBuffer<T>(n) {}
  };
  struct Stream : gpu::Stream {
    explicit Stream(CudaGpu&) {}
  };
  struct Event : gpu::Event {
    explicit Event(CudaGpu&) {}
  };

  // Serves one stream; kept from one use to the next, because making one takes long.
  struct Multiplier : CublasProducts {
    explicit Multiplier(CudaGpu&) {}
  };

  void use() const { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }
  uint32_t shared_bytes() const noexcept { return shared_bytes_; }
  // Bytes, now.
  uint64_t free_memory() const;

  void copy_in(Stream& stream, void* to, const void* from, size_t n) const {
    check(cudaMemcpyAsync(to, from, n, cudaMemcpyHostToDevice, stream.get()), "cudaMemcpyAsync");
  }
  void copy_out(Stream& stream, void* to, const void* from, size_t n) const {
    check(cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToHost, stream.get()), "cudaMemcpyAsync");
  }
  void copy(Stream& stream, void* to, const void* from, size_t n) const {
    check(cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, stream.get()), "cudaMemcpyAsync");
  }
  void clear(Stream& stream, void* to, size_t n) const {
    check(cudaMemsetAsync(to, 0, n, stream.get()), "cudaMemsetAsync");
  }
  void record(Event& event, Stream& stream) const { event.record(stream); }
  bool done(Event& event) const { return event.done(); }
  void wait(Stream& stream) const { stream.wait(); }
  void wait_for(Stream& stream, Event& event) const {
    check(cudaStreamWaitEvent(stream.get(), event.get(), 0), "cudaStreamWaitEvent");
  }

  template <class Kernel>
  void launch(Stream& stream, const Kernel& kernel, uint32_t grid_x, uint32_t grid_y = 1) const {
    constexpr uint32_t shared = kernel_shared<Kernel>(0);
    // A kernel may have 48 KB without asking.
    if constexpr (shared > 48 * 1024)
      check(cudaFuncSetAttribute(run_kernel<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared)),
            "cudaFuncSetAttribute");
    run_kernel<Kernel><<<dim3(grid_x, grid_y), Kernel::kThreads, shared, stream.get()>>>(kernel);
    check_launch("kernel launch");
  }

  // Sorts keys with their positions, stably; they come to lie in the first arrays or in the others, which is returned.
  uint32_t sort(Stream& stream, Buffer<uint8_t>& temporary, uint32_t* keys, uint32_t* keys_out, uint32_t* positions,
                uint32_t* positions_out, uint32_t n) const;
  // Running sums, in place.
  void sum(Stream& stream, Buffer<uint8_t>& temporary, uint64_t* counts, uint32_t n) const;
  // The temporary memory that both need.
  size_t temporary_bytes(uint32_t n) const;

 private:
  template <class Kernel>
  static constexpr auto kernel_shared(int) -> decltype(Kernel::kShared) {
    return Kernel::kShared;
  }
  template <class Kernel>
  static constexpr uint32_t kernel_shared(long) {
    return 0;
  }

  int ordinal_;
  uint32_t shared_bytes_ = 0;
};

}  // namespace neardup::gpu
