// Clusters and bridges of a graph of near rows, as defined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/pairs/pair_links.h"

namespace neardup::reference {

using RowNumbers = std::pair<uint32_t, uint32_t>;

struct Graph {
  uint32_t rows;
  std::map<RowNumbers, uint32_t> pairs;  // a < b -> value

  // kNotNear where there is no such pair.
  uint32_t value(uint32_t a, uint32_t b) const {
    const auto at = pairs.find({std::min(a, b), std::max(a, b)});
    return at == pairs.end() ? kNotNear : at->second;
  }
};

// For each row the first that is reached from it, without the pair left_out.
inline std::vector<uint32_t> components(const Graph& g, RowNumbers left_out = {1, 0}) {
  std::vector<uint32_t> first(g.rows);
  std::iota(first.begin(), first.end(), 0u);
  for (const auto& [p, value] : g.pairs) {
    const uint32_t a = first[p.first];
    const uint32_t b = first[p.second];
    if (p != left_out && a != b) std::replace(first.begin(), first.end(), std::max(a, b), std::min(a, b));
  }
  return first;
}

inline LinkedRows connected(const Graph& g) {
  LinkedRows out(g.rows);
  out.representative = components(g);
  for (uint32_t i = 0; i < g.rows; ++i) out.value[i] = g.value(out.representative[i], i);
  return out;
}

inline LinkedRows anchor(const Graph& g) {
  LinkedRows out(g.rows);
  std::vector<uint32_t> kept;
  for (uint32_t i = 0; i < g.rows; ++i) {
    const auto r = std::find_if(kept.begin(), kept.end(), [&](uint32_t k) { return g.value(k, i) != kNotNear; });
    if (r == kept.end()) {
      kept.push_back(i);
    } else {
      out.representative[i] = *r;
      out.value[i] = g.value(*r, i);
    }
  }
  return out;
}

inline std::vector<RowNumbers> bridges(const Graph& g) {
  std::vector<RowNumbers> out;
  for (const auto& [p, value] : g.pairs) {
    const std::vector<uint32_t> first = components(g, p);
    if (first[p.first] != first[p.second]) out.push_back(p);
  }
  return out;
}

}  // namespace neardup::reference
