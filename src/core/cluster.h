// Clusters of MinHash signatures: first-come representatives (anchor) and connected components.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/pairs.h"

namespace neardup {

enum class Linkage { anchor, connected };

// Rows are given in the caller's order of preference.
// anchor: each row joins the earliest representative that agrees with it in at least `need` components, else it
//   becomes a representative; so every row is verified near the row that stands for it, and nothing chains.
// connected: connected components of the pairs with at least `need` matches; the first row represents.
class Clusterer {
 public:
  Clusterer(Linkage linkage, uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options);
  ~Clusterer();
  Clusterer(const Clusterer&) = delete;
  Clusterer& operator=(const Clusterer&) = delete;

  // As PairEngine::add. A row of an empty document is added by add_alone(): a cluster of its own.
  void add(const void* components);
  void add_alone();

  // representative()[i] = row number of the row that represents row i (i itself when it is kept). matches()[i] = equal
  // components of row i with its representative (num_perm for itself; for `connected` it may be below need).
  // Both are of size rows after run() and belong to the clusterer.
  void run();
  const std::vector<uint32_t>& representative() const noexcept;
  const std::vector<uint32_t>& matches() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace neardup
