// The exact cosine of the angle between two vectors.
#pragma once

#include <cstddef>
#include <optional>

#include "core/base/stop.h"

namespace neardup {

// a . b / (|a| |b|) of two vectors of n components in double: in [-1, 1], its error a few 2^-53 times 1 + n / 8,
// whatever the magnitudes: no product overflows, or loses what counts by underflow. Nothing where a vector is all
// zeros, which has no direction. Error{invalid_argument} for n = 0, NaN or infinity. stop (may be null) is polled every
// million components.
std::optional<double> cosine_similarity(const double* a, const double* b, size_t n, StopCheck* stop);

}  // namespace neardup
