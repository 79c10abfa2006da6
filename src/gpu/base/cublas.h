// Products of matrices of int8 by cuBLAS, which is opened at run time and may be missing. C++17, host code only.
#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>

#include "gpu/base/device.h"

namespace neardup::gpu {

// One stream uses one of these. Made on the device that is current then.
class CublasProducts {
 public:
  // Opens the library on first use in the process, and shows that it computes right: else works() is false. Throws
  // CudaError where the device fails, NoMemory.
  CublasProducts();
  ~CublasProducts();
  CublasProducts(const CublasProducts&) = delete;
  CublasProducts& operator=(const CublasProducts&) = delete;

  bool works() const noexcept { return handle_ != nullptr; }

  // out[r][c] is, or with `add` goes up by, the sum over i < k of rows[r][i] * columns[c][i], in 32 bits: n rows, m
  // columns, all of `ld` bytes; rows of out are out_ld apart. All numbers are multiples of 16, pointers of 16 bytes.
  void multiply(const Stream& stream, const int8_t* rows, uint32_t n, const int8_t* columns, uint32_t m, uint32_t k,
                uint32_t ld, int32_t* out, uint32_t out_ld, bool add);

 private:
  bool multiplies_right();

  void* handle_ = nullptr;
};

}  // namespace neardup::gpu
