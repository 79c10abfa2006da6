// Sorting with repeats dropped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"

namespace neardup {

// Sorts and drops repeats; polls stop (may be null) about every million comparisons.
template <typename T>
void sort_unique(std::vector<T>* values, StopCheck* stop) {
  uint32_t steps = 0;
  std::sort(values->begin(), values->end(), [&](const T& a, const T& b) {
    if ((++steps & 0xfffff) == 0 && stop != nullptr) stop->poll();
    return a < b;
  });
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

}  // namespace neardup
