// Furthest-reaching points on diagonals: see edit_impl.h.
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/exact/edit_impl.h"

namespace neardup {
namespace {

constexpr int64_t kLook = 16;  // edits between two looks at whether it is worth going on

size_t equal_front(const uint8_t* a, const uint8_t* b, size_t n) noexcept {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t x, y;
    std::memcpy(&x, a + i, 8);
    std::memcpy(&y, b + i, 8);
    if (x != y) return i + static_cast<size_t>(std::countr_zero(x ^ y)) / 8;
  }
  while (i < n && a[i] == b[i]) ++i;
  return i;
}

}  // namespace

size_t common_front(bool utf8, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, Poller& poller) {
  const size_t most = std::min(a_size, b_size);
  size_t n = 0;
  while (n < most) {
    const size_t piece = std::min(kEditPollBytes, most - n);
    const size_t equal = equal_front(a + n, b + n, piece);
    n += equal;
    poller.spend(equal / 8 + 1);
    if (equal < piece) break;
  }
  if (utf8) {
    while (n > 0 && ((n < a_size && continues_utf8(a[n])) || (n < b_size && continues_utf8(b[n])))) --n;
  }
  return n;
}

// Behind the symbol at `at`, or -1 at the end.
int64_t EditDiagonals::next(const EditText& t, int64_t at) const {
  const int64_t size = static_cast<int64_t>(t.size);
  if (at == size) return -1;
  if (!utf8_) return at + 1;
  const uint8_t lead = t.p[at];
  return std::min(size, at + 1 + (lead >= 0xc0) + (lead >= 0xe0) + (lead >= 0xf0));
}

EditDiagonals::Point EditDiagonals::slide(Point p) {
  const size_t a = static_cast<size_t>(p.a), b = static_cast<size_t>(p.b);
  const size_t n = common_front(utf8_, a_.p + a, a_.size - a, b_.p + b, b_.size - b, ws_.poller);
  return {p.a + static_cast<int64_t>(n), p.b + static_cast<int64_t>(n)};
}

int64_t EditDiagonals::run(int64_t most, bool may_give_up, double* estimate) {
  const int64_t target = b_.length - a_.length;
  // Diagonals -most - 1 .. most + 1 after the edit before and after this one.
  const size_t width = 2 * static_cast<size_t>(most) + 3;
  Array<Point> points(ws_.ledger, 2 * width);
  std::fill_n(points.data(), points.size(), Point{-1, -1});
  Point* old = points.data() + most + 1;
  Point* now = old + width;
  *estimate = static_cast<double>(most);
  old[0] = slide({0, 0});
  if (at_end(old[0])) return 0;
  for (int64_t e = 1; e <= most; ++e) {
    // From other diagonals the target's is out of reach.
    const int64_t first = std::max(-e, target - (most - e));
    const int64_t last = std::min(e, target + (most - e));
    int64_t furthest = 0;
    for (int64_t d = first; d <= last; ++d) {
      Point best = old[d];
      if (best.a >= 0) {
        const int64_t a = next(a_, best.a), b = next(b_, best.b);
        if (a >= 0 && b >= 0) best = {a, b};
      }
      if (old[d + 1].a >= 0) {
        const int64_t a = next(a_, old[d + 1].a);
        if (a > best.a) best = {a, old[d + 1].b};
      }
      if (old[d - 1].a > best.a) {
        const int64_t b = next(b_, old[d - 1].b);
        if (b >= 0) best = {old[d - 1].a, b};
      }
      if (best.a >= 0) {
        best = slide(best);
        if (at_end(best)) return e;
        furthest = std::max(furthest, best.a + best.b);
      }
      now[d] = best;
    }
    std::swap(old, now);
    const size_t steps = static_cast<size_t>(std::max<int64_t>(0, last - first + 1));
    stats_.diagonal_steps += steps;
    ws_.poller.spend(8 * steps);
    if (e % kLook == 0 || e == most) {
      *estimate = static_cast<double>(e) * static_cast<double>(a_.size + b_.size) / static_cast<double>(furthest + 1);
      if (may_give_up && *estimate > 1.3 * static_cast<double>(most)) return -1;
    }
  }
  return -1;
}

}  // namespace neardup
