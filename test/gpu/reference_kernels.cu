// See reference_kernels.h.
#include <algorithm>
#include <cstring>

#include "gpu/device.h"
#include "gpu/portable.h"
#include "test/gpu/reference_kernels.h"

namespace {

using namespace neardup::gpu;

constexpr uint32_t kLength = 64;
constexpr uint32_t kThreads = 128;

struct Parts {
  const char* text;  // kLength each
  const uint16_t* length;
  const uint32_t* row;
  const uint16_t* most;
};

// row: kLength + 1 cells, `stride` apart, so that neighbouring threads have neighbouring cells.
__device__ uint32_t distance(const char* a, uint32_t n, const char* b, uint32_t m, uint16_t* row, uint32_t stride) {
  for (uint32_t j = 0; j <= m; ++j) row[j * stride] = static_cast<uint16_t>(j);
  for (uint32_t i = 1; i <= n; ++i) {
    uint32_t diagonal = row[0];
    row[0] = static_cast<uint16_t>(i);
    for (uint32_t j = 1; j <= m; ++j) {
      const uint32_t above = row[j * stride];
      const uint32_t left = row[(j - 1) * stride];
      const uint32_t kept = diagonal + (a[i - 1] != b[j - 1]);
      row[j * stride] = static_cast<uint16_t>(min(min(above, left) + 1, kept));
      diagonal = above;
    }
  }
  return row[m * stride];
}

// Grid: columns y in blocks of kThreads, rows x; block kThreads; shared: (kLength + 1) * kThreads cells, or in `global`
// as many for each thread of the grid.
template <bool kShared>
__global__ void compare(Parts parts, uint32_t x_first, uint32_t n, uint16_t* global, List<Pair> found) {
  extern __shared__ uint16_t rows[];
  const uint32_t x = x_first + blockIdx.y;
  const uint32_t y = blockIdx.x * kThreads + threadIdx.x;
  if (y >= n || y <= x) return;
  const uint32_t sum = parts.length[x] + parts.length[y];
  uint16_t* row = rows + threadIdx.x;
  uint32_t stride = kThreads;
  if (!kShared) {
    stride = gridDim.x * gridDim.y * kThreads;
    row = global + (size_t{blockIdx.y} * gridDim.x + blockIdx.x) * kThreads + threadIdx.x;
  }
  const uint32_t d = distance(parts.text + size_t{x} * kLength, parts.length[x], parts.text + size_t{y} * kLength,
                              parts.length[y], row, stride);
  if (d > parts.most[sum]) return;
  const uint32_t a = parts.row[x];
  const uint32_t b = parts.row[y];
  append(found, Pair{min(a, b), max(a, b), d << 16 | sum});
}

template <class T>
DeviceBuffer<T> on_device(const std::vector<T>& from) {
  DeviceBuffer<T> out(from.size());
  check(cudaMemcpy(out.data(), from.data(), out.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return out;
}

}  // namespace

std::vector<NeardupGpuPair> older_kernel_pairs(const NeardupGpuJob& job, bool shared, double* ms) {
  const uint32_t n = job.count;
  std::vector<char> text(size_t{n} * kLength);
  std::vector<uint16_t> length(n);
  std::vector<uint32_t> row(n);
  for (uint32_t i = 0; i < n; ++i) {
    length[i] = job.parts[i].length;
    row[i] = job.parts[i].row;
    std::memcpy(text.data() + size_t{i} * kLength, job.parts[i].text, std::min<uint32_t>(length[i], kLength));
  }
  const std::vector<uint16_t> most(job.most_by_sum, job.most_by_sum + 2 * kLength + 1);
  const DeviceBuffer<char> d_text = on_device(text);
  const DeviceBuffer<uint16_t> d_length = on_device(length);
  const DeviceBuffer<uint32_t> d_row = on_device(row);
  const DeviceBuffer<uint16_t> d_most = on_device(most);
  constexpr uint32_t kRoom = 1 << 22;
  DeviceBuffer<Pair> found(kRoom);
  DeviceBuffer<uint32_t> count(1);
  check(cudaMemset(count.data(), 0, 4), "cudaMemset");
  const Parts parts{d_text.data(), d_length.data(), d_row.data(), d_most.data()};
  const List<Pair> list{found.data(), count.data(), kRoom};
  const uint32_t columns = (n - 1) / kThreads + 1;
  // As many rows at a time as keep the global tables below 2 GB.
  const uint32_t rows_at_once = std::clamp<uint32_t>(
      static_cast<uint32_t>((uint64_t{2} << 30) / (uint64_t{columns} * kThreads * (kLength + 1) * 2)), 1,
      std::min(n, 65535u));
  DeviceBuffer<uint16_t> global(shared ? 0 : size_t{rows_at_once} * columns * kThreads * (kLength + 1));
  const Stream stream;
  Event began(true);
  Event ended(true);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  began.record(stream);
  for (uint32_t x = 0; x < n; x += rows_at_once) {
    const dim3 grid(columns, std::min(rows_at_once, n - x));
    if (shared)
      compare<true><<<grid, kThreads, (kLength + 1) * kThreads * 2, stream.get()>>>(parts, x, n, nullptr, list);
    else
      compare<false><<<grid, kThreads, 0, stream.get()>>>(parts, x, n, global.data(), list);
    check_launch("compare");
  }
  ended.record(stream);
  stream.wait();
  float took = 0;
  check(cudaEventElapsedTime(&took, began.get(), ended.get()), "cudaEventElapsedTime");
  if (ms != nullptr) *ms = took;
  uint32_t told = 0;
  check(cudaMemcpy(&told, count.data(), 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (told > kRoom) throw neardup::Error(neardup::Errc::too_large, "more pairs than there is room for");
  std::vector<NeardupGpuPair> out(told);
  if (told != 0) check(cudaMemcpy(out.data(), found.data(), told * sizeof(Pair), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return out;
}
