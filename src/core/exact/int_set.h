// Sets of integers as ascending arrays without repeats. Their measures: core/kinds/set_kind.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace neardup {

// A set whose bytes need no alignment: int64_t, ascending, without repeats.
struct SetView {
  const uint8_t* bytes = nullptr;
  size_t n = 0;

  int64_t operator[](size_t i) const noexcept {
    int64_t v;
    std::memcpy(&v, bytes + i * sizeof v, sizeof v);
    return v;
  }
};

inline SetView set_view(const int64_t* elements, size_t n) noexcept {
  return {reinterpret_cast<const uint8_t*>(elements), n};
}

// Sorts the n elements ascending and drops repeats; in place. Returns how many are left. Costs one pass where they are
// a set already.
size_t make_set(int64_t* elements, size_t n) noexcept;

size_t common_elements(const SetView& a, const SetView& b) noexcept;
inline size_t common_elements(const int64_t* a, size_t n, const int64_t* b, size_t m) noexcept {
  return common_elements(set_view(a, n), set_view(b, m));
}

}  // namespace neardup
