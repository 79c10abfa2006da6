// See cosine.h.
#include "core/exact/cosine.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"

namespace neardup {
namespace {

constexpr size_t kParallelSums = 8;  // sums side by side, for the compiler to put into registers: the order is fixed
constexpr size_t kComponentsBetweenPolls = size_t{1} << 20;

struct Sums {
  double ab = 0;
  double aa = 0;
  double bb = 0;
};

Sums add_up(const double* a, const double* b, size_t n, double scale_a, double scale_b) noexcept {
  double ab[kParallelSums] = {};
  double aa[kParallelSums] = {};
  double bb[kParallelSums] = {};
  size_t i = 0;
  for (; i + kParallelSums <= n; i += kParallelSums) {
    for (size_t j = 0; j < kParallelSums; ++j) {
      const double x = a[i + j] * scale_a;
      const double y = b[i + j] * scale_b;
      ab[j] += x * y;
      aa[j] += x * x;
      bb[j] += y * y;
    }
  }
  for (size_t j = 0; i < n; ++i, ++j) {
    const double x = a[i] * scale_a;
    const double y = b[i] * scale_b;
    ab[j] += x * y;
    aa[j] += x * x;
    bb[j] += y * y;
  }
  Sums s;
  for (size_t j = 0; j < kParallelSums; ++j) {
    s.ab += ab[j];
    s.aa += aa[j];
    s.bb += bb[j];
  }
  return s;
}

Sums add_up(const double* a, const double* b, size_t n, double scale_a, double scale_b, StopCheck* stop) {
  Sums s;
  for (size_t at = 0; at < n; at += kComponentsBetweenPolls) {
    const Sums part = add_up(a + at, b + at, std::min(kComponentsBetweenPolls, n - at), scale_a, scale_b);
    s.ab += part.ab;
    s.aa += part.aa;
    s.bb += part.bb;
    if (stop != nullptr) stop->poll();
  }
  return s;
}

// The greatest magnitude; a component that is no number is an error.
double greatest(const double* v, size_t n, const char* name) {
  double most = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(v[i]))
      throw Error(Errc::invalid_argument, "component " + std::to_string(i + 1) + " of vector " + name + " is " +
                                              (std::isnan(v[i]) ? "NaN" : "infinite"));
    most = std::max(most, std::fabs(v[i]));
  }
  return most;
}

double quotient(const Sums& s) noexcept { return std::clamp(s.ab / std::sqrt(s.aa) / std::sqrt(s.bb), -1.0, 1.0); }

}  // namespace

std::optional<double> cosine_similarity(const double* a, const double* b, size_t n, StopCheck* stop) {
  if (n == 0) throw Error(Errc::invalid_argument, "the vector has no component");
  // Squares from 2^-900 on are exact enough, since what underflows is below 2^-1022 each; NaN and infinity fail the
  // test.
  constexpr double kLeastSquares = 0x1p-900;
  constexpr double kMostSquares = 0x1p900;
  const Sums s = add_up(a, b, n, 1, 1, stop);
  if (s.aa >= kLeastSquares && s.aa <= kMostSquares && s.bb >= kLeastSquares && s.bb <= kMostSquares)
    return quotient(s);
  const double most_a = greatest(a, n, "a");
  const double most_b = greatest(b, n, "b");
  if (most_a == 0 || most_b == 0) return std::nullopt;
  // Powers of two, so that nothing is rounded; in two steps for denormal vectors, whose factor passes the greatest
  // double.
  const int ea = -std::ilogb(most_a);
  const int eb = -std::ilogb(most_b);
  if (ea < 1023 && eb < 1023) return quotient(add_up(a, b, n, std::ldexp(1.0, ea), std::ldexp(1.0, eb), stop));
  Sums sums;
  for (size_t i = 0; i < n; ++i) {
    if (i % kComponentsBetweenPolls == 0 && stop != nullptr) stop->poll();
    const double x = std::ldexp(a[i], ea);
    const double y = std::ldexp(b[i], eb);
    sums.ab += x * y;
    sums.aa += x * x;
    sums.bb += y * y;
  }
  return quotient(sums);
}

}  // namespace neardup
