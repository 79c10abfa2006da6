// A block of SimilarWords: loaded, then built into inverted lists and dense features, or handed to the offload.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/kernels/kernels.h"
#include "core/word_model/similar_words.h"

namespace neardup {
namespace {

constexpr uint32_t kFewestDenseWords = 64;
// Estimated nanoseconds of an entry of an inverted list; of a dense feature of a row and a word.
constexpr double kAdditionCost = 0.6;
constexpr double kDenseCost = 0.02;
// Bytes of an entry of a block, at the most while it is built, and what dense features may take beside.
constexpr uint64_t kBlockEntryBytes = 11;
constexpr uint64_t kDenseEntryBytes = 13;

}  // namespace

uint64_t SimilarWords::block_bytes(uint64_t entries, uint64_t rows, uint64_t features) const noexcept {
  const uint64_t lanes = (rows + kLaneWords - 1) / kLaneWords;
  return entries * kBlockEntryBytes + features * sizeof(uint32_t) * (lanes + 2) + rows * 16;
}

bool SimilarWords::load(const WordRow& row) {
  ws_.poller.spend(row.size * 2 + 50);
  // A quarter is for the rows that are probed and what threads work with.
  const uint64_t entries = block_.entries() + row.size;
  if (block_.size() > 0 &&
      (entries > kMaxBlockEntries ||
       entries * kDenseEntryBytes + block_bytes(entries, block_.size() + 1, set_.size() + row.size) > block_limit()))
    return false;
  for (size_t i = 0; i < row.size; ++i) set_.add(row.features[i]);
  block_.add(row);
  ++width_;
  return true;
}

// After the last row of the block was loaded.
void SimilarWords::prepare() {
  loading_ = false;
  ++stats_.blocks;
  set_.number();
  const uint32_t n = set_.size();
  counts_ = {ws_.ledger, n};
  zero_polled(&counts_, ws_.poller);
  for (uint32_t i = 0; i < block_.size(); ++i) {
    const WordRow row = block_.row(i);
    for (size_t f = 0; f < row.size; ++f) ++counts_[set_.at(row.features[f])];
    ws_.poller.spend(row.size * 3);
  }
  if (offload_ != nullptr) {
    // As if the rows before the block were like its own; each meets all of the block, those of the block one half of
    // it.
    double cost = 0;
    const double words = width_;
    for (uint32_t i = 0; i < n; ++i) {
      const double c = counts_[i];
      cost += c * std::min(c * kAdditionCost, words * kDenseCost);
    }
    cost *= (first_ + words / 2) / std::max(1.0, words);
    offloaded_ = offload_->begin(block_.matrix(first_), weights_.data(), words_, features_, k_, cost, ws_);
    stats_.offloaded |= offloaded_;
  }
  if (!offloaded_) build();
}

// The number of words of the block that have a feature that is to be dense: as few as pay, and memory allows.
uint32_t SimilarWords::fewest_dense() const {
  if (width_ < kFewestDenseWords) return UINT32_MAX;
  const auto fewest = static_cast<uint32_t>(std::ceil(kernels().words->dense_share * width_));
  if (ws_.limit == SIZE_MAX) return fewest;
  std::vector<uint32_t> many;
  for (size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] >= fewest) many.push_back(counts_[i]);
  const uint64_t used = block_bytes(block_.entries(), width_, set_.size());
  const uint64_t room = (block_limit() - std::min(used, block_limit())) / (lane_stride(width_) * sizeof(uint16_t));
  if (many.size() <= room) return fewest;
  std::nth_element(many.begin(), many.begin() + static_cast<ptrdiff_t>(room), many.end(), std::greater<>());
  return many[room] + 1;
}

void SimilarWords::build() {
  Ledger& l = ws_.ledger;
  const uint32_t n = set_.size();
  const uint32_t fewest = fewest_dense();
  places_ = {l, n};
  lists_ = dense_ = 0;
  for (uint32_t i = 0; i < n; ++i) {
    places_[i] = counts_[i] >= fewest ? dense_++ << 1 | 1 : lists_++ << 1;
    ws_.poller.spend(3);
  }
  stats_.dense += dense_;
  panels_ = (dense_ + kPanelFeatures - 1) / kPanelFeatures;
  // Offsets of lists: first their sizes, each two further on, so that each offset, one further on, moves to its list's
  // end.
  const size_t slots = size_t{lanes()} * lists_ + 1;
  offsets_ = {l, slots + 1};
  zero_polled(&offsets_, ws_.poller);
  for (uint32_t i = 0; i < width_; ++i) {
    const WordRow row = block_.row(i);
    uint32_t* sizes = offsets_.data() + size_t{i / static_cast<uint32_t>(kLaneWords)} * lists_ + 2;
    for (size_t f = 0; f < row.size; ++f) {
      const uint32_t place = places_[set_.at(row.features[f])];
      if ((place & 1) == 0) ++sizes[place >> 1];
    }
    ws_.poller.spend(row.size * 3);
  }
  for (size_t i = 1; i <= slots; ++i) {
    offsets_[i] += offsets_[i - 1];
    ws_.poller.spend(1);
  }
  entries_ = {l, offsets_[slots]};
  values_ = {l, lane_stride(width_) * dense_};
  zero_polled(&values_, ws_.poller);
  // Words come in order, so lists are filled in order.
  for (uint32_t i = 0; i < width_; ++i) {
    const WordRow row = block_.row(i);
    uint32_t* next = offsets_.data() + size_t{i / static_cast<uint32_t>(kLaneWords)} * lists_ + 1;
    const uint32_t in_lane = i % static_cast<uint32_t>(kLaneWords);
    uint16_t* tile = values_.data() + i / kTileWords * dense_ * kTileWords + i % kTileWords;
    for (size_t f = 0; f < row.size; ++f) {
      const uint32_t place = places_[set_.at(row.features[f])];
      if ((place & 1) == 0) {
        entries_[next[place >> 1]++] = in_lane << 16 | row.values[f];
      } else {
        tile[(place >> 1) * kTileWords] = row.values[f];
      }
    }
    ws_.poller.spend(row.size * 5);
  }
  block_.release();
  counts_ = {};
}

}  // namespace neardup
