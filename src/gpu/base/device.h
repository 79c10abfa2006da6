// check() for every CUDA runtime call, and move-only owners of streams, events and buffers. C++17, host code only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda_runtime_api.h>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/error.h"

namespace neardup::gpu {

// A CUDA call that failed. The text reads "cudaMalloc failed: out of memory (cudaErrorMemoryAllocation, api.cu:57)".
class CudaError : public Error {
 public:
  CudaError(cudaError_t status, std::string message) : Error(Errc::device, std::move(message)), status_(status) {}

  cudaError_t status() const noexcept { return status_; }
  bool out_of_memory() const noexcept { return status_ == cudaErrorMemoryAllocation; }

 private:
  cudaError_t status_;
};

// Throws CudaError unless status is cudaSuccess. call: the name of what was called, for the text.
// A failed call also leaves its code for the next cudaGetLastError(); it is taken away here, or the next
// launch would be blamed for it. What breaks a context for good (an illegal address) cannot be taken away: every
// later call on that context fails too, and only cudaDeviceReset or a new process helps.
inline void check(cudaError_t status, const char* call, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  const char* slash = std::strrchr(file, '/');
  throw CudaError(status, std::string(call) + " failed: " + cudaGetErrorString(status) + " (" +
                              cudaGetErrorName(status) + ", " + (slash == nullptr ? file : slash + 1) + ":" +
                              std::to_string(line) + ")");
}

// Called right after kernel<<<...>>>(...). Sees a launch that could not start; what goes wrong while the
// kernel runs comes out of the next call that waits for the stream.
inline void check_launch(const char* kernel, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  check(cudaGetLastError(), kernel, file, line);
}

// An owner's destructor must not throw, and must not leave its error for the next launch.
inline void ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}

// A handle of CUDA's that is destroyed with its one owner.
template <class Handle, cudaError_t (*kDestroy)(Handle)>
class OwnedHandle {
 public:
  ~OwnedHandle() {
    if (handle_ != nullptr) ignore(kDestroy(handle_));
  }
  OwnedHandle(OwnedHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  OwnedHandle& operator=(OwnedHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  Handle get() const noexcept { return handle_; }

 protected:
  OwnedHandle() = default;

  Handle handle_ = nullptr;
};

// A stream of the current device that does not wait for the legacy default stream.
class Stream : public OwnedHandle<cudaStream_t, cudaStreamDestroy> {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }

  // Waits until all work given to the stream is done. Only where the host reads a result.
  void wait() const { check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize"); }
};

// A mark in a stream. timing: elapsed time is wanted; without it waiting is cheaper.
class Event : public OwnedHandle<cudaEvent_t, cudaEventDestroy> {
 public:
  explicit Event(bool timing = false) {
    check(cudaEventCreateWithFlags(&handle_, timing ? cudaEventDefault : cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
  }

  void record(const Stream& stream) { check(cudaEventRecord(handle_, stream.get()), "cudaEventRecord"); }

  // True if the stream has passed the mark. Never waits, so that a host loop can look for a cancel meanwhile.
  bool done() const {
    const cudaError_t status = cudaEventQuery(handle_);
    if (status == cudaErrorNotReady) {
      ignore(status);
      return false;
    }
    check(status, "cudaEventQuery");
    return true;
  }
};

struct DeviceMemory {
  static constexpr bool kOnHost = false;
  static void allocate(void** data, size_t bytes) { check(cudaMalloc(data, bytes), "cudaMalloc"); }
  static cudaError_t release(void* data) noexcept { return cudaFree(data); }
};
struct PinnedMemory {
  static constexpr bool kOnHost = true;
  static void allocate(void** data, size_t bytes) { check(cudaMallocHost(data, bytes), "cudaMallocHost"); }
  static cudaError_t release(void* data) noexcept { return cudaFreeHost(data); }
};

// n elements of uninitialised memory. n = 0 owns nothing.
template <class T, class Memory>
class OwnedBuffer {
 public:
  OwnedBuffer() = default;
  explicit OwnedBuffer(size_t n) : size_(n) {
    static_assert(std::is_trivially_copyable_v<T>, "device and pinned memory is copied byte by byte");
    if (n > SIZE_MAX / sizeof(T))
      throw Error(Errc::too_large, "buffer of " + std::to_string(n) + " elements is too large");
    if (n > 0) Memory::allocate(reinterpret_cast<void**>(&data_), n * sizeof(T));
  }
  ~OwnedBuffer() {
    if (data_ != nullptr) ignore(Memory::release(data_));
  }
  OwnedBuffer(OwnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  OwnedBuffer& operator=(OwnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  OwnedBuffer(const OwnedBuffer&) = delete;
  OwnedBuffer& operator=(const OwnedBuffer&) = delete;

  T* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  size_t bytes() const noexcept { return size_ * sizeof(T); }
  T& operator[](size_t i) const noexcept {
    static_assert(Memory::kOnHost);
    return data_[i];
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// On the device that is current when it is made.
template <class T>
using DeviceBuffer = OwnedBuffer<T, DeviceMemory>;
// Page-locked memory of the host, the kind that a stream copies from and to without waiting.
template <class T>
using PinnedBuffer = OwnedBuffer<T, PinnedMemory>;

}  // namespace neardup::gpu
