// See int_set_keys.h.
#include "core/lsh/int_set_keys.h"

#include <algorithm>
#include <cmath>

#include "core/base/hash.h"

namespace neardup {

namespace {

// Fills in how many of a query's n elements a set of each class needs. Returns how many classes have sets that are
// small enough.
uint32_t classes_within(const SetRule& rule, uint32_t n, double bound, uint32_t* least) noexcept {
  for (uint32_t c = 0; c < kSizeClasses; ++c) {
    const auto size = static_cast<uint32_t>(least_size(c));
    least[c] = rule.least_common(bound, size, n);
    if (least[c] > std::min(size, n)) return c;
  }
  return kSizeClasses;
}

}  // namespace

SetPlan plan_set(Measure measure, size_t n, double bound, size_t most) noexcept {
  SetPlan plan{true, false, false, 0, 0, {}};
  const SetRule& rule = info(measure).rule;
  const auto size = static_cast<uint32_t>(std::min<size_t>(n, UINT32_MAX));
  const bool admits_all = bound <= 0;
  plan.nothing = !admits_all && (n == 0 || !(rule.value(size, size, size) >= bound));  // NaN is above all, as in SQL
  plan.served = plan.nothing || (!admits_all && n <= kMaxQuerySet);
  if (plan.nothing || !plan.served) return plan;
  plan.least = least_part_of_second(rule, bound, size);
  plan.large = rule.value(static_cast<double>(std::max(n, most + 1)), size, size) >= bound;
  if (rule.is_by_first) plan.classes = classes_within(rule, size, bound, plan.class_least);
  return plan;
}

bool valid_minutiae(const MinutiaeRules& rules) noexcept {
  return rules.functions >= kLeastFunctions && rules.functions <= kMaxFunctions && rules.cells >= 1 &&
         rules.cells <= kMaxFunctionCells && rules.grid >= kLeastGrid && rules.grid <= kMaxGrid;
}

void function_cells(const MinutiaeRules& rules, uint32_t f, uint32_t* cells) noexcept {
  const uint64_t total = uint64_t{rules.grid} * rules.grid;
  uint64_t draw = mix64(0x6D69'6E75'7469'6165 + f);
  for (uint32_t n = 0; n < rules.cells;) {
    draw = mix64(draw + 0x9E37'79B9'7F4A'7C15);
    const auto cell = static_cast<uint32_t>((draw >> 32) * total >> 32);
    if (std::find(cells, cells + n, cell) == cells + n) cells[n++] = cell;
  }
  std::sort(cells, cells + rules.cells);
}

std::vector<uint32_t> minutiae_buckets(const MinutiaeRules& rules, const int64_t* set, size_t n) {
  const int64_t total = int64_t{rules.grid} * rules.grid;
  std::vector<uint64_t> bits(static_cast<size_t>(total + 63) / 64);
  for (size_t i = 0; i < n; ++i)
    if (set[i] >= 0 && set[i] < total) bits[static_cast<size_t>(set[i]) / 64] |= uint64_t{1} << (set[i] % 64);
  std::vector<uint32_t> buckets;
  uint32_t cells[kMaxFunctionCells];
  for (uint32_t f = 0; f < rules.functions; ++f) {
    function_cells(rules, f, cells);
    uint64_t all = 1;
    for (uint32_t i = 0; i < rules.cells; ++i) all &= bits[cells[i] / 64] >> (cells[i] % 64);
    if (all != 0) buckets.push_back(f);
  }
  return buckets;
}

double bucket_probability(const MinutiaeRules& rules, double density, double repeat) noexcept {
  return 1 - std::pow(1 - std::pow(density * repeat, rules.cells), rules.functions);
}

std::vector<int64_t> point_cells(const GridPoint* points, size_t n, uint32_t grid, double margin) {
  // The cells that a coordinate is in: one, or two near a border that has a cell on its other side.
  const auto range = [grid, margin](double v, int64_t* first, int64_t* last) {
    const double at = v * grid;
    const double most = grid - 1.0;
    *first = static_cast<int64_t>(std::clamp(std::floor(at - margin), 0.0, most));
    *last = static_cast<int64_t>(std::clamp(std::floor(at + margin), 0.0, most));
  };
  std::vector<int64_t> cells;
  for (size_t i = 0; i < n; ++i) {
    int64_t x0, x1, y0, y1;
    range(points[i].x, &x0, &x1);
    range(points[i].y, &y0, &y1);
    for (int64_t y = y0; y <= y1; ++y)
      for (int64_t x = x0; x <= x1; ++x) cells.push_back(y * grid + x);
  }
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

}  // namespace neardup
