// Disjoint sets of row numbers, union towards the smaller root, path halving. Several threads may ask and unite at once
// (R. Anderson and H. Woll, "Wait-free parallel algorithms for the union-find problem", STOC 1991).
#pragma once

#include <atomic>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace neardup {

// The root of a set is its smallest member, so results do not depend on the order of the unions.
// Cost: amortised logarithmic. 4 bytes a row.
// Threads: a parent is only ever replaced by an ancestor, and a root, once it has a parent, is none again; so what
// another thread does meanwhile makes a path shorter or a set larger. same() may miss a union that is just being made.
class UnionFind {
 public:
  explicit UnionFind(uint32_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }

  uint32_t find(uint32_t i) noexcept {
    for (uint32_t parent = load(i); parent != i; parent = load(i)) {
      const uint32_t above = load(parent);
      if (above == parent) return parent;
      at(i).store(above, std::memory_order_relaxed);
      i = above;
    }
    return i;
  }

  bool same(uint32_t i, uint32_t j) noexcept { return find(i) == find(j); }

  void unite(uint32_t i, uint32_t j) noexcept {
    for (;;) {
      i = find(i);
      j = find(j);
      if (i == j) return;
      if (i > j) std::swap(i, j);
      uint32_t root = j;
      if (at(j).compare_exchange_strong(root, i, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::atomic_ref<uint32_t> at(uint32_t i) noexcept { return std::atomic_ref<uint32_t>(parent_[i]); }
  uint32_t load(uint32_t i) noexcept { return at(i).load(std::memory_order_relaxed); }

  std::vector<uint32_t> parent_;
};

}  // namespace neardup
