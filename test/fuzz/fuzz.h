// The base of all fuzz targets: a failed demand is a crash, and numbers are read from the input's front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "core/kernels/kernels.h"

#define DEMAND(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

namespace neardup::fuzz {

// The form of the kernels that the number names, or the best where this machine cannot run it: no input is passed over.
inline void choose_kernels(uint8_t number) {
  constexpr const char* kForms[] = {"scalar", "avx2", "avx512", "auto"};
  if (!force_kernels(kForms[number % 4])) force_kernels("auto");
}

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  // Zeros after the end.
  template <class T>
  T read() {
    T out{};
    const size_t n = sizeof(T) < size_ ? sizeof(T) : size_;
    if (n != 0) std::memcpy(&out, data_, n);
    data_ += n;
    size_ -= n;
    return out;
  }
  uint32_t below(uint32_t n) { return read<uint16_t>() % n; }

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  const uint8_t* data_;
  size_t size_;
};

// Memory of exactly this size.
struct Exact {
  explicit Exact(const std::string& s) : p(new uint8_t[s.size()]), size(s.size()) {
    std::copy(s.begin(), s.end(), p.get());
  }
  std::unique_ptr<uint8_t[]> p;
  size_t size;
};

}  // namespace neardup::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
