// See cublas.h. Functions and numbers are declared here, so that the module builds without cuBLAS, too; they are those
// of every version from 11 on.
#include <dlfcn.h>
#include <string>

#include "gpu/base/cublas.h"
#include "gpu/base/memory.h"

namespace neardup::gpu {
namespace {

// cublas_api.h and library_types.h.
constexpr int kTransposed = 1;   // CUBLAS_OP_T
constexpr int kAsIs = 0;         // CUBLAS_OP_N
constexpr int kInt8 = 3;         // CUDA_R_8I
constexpr int kInt32 = 10;       // CUDA_R_32I
constexpr int kCompute32 = 72;   // CUBLAS_COMPUTE_32I
constexpr int kAnyWay = -1;      // CUBLAS_GEMM_DEFAULT
constexpr int kAllocFailed = 3;  // CUBLAS_STATUS_ALLOC_FAILED
constexpr int kLeastVersion = 110000;

struct Library {
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*set_stream)(void*, cudaStream_t) = nullptr;
  int (*gemm)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int type_a,
              int lda, const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc, int compute,
              int algorithm) = nullptr;
  int (*get_version)(void*, int*) = nullptr;

  Library() {
    // Never closed again: like the CUDA runtime it leaves exit handlers behind.
    void* library = nullptr;
    // The one of this module's CUDA comes first: a newer one may want a newer driver.
    const std::string own = "libcublas.so." + std::to_string(CUDART_VERSION / 1000);
    for (const char* name : {own.c_str(), "libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"}) {
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) return;  // not installed
    get_version = reinterpret_cast<decltype(get_version)>(dlsym(library, "cublasGetVersion_v2"));
    create = reinterpret_cast<decltype(create)>(dlsym(library, "cublasCreate_v2"));
    destroy = reinterpret_cast<decltype(destroy)>(dlsym(library, "cublasDestroy_v2"));
    set_stream = reinterpret_cast<decltype(set_stream)>(dlsym(library, "cublasSetStream_v2"));
    gemm = reinterpret_cast<decltype(gemm)>(dlsym(library, "cublasGemmEx"));
    if (get_version == nullptr || destroy == nullptr || set_stream == nullptr || gemm == nullptr) create = nullptr;
  }
};

const Library& library() {
  static const Library the_library;
  return the_library;
}

}  // namespace

CublasProducts::CublasProducts() {
  const Library& l = library();
  if (l.create == nullptr) return;
  if (l.create(&handle_) != 0) {
    handle_ = nullptr;
    return;
  }
  try {
    int version = 0;
    if (l.get_version(handle_, &version) == 0 && version >= kLeastVersion && multiplies_right()) return;
  } catch (...) {
    static_cast<void>(l.destroy(handle_));
    throw;
  }
  static_cast<void>(l.destroy(handle_));
  handle_ = nullptr;
  ignore(cudaGetLastError());
}

CublasProducts::~CublasProducts() {
  if (handle_ != nullptr) static_cast<void>(library().destroy(handle_));
}

// Numbers of both signs and both ends, all sums different; added once more to themselves.
bool CublasProducts::multiplies_right() {
  constexpr uint32_t kSide = 32;
  constexpr uint32_t kLong = 64;
  const PinnedBuffer<int8_t> in(2 * kSide * kLong);
  const PinnedBuffer<int32_t> out(kSide * kSide);
  for (int i = 0; i < static_cast<int>(in.size()); ++i)
    in[static_cast<size_t>(i)] = static_cast<int8_t>(i % 3 == 0 ? -128 : i * i % 251 - 125);
  const DeviceBuffer<int8_t> there(in.size());
  const DeviceBuffer<int32_t> product(out.size());
  const Stream stream;
  check(cudaMemcpyAsync(there.data(), in.data(), in.bytes(), cudaMemcpyHostToDevice, stream.get()), "cudaMemcpyAsync");
  const int8_t* const columns = there.data() + kSide * kLong;
  bool right = true;
  try {
    for (const bool add : {false, true})
      multiply(stream, there.data(), kSide, columns, kSide, kLong, kLong, product.data(), kSide, add);
  } catch (const NoMemory&) {
    throw;
  } catch (const Error&) {
    right = false;
  }
  check(cudaMemcpyAsync(out.data(), product.data(), out.bytes(), cudaMemcpyDeviceToHost, stream.get()),
        "cudaMemcpyAsync");
  stream.wait();
  for (uint32_t r = 0; r < kSide; ++r) {
    for (uint32_t c = 0; c < kSide; ++c) {
      int32_t sum = 0;
      for (uint32_t i = 0; i < kLong; ++i) sum += 2 * in[r * kLong + i] * in[(kSide + c) * kLong + i];
      right = right && out[r * kSide + c] == sum;
    }
  }
  return right;
}

// cuBLAS has columns where we have rows: there it is columns' * rows, of m by n.
void CublasProducts::multiply(const Stream& stream, const int8_t* rows, uint32_t n, const int8_t* columns, uint32_t m,
                              uint32_t k, uint32_t ld, int32_t* out, uint32_t out_ld, bool add) {
  const Library& l = library();
  const int32_t one = 1;
  const int32_t beta = add ? 1 : 0;
  int status = l.set_stream(handle_, stream.get());
  if (status == 0)
    status = l.gemm(handle_, kTransposed, kAsIs, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), &one,
                    columns, kInt8, static_cast<int>(ld), rows, kInt8, static_cast<int>(ld), &beta, out, kInt32,
                    static_cast<int>(out_ld), kCompute32, kAnyWay);
  if (status == kAllocFailed) throw NoMemory("cublasGemmEx failed: no memory");
  if (status != 0) throw Error(Errc::device, "cublasGemmEx failed: status " + std::to_string(status));
}

}  // namespace neardup::gpu
