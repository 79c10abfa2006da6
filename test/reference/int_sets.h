// Sets of integers that are hard in one way each, and all pairs of them by comparing everything.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/pairs/pair_search.h"
#include "core/pairs/sets/set_bound.h"

#include "test/reference/pairs_by_definition.h"

namespace neardup::reference {

using Sets = std::vector<std::vector<int64_t>>;

// families: sets and versions of them with some elements exchanged. equal: few different sets. small: of at most six
// elements out of a few. pages: sets inside much larger ones. common elements: unrelated, but for elements that most
// have. nested: each contains the one before.
inline constexpr const char* kSetShapes[] = {"families", "equal", "small", "pages", "common elements", "nested"};

class IntSetMaker {
 public:
  explicit IntSetMaker(uint64_t seed) : random_(seed) {}

  std::vector<int64_t> drawn(size_t size, int64_t from, int64_t to) {
    std::set<int64_t> out;
    std::uniform_int_distribution<int64_t> draw(from, to);
    while (out.size() < size) out.insert(draw(random_));
    return {out.begin(), out.end()};
  }
  std::vector<int64_t> fresh(size_t size) { return drawn(size, INT64_MIN, INT64_MAX); }
  size_t below(size_t n) { return random_() % n; }

  // The set without some of its elements, and with some others.
  std::vector<int64_t> changed(const std::vector<int64_t>& set, size_t drop, size_t add) {
    std::set<int64_t> out(set.begin(), set.end());
    for (; drop > 0 && out.size() > 1; --drop) out.erase(std::next(out.begin(), static_cast<long>(below(out.size()))));
    for (; add > 0; --add) out.insert(static_cast<int64_t>(random_()));
    return {out.begin(), out.end()};
  }

 private:
  std::mt19937_64 random_;
};

inline Sets make_sets(const std::string& shape, uint32_t n, uint64_t seed) {
  IntSetMaker make(seed);
  Sets out;
  const std::vector<int64_t> common = make.fresh(30);
  while (out.size() < n) {
    const std::vector<int64_t>* last = out.empty() ? nullptr : &out.back();
    if (shape == "equal") {
      out.push_back(out.size() < 5 ? make.fresh(1 + make.below(8)) : out[make.below(out.size())]);
    } else if (shape == "small") {
      out.push_back(make.drawn(1 + make.below(6), -6, 6));
    } else if (shape == "nested") {
      out.push_back(last == nullptr ? make.fresh(1) : make.changed(*last, 0, 1));
    } else if (shape == "common elements") {
      std::vector<int64_t> set = make.fresh(10);
      if (last != nullptr && make.below(4) == 0) set = make.changed(*last, 1, 1);
      if (set.size() < common.size()) set.insert(set.end(), common.begin(), common.end());
      std::sort(set.begin(), set.end());
      out.push_back(set);
    } else if (shape == "pages" && last != nullptr && make.below(2) == 0) {
      out.push_back(make.changed(*last, make.below(3), make.below(100)));
    } else if (last == nullptr || make.below(4) == 0) {
      out.push_back(make.fresh(1 + make.below(40)));
    } else {
      out.push_back(make.changed(*last, make.below(5), make.below(5)));
    }
  }
  return out;
}

inline uint32_t common_by_definition(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return static_cast<uint32_t>(both.size());
}

// As SQL has it, without a shortcut.
inline bool near_by_definition(Measure measure, double bound, const std::vector<int64_t>& a,
                               const std::vector<int64_t>& b, uint32_t common) {
  const auto size_a = static_cast<double>(a.size());
  const auto size_b = static_cast<double>(b.size());
  if (common == 0) return false;
  if (measure == Measure::set_overlap) return common >= bound;
  if (measure == Measure::set_in_query) return common / size_a >= bound;
  if (measure == Measure::query_in_set) return common / size_b >= bound;
  if (measure == Measure::set_dice) return 2.0 * common / (size_a + size_b) >= bound;
  if (measure == Measure::set_cosine) return common / std::sqrt(size_a * size_b) >= bound;
  if (measure == Measure::overlap_coefficient) return common / std::min(size_a, size_b) >= bound;
  return common / (size_a + size_b - common) >= bound;
}

// Rows from count_a on are set B (count_a = all: one set, whose pairs of containment are directed).
inline std::vector<Pair> set_pairs_by_definition(const Sets& all, size_t count_a, Measure measure, double bound,
                                                 Identical identical, const std::vector<uint32_t>& rank_a = {},
                                                 const std::vector<uint32_t>& rank_b = {}) {
  const auto near = [&](uint32_t i, uint32_t j) -> std::optional<uint32_t> {
    const uint32_t common = common_by_definition(all[i], all[j]);
    return near_by_definition(measure, bound, all[i], all[j], common) ? std::optional(common) : std::nullopt;
  };
  const bool contained = measure == Measure::set_in_query || measure == Measure::query_in_set;
  return pairs_by_definition(
      static_cast<uint32_t>(all.size()), static_cast<uint32_t>(count_a), near,
      [&](uint32_t i, uint32_t j) { return all[i] == all[j] && near(i, j); }, identical, rank_a, rank_b,
      contained && count_a == all.size());
}

}  // namespace neardup::reference
