// NumPy arrays that are made here, without NumPy's headers: Python imports it when such a result is asked for.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace neardup::python {

// Memory for an array of rows x columns; columns 0: of one dimension.
template <class T>
class NewArray {
 public:
  NewArray(size_t rows, size_t columns)
      : rows_(rows), columns_(columns), data_(new T[std::max<size_t>(rows * std::max<size_t>(columns, 1), 1)]) {}

  T* row(size_t i) noexcept { return data_.get() + i * std::max<size_t>(columns_, 1); }

  // The array, which owns the memory from now on. single: its only row, or its only number.
  nanobind::object release(bool single = false) {
    namespace nb = nanobind;
    T* data = data_.release();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    size_t shape[2] = {rows_, columns_};
    const size_t dimensions = columns_ == 0 ? 1 : 2;
    const size_t skipped = single && dimensions == 2 ? 1 : 0;
    nb::object out = nb::cast(nb::ndarray<nb::numpy, T>(data, dimensions - skipped, shape + skipped, owner));
    return single && dimensions == 1 ? nb::object(out[0]) : out;
  }

 private:
  size_t rows_;
  size_t columns_;
  std::unique_ptr<T[]> data_;
};

// A copy of n values as an array of one dimension.
template <class T, class From>
nanobind::object copy_array(const From* values, size_t n) {
  static_assert(sizeof(T) == sizeof(From));
  NewArray<T> out(n, 0);
  if (n > 0) std::memcpy(out.row(0), values, n * sizeof(T));
  return out.release();
}

}  // namespace neardup::python
