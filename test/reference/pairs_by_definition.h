// All pairs of any kind of signature by comparing everything, with rows of equal signatures treated as asked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "core/pairs/pair_search.h"

#include "test/reference/pairs_reference.h"

namespace neardup::reference {

// Rows 0 .. n - 1, of which those from count_a on are set B (count_a = n: one set). value(i, j): nothing where the two
// are not near; directed: (i, j) and (j, i) are two pairs of one set. Ranks may be empty: identity.
template <class Value, class Equal>
std::vector<Pair> pairs_by_definition(uint32_t n, uint32_t count_a, Value value, Equal equal, Identical identical,
                                      const std::vector<uint32_t>& rank_a = {},
                                      const std::vector<uint32_t>& rank_b = {}, bool directed = false) {
  const bool two_sets = count_a != n;
  const auto rank = [&](uint32_t i) {
    const auto& ranks = i < count_a ? rank_a : rank_b;
    const uint32_t row = i < count_a ? i : i - count_a;
    return ranks.empty() ? row : ranks[row];
  };
  std::vector<bool> first(n, true);
  for (uint32_t i = 0; i < n && identical != Identical::all; ++i) {
    for (uint32_t j = i < count_a ? 0 : count_a; j < (i < count_a ? count_a : n); ++j) {
      if (rank(j) < rank(i) && equal(i, j)) first[i] = false;
    }
  }
  std::vector<Pair> out;
  for (uint32_t i = 0; i < count_a; ++i) {
    for (uint32_t j = two_sets ? count_a : directed ? 0 : i + 1; j < n; ++j) {
      const std::optional<uint32_t> v = i == j ? std::nullopt : value(i, j);
      if (!v) continue;
      if (identical != Identical::all) {
        const bool same = equal(i, j);
        if (same && identical == Identical::none) continue;
        if (same && !two_sets ? !first[i] && !first[j] : !first[i] || !first[j]) continue;
      }
      uint32_t a = rank(i);
      uint32_t b = rank(j);
      if (!two_sets && !directed && a > b) std::swap(a, b);
      out.emplace_back(a, b, *v);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

inline const uint32_t* data_or_null(const std::vector<uint32_t>& ranks) {
  return ranks.empty() ? nullptr : ranks.data();
}

// The pairs that an engine has found, asked for in portions.
inline std::vector<Pair> drain(PairSearch& engine, size_t step = 100) {
  std::vector<Pair> out;
  std::vector<RowPair> some(step);
  while (const size_t n = engine.next(some.data(), step))
    for (size_t i = 0; i < n; ++i) out.emplace_back(some[i].a, some[i].b, some[i].value);
  return out;
}

}  // namespace neardup::reference
