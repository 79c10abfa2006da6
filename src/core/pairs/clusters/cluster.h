// Clusters of signatures: first-come representatives (anchor) and connected components.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/pairs/pair_search.h"

namespace neardup {

enum class Linkage { anchor, connected };

// Rows are given in the caller's order of preference.
// anchor: each row joins the earliest representative that it is near, else it becomes a representative; so every row is
//   verified near the row that stands for it, and nothing chains. Of directed pairs (a, b), b is near a.
// connected: connected components of the near pairs; the first row represents.
class Clusterer {
 public:
  // The search is made with Identical::marked.
  Clusterer(Linkage linkage, std::unique_ptr<PairSearch> search);

  // The next row, of a kind that the search takes.
  void add_value(const AnyValue& value);
  // A row that is near nothing: a cluster of its own.
  void add_alone();
  void run();

  const SearchStats& stats() noexcept { return search_->stats(); }
  // After run(), of size rows, owned by the clusterer. representative()[i]: row number of the row that represents row i
  // (i itself when it is kept). values()[i]: how near the two are, as in RowPair; for `connected` they may be less near
  // than a pair of the search. Of no meaning where it is i itself.
  const std::vector<uint32_t>& representative() const noexcept { return representative_; }
  const std::vector<uint32_t>& values() const noexcept { return values_; }

 private:
  uint32_t caller_row(uint32_t i) const noexcept { return row_of_.empty() ? i : row_of_[i]; }
  // Searched row i joins searched row r.
  void assign(uint32_t i, uint32_t r, uint32_t value) {
    representative_[caller_row(i)] = caller_row(r);
    values_[caller_row(i)] = value;
  }
  void link_anchors();
  void join_components();

  const Linkage linkage_;
  std::unique_ptr<PairSearch> search_;
  uint32_t searched_ = 0;
  std::vector<uint32_t> row_of_;  // of the rows that are searched; empty while those are all rows
  uint32_t total_ = 0;
  std::vector<uint32_t> representative_;
  std::vector<uint32_t> values_;
};

}  // namespace neardup
