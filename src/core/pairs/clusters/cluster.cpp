// See cluster.h.
#include "core/pairs/clusters/cluster.h"

#include <numeric>

#include "core/base/union_find.h"
#include "core/pairs/pair_links.h"
#include "core/work/row_store.h"

namespace neardup {

Clusterer::Clusterer(Linkage linkage, std::unique_ptr<PairSearch> search)
    : linkage_(linkage), search_(std::move(search)) {}

void Clusterer::add_value(const AnyValue& value) {
  search_->add_value(value);
  if (searched_ != total_) row_of_.push_back(total_);
  ++searched_;
  ++total_;
}

void Clusterer::add_alone() {
  if (total_ == RowStore::kMaxStoredRows) RowStore::refuse_more();
  if (searched_ == total_) {
    row_of_.resize(searched_);
    std::iota(row_of_.begin(), row_of_.end(), 0u);
  }
  ++total_;
}

void Clusterer::run() {
  representative_.resize(total_);
  std::iota(representative_.begin(), representative_.end(), 0u);
  values_.assign(total_, 0);
  linkage_ == Linkage::anchor ? link_anchors() : join_components();
}

void Clusterer::link_anchors() {
  AnchorLinks links(searched_);
  search_->link_anchors(links);
  const LinkedRows& rows = links.rows();
  for (uint32_t i = 0; i < searched_; ++i)
    if (rows.representative[i] != i) assign(i, rows.representative[i], rows.value[i]);
}

void Clusterer::join_components() {
  UnionFind sets(searched_);
  search_->run_components(sets);
  std::vector<uint32_t> first(searched_);
  std::vector<uint32_t> values(searched_);
  for (uint32_t i = 0; i < searched_; ++i) first[i] = sets.find(i);
  search_->values_with(first.data(), values.data());
  for (uint32_t i = 0; i < searched_; ++i) assign(i, first[i], values[i]);
}

}  // namespace neardup
