// See reference_kernels.h.
#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu/base/device.h"
#include "gpu/base/portable.h"

#include "test/gpu/reference_kernels.h"

namespace {

using namespace neardup::gpu;

constexpr uint32_t kThreads = 128;

struct Parts {
  const char* text;  // width each
  uint32_t width;
  const uint16_t* length;
  const uint32_t* row;
  const uint16_t* most;
};

// row: m + 1 cells, `stride` apart, so that neighbouring threads have neighbouring cells.
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

// Grid: columns y in blocks of kThreads, rows x; block kThreads; shared: (width + 1) * kThreads cells, or in `global`
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
  const uint32_t d = distance(parts.text + size_t{x} * parts.width, parts.length[x],
                              parts.text + size_t{y} * parts.width, parts.length[y], row, stride);
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
  uint32_t width = 1;
  for (uint32_t i = 0; i < n; ++i) width = std::max<uint32_t>(width, job.parts[i].length);
  if (width > kOlderKernelWidth) throw neardup::Error(neardup::Errc::too_large, "a part is too long for this kernel");
  std::vector<char> text(size_t{n} * width);
  std::vector<uint16_t> length(n);
  std::vector<uint32_t> row(n);
  for (uint32_t i = 0; i < n; ++i) {
    length[i] = job.parts[i].length;
    row[i] = job.parts[i].row;
    std::memcpy(text.data() + size_t{i} * width, job.parts[i].text, length[i]);
  }
  const std::vector<uint16_t> most(job.most_by_sum, job.most_by_sum + 2 * width + 1);
  const DeviceBuffer<char> d_text = on_device(text);
  const DeviceBuffer<uint16_t> d_length = on_device(length);
  const DeviceBuffer<uint32_t> d_row = on_device(row);
  const DeviceBuffer<uint16_t> d_most = on_device(most);
  constexpr uint32_t kRoom = 1 << 22;
  DeviceBuffer<Pair> found(kRoom);
  DeviceBuffer<uint32_t> count(1);
  check(cudaMemset(count.data(), 0, 4), "cudaMemset");
  const Parts parts{d_text.data(), width, d_length.data(), d_row.data(), d_most.data()};
  const List<Pair> list{found.data(), count.data(), kRoom};
  const uint32_t columns = (n - 1) / kThreads + 1;
  // As many rows at a time as keep the global tables below 2 GB.
  const uint32_t rows_at_once = std::clamp<uint32_t>(
      static_cast<uint32_t>((uint64_t{2} << 30) / (uint64_t{columns} * kThreads * (width + 1) * 2)), 1,
      std::min(n, 65535u));
  DeviceBuffer<uint16_t> global(shared ? 0 : size_t{rows_at_once} * columns * kThreads * (width + 1));
  const Stream stream;
  Event began(true);
  Event ended(true);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  began.record(stream);
  for (uint32_t x = 0; x < n; x += rows_at_once) {
    const dim3 grid(columns, std::min(rows_at_once, n - x));
    if (shared)
      compare<true><<<grid, kThreads, (width + 1) * kThreads * 2, stream.get()>>>(parts, x, n, nullptr, list);
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

// ---------------------------------------------------------------- words

namespace {

constexpr uint32_t kSide = 16;

// Grid: columns j, rows i of the tile in squares of kSide; block kSide * kSide.
__global__ void reduced_columns(const uint16_t* matrix, uint32_t n, uint32_t columns, uint32_t first, uint32_t rows,
                                uint32_t* out) {
  __shared__ uint32_t of_i[kSide][kSide + 1];
  __shared__ uint32_t of_j[kSide][kSide + 1];
  const uint32_t x = threadIdx.x % kSide;
  const uint32_t y = threadIdx.x / kSide;
  const uint32_t i_first = first + blockIdx.y * kSide;
  const uint32_t j_first = blockIdx.x * kSide;
  if (j_first + kSide <= i_first) return;
  const uint32_t i = i_first + y;
  const uint32_t j = j_first + x;
  uint32_t sum = 0;
  for (uint32_t c = 0; c < columns; c += kSide) {
    of_i[y][x] = i < n && c + x < columns ? matrix[size_t{i} * columns + c + x] : 0;
    of_j[y][x] = j_first + y < n && c + x < columns ? matrix[size_t{j_first + y} * columns + c + x] : 0;
    __syncthreads();
    for (uint32_t k = 0; k < kSide; ++k) {
      const uint32_t a = of_i[y][k];
      const uint32_t b = of_j[x][k];
      if (a != 0 && b != 0) sum += a + b;
    }
    __syncthreads();
  }
  if (i < first + rows && j < n && j > i) out[size_t{i - first} * n + j] = sum;
}

// Grid: words i; block 256. spread: `features` values for each word of the grid, cleared.
__global__ void compressed_rows(const uint64_t* begin, const uint32_t* features, const uint16_t* values, uint32_t width,
                                uint32_t n, uint32_t first, uint16_t* spread, uint32_t* out) {
  const uint32_t i = first + blockIdx.x;
  uint16_t* const mine = spread + size_t{blockIdx.x} * width;
  for (uint64_t e = begin[i] + threadIdx.x; e < begin[i + 1]; e += blockDim.x) mine[features[e]] = values[e];
  __syncthreads();
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t j = i + 1 + threadIdx.x / 32; j < n; j += blockDim.x / 32) {
    uint32_t sum = 0;
    for (uint64_t e = begin[j] + lane; e < begin[j + 1]; e += 32) {
      const uint32_t a = mine[features[e]];
      if (a != 0) sum += a + values[e];
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) out[size_t{blockIdx.x} * n + j] = sum;
  }
}

}  // namespace

void older_word_numerators(const NeardupGpuWordRows& rows, uint32_t features, bool compressed,
                           std::vector<uint32_t>* numerators, uint32_t* columns, double* ms) {
  const uint32_t n = rows.rows;
  const uint64_t base = rows.begin[0];
  const uint64_t entries = rows.begin[n] - base;
  // The columns that are left get new numbers.
  std::vector<uint32_t> number(features);
  for (uint64_t e = 0; e < entries; ++e) ++number[rows.features[base + e]];
  uint32_t width = 0;
  for (uint32_t& f : number) f = f > 1 ? width++ : UINT32_MAX;
  if (columns != nullptr) *columns = width;
  if (numerators != nullptr) numerators->assign(size_t{n} * n, 0);
  if (ms != nullptr) *ms = 0;
  if (n < 2 || entries == 0 || (!compressed && width == 0)) return;

  DeviceBuffer<uint16_t> matrix(compressed ? 0 : size_t{n} * width);
  DeviceBuffer<uint64_t> d_begin(compressed ? size_t{n} + 1 : 0);
  DeviceBuffer<uint32_t> d_features(compressed ? entries : 0);
  DeviceBuffer<uint16_t> d_values(compressed ? entries : 0);
  if (compressed) {
    std::vector<uint64_t> begin(rows.begin, rows.begin + n + 1);
    for (uint64_t& b : begin) b -= base;
    check(cudaMemcpy(d_begin.data(), begin.data(), d_begin.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(d_features.data(), rows.features + base, d_features.bytes(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    check(cudaMemcpy(d_values.data(), rows.values + base, d_values.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  } else {
    std::vector<uint16_t> row(width);
    for (uint32_t i = 0; i < n; ++i) {
      std::fill(row.begin(), row.end(), uint16_t{0});
      for (uint64_t e = rows.begin[i]; e < rows.begin[i + 1]; ++e)
        if (number[rows.features[e]] != UINT32_MAX) row[number[rows.features[e]]] = rows.values[e];
      check(cudaMemcpy(matrix.data() + size_t{i} * width, row.data(), size_t{width} * 2, cudaMemcpyHostToDevice),
            "cudaMemcpy");
    }
  }
  const uint32_t rows_at_once = std::min(n, 1024u);
  DeviceBuffer<uint32_t> out(size_t{rows_at_once} * n);
  DeviceBuffer<uint16_t> spread(compressed ? size_t{rows_at_once} * features : 0);
  const Stream stream;
  double took_all = 0;
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (uint32_t first = 0; first < n; first += rows_at_once) {
    const uint32_t some = std::min(rows_at_once, n - first);
    Event began(true);
    Event ended(true);
    began.record(stream);
    if (compressed) {
      check(cudaMemsetAsync(spread.data(), 0, spread.bytes(), stream.get()), "cudaMemsetAsync");
      compressed_rows<<<some, 256, 0, stream.get()>>>(d_begin.data(), d_features.data(), d_values.data(), features, n,
                                                      first, spread.data(), out.data());
    } else {
      reduced_columns<<<dim3((n - 1) / kSide + 1, (some - 1) / kSide + 1), kSide * kSide, 0, stream.get()>>>(
          matrix.data(), n, width, first, some, out.data());
    }
    check_launch("older_word_numerators");
    ended.record(stream);
    stream.wait();
    float took = 0;
    check(cudaEventElapsedTime(&took, began.get(), ended.get()), "cudaEventElapsedTime");
    took_all += took;
    if (numerators == nullptr) continue;
    std::vector<uint32_t> numbers(size_t{some} * n);
    check(cudaMemcpy(told.data(), out.data(), told.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (uint32_t i = 0; i < some; ++i)
      for (uint32_t j = first + i + 1; j < n; ++j) (*numerators)[size_t{first + i} * n + j] = told[size_t{i} * n + j];
  }
  if (ms != nullptr) *ms = took_all;
}
