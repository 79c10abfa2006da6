// Pairs and clusters as defined: every pair is compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace neardup::reference {

// Rows of num_perm components of `bits` bits, one after the other.
struct Rows {
  uint32_t num_perm;
  uint32_t bits;
  std::vector<unsigned char> data;

  size_t row_bytes() const { return size_t{num_perm} * bits / 8; }
  uint32_t size() const { return static_cast<uint32_t>(data.size() / row_bytes()); }
  const unsigned char* row(uint32_t i) const { return data.data() + i * row_bytes(); }
};

template <class Component>
uint32_t count_equal(const unsigned char* a, const unsigned char* b, uint32_t n) {
  uint32_t m = 0;
  for (uint32_t c = 0; c < n; ++c) {
    Component x, y;
    std::memcpy(&x, a + c * sizeof(x), sizeof(x));
    std::memcpy(&y, b + c * sizeof(y), sizeof(y));
    m += x == y;
  }
  return m;
}

inline uint32_t count_matches(const Rows& a, uint32_t i, const Rows& b, uint32_t j) {
  if (a.bits == 8) return count_equal<uint8_t>(a.row(i), b.row(j), a.num_perm);
  if (a.bits == 16) return count_equal<uint16_t>(a.row(i), b.row(j), a.num_perm);
  return count_equal<uint32_t>(a.row(i), b.row(j), a.num_perm);
}

using Pair = std::tuple<uint32_t, uint32_t, uint32_t>;  // a, b, matches

inline std::vector<Pair> pairs(const Rows& rows, uint32_t need) {
  std::vector<Pair> out;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    for (uint32_t j = i + 1; j < rows.size(); ++j) {
      const uint32_t m = count_matches(rows, i, rows, j);
      if (m >= need) out.emplace_back(i, j, m);
    }
  }
  return out;
}

inline std::vector<Pair> pairs_between(const Rows& a, const Rows& b, uint32_t need) {
  std::vector<Pair> out;
  for (uint32_t i = 0; i < a.size(); ++i) {
    for (uint32_t j = 0; j < b.size(); ++j) {
      const uint32_t m = count_matches(a, i, b, j);
      if (m >= need) out.emplace_back(i, j, m);
    }
  }
  return out;
}

// The pairs after rows were renamed.
inline std::vector<Pair> ranked(std::vector<Pair> in, const std::vector<uint32_t>& rank) {
  for (auto& [a, b, m] : in) {
    a = rank[a];
    b = rank[b];
    if (a > b) std::swap(a, b);
  }
  std::sort(in.begin(), in.end());
  return in;
}

struct Clusters {
  std::vector<uint32_t> representative;
  std::vector<uint32_t> matches;
};

inline Clusters anchor(const Rows& rows, uint32_t need) {
  Clusters out;
  std::vector<uint32_t> kept;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    out.representative.push_back(i);
    out.matches.push_back(rows.num_perm);
    for (const uint32_t r : kept) {
      const uint32_t m = count_matches(rows, i, rows, r);
      if (m < need) continue;
      out.representative[i] = r;
      out.matches[i] = m;
      break;
    }
    if (out.representative[i] == i) kept.push_back(i);
  }
  return out;
}

inline Clusters connected(const Rows& rows, uint32_t need) {
  Clusters out;
  out.representative.resize(rows.size());
  std::iota(out.representative.begin(), out.representative.end(), 0u);
  for (const auto& [a, b, m] : pairs(rows, need)) {
    const uint32_t keep = std::min(out.representative[a], out.representative[b]);
    const uint32_t gone = std::max(out.representative[a], out.representative[b]);
    std::replace(out.representative.begin(), out.representative.end(), gone, keep);
  }
  for (uint32_t i = 0; i < rows.size(); ++i) {
    out.matches.push_back(count_matches(rows, i, rows, out.representative[i]));
  }
  return out;
}

}  // namespace neardup::reference
