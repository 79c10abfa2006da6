// Sorting and summing on a CUDA device, by CUB, which comes with the CUDA toolkit.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "gpu/base/cuda_gpu.h"

namespace neardup::gpu {

uint32_t CudaGpu::sort(Stream& stream, Buffer<uint8_t>& temporary, uint32_t* keys, uint32_t* keys_out,
                       uint32_t* positions, uint32_t* positions_out, uint32_t n) const {
  cub::DoubleBuffer<uint32_t> k(keys, keys_out);
  cub::DoubleBuffer<uint32_t> p(positions, positions_out);
  size_t bytes = temporary.bytes();
  check(cub::DeviceRadixSort::SortPairs(temporary.data(), bytes, k, p, n, 0, 32, stream.get()),
        "cub::DeviceRadixSort::SortPairs");
  // Keys and positions change places together.
  return k.Current() == keys ? 0 : 1;
}

void CudaGpu::sum(Stream& stream, Buffer<uint8_t>& temporary, uint64_t* counts, uint32_t n) const {
  size_t bytes = temporary.bytes();
  check(cub::DeviceScan::InclusiveSum(temporary.data(), bytes, counts, counts, n, stream.get()),
        "cub::DeviceScan::InclusiveSum");
}

size_t CudaGpu::temporary_bytes(uint32_t n) const {
  cub::DoubleBuffer<uint32_t> none;
  uint64_t* counts = nullptr;
  size_t sorting = 0;
  size_t summing = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, sorting, none, none, n), "cub::DeviceRadixSort::SortPairs");
  check(cub::DeviceScan::InclusiveSum(nullptr, summing, counts, counts, n), "cub::DeviceScan::InclusiveSum");
  return std::max(sorting, summing);
}

}  // namespace neardup::gpu
