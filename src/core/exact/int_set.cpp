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

// Without a branch that depends on the values: of two sets they are as good as random.
size_t common_elements(const int64_t* a, size_t n, const int64_t* b, size_t m) noexcept {
  size_t common = 0;
  size_t i = 0;
  size_t j = 0;
  while (i < n && j < m) {
    const int64_t x = a[i];
    const int64_t y = b[j];
    common += x == y;
    i += x <= y;
    j += y <= x;
  }
  return common;
}

double set_jaccard(const int64_t* a, size_t n, const int64_t* b, size_t m) noexcept {
  if (n == 0 || m == 0) return 0;
  const size_t common = common_elements(a, n, b, m);
  return static_cast<double>(common) / static_cast<double>(n + m - common);
}

double set_containment(const int64_t* a, size_t n, const int64_t* b, size_t m) noexcept {
  if (n == 0) return 0;
  return static_cast<double>(common_elements(a, n, b, m)) / static_cast<double>(n);
}

}  // namespace neardup
