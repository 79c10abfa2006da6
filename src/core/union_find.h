// Disjoint sets of row numbers, union towards the smaller root, path halving.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace neardup {

// The root of a set is its smallest member, so results do not depend on the order of the unions.
// Cost: amortised logarithmic. 4 bytes a row.
class UnionFind {
 public:
  explicit UnionFind(uint32_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }

  uint32_t find(uint32_t i) noexcept {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }

  bool same(uint32_t i, uint32_t j) noexcept { return find(i) == find(j); }

  void unite(uint32_t i, uint32_t j) noexcept {
    i = find(i);
    j = find(j);
    if (i > j) std::swap(i, j);
    parent_[j] = i;
  }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace neardup
