// See int_set.h.
#include "core/exact/int_set.h"

#include <algorithm>

namespace neardup {

size_t make_set(int64_t* elements, size_t n) noexcept {
  bool ascending = true;
  for (size_t i = 1; i < n; ++i) ascending &= elements[i - 1] < elements[i];
  if (ascending) return n;
  std::sort(elements, elements + n);
  return static_cast<size_t>(std::unique(elements, elements + n) - elements);
}

// No branch depends on the values: those of two sets are as good as random.
size_t common_elements(const SetView& a, const SetView& b) noexcept {
  size_t common = 0;
  size_t i = 0;
  size_t j = 0;
  while (i < a.n && j < b.n) {
    const int64_t x = a[i];
    const int64_t y = b[j];
    common += x == y;
    i += x <= y;
    j += y <= x;
  }
  return common;
}

}  // namespace neardup
