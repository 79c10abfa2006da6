// See word_rows.h.
#include "core/word_model/word_rows.h"

#include <algorithm>
#include <numeric>

namespace neardup {

WordRows::WordRows(uint32_t features, size_t memory_limit, TempFileFactory* files, StopCheck* stop)
    : features_(features), ws_(memory_limit, files, stop) {}

void WordRows::add(const WordRow& row) {
  const uint64_t weight = row_weight(row);
  if (weight > kMaxFeatureWeight)
    throw Error(Errc::too_large,
                "the information of the features of word number " + std::to_string(size()) + " is more than " +
                    std::to_string(kMaxFeatureWeight) + " units of 1/1024 nat",
                {}, "Use a smaller window, or fewer features.");
  stored_.clear();
  encode_word_row(row, &stored_);
  weights_.push_back(static_cast<uint32_t>(weight));
  if (file_ == nullptr && ws_.files != nullptr && bytes() + stored_.size() > ws_.limit) spill();
  if (file_ != nullptr) {
    append_polled(*file_, stored_.data(), stored_.size(), ws_);
  } else {
    if (chunks_.empty() || chunks_.back().size() + stored_.size() > chunks_.back().capacity()) {
      chunk_begin_.push_back(bytes());
      chunks_.emplace_back();
      chunks_.back().reserve(std::max(kTransferBytes, stored_.size()));
    }
    chunks_.back().insert(chunks_.back().end(), stored_.begin(), stored_.end());
  }
  offsets_.push_back(bytes() + stored_.size());
  entries_ += row.size;
  ws_.poller.spend(stored_.size() * 2 + 50);
}

void WordRows::spill() {
  file_ = ws_.files->create();
  for (const auto& chunk : chunks_) append_polled(*file_, chunk.data(), chunk.size(), ws_);
  chunks_.clear();
  chunks_.shrink_to_fit();
  chunk_begin_.clear();
}

WordRow WordRows::read(uint32_t word) {
  const uint64_t begin = offsets_[word];
  const size_t size = offsets_[word + 1] - begin;
  const uint8_t* bytes;
  if (file_ != nullptr) {
    stored_.resize(size);
    read_polled(*file_, begin, stored_.data(), size, ws_.poller);
    bytes = stored_.data();
  } else {
    if (chunk_ >= chunks_.size() || chunk_begin_[chunk_] > begin) chunk_ = 0;
    while (chunk_ + 1 < chunks_.size() && chunk_begin_[chunk_ + 1] <= begin) ++chunk_;
    bytes = chunks_[chunk_].data() + (begin - chunk_begin_[chunk_]);
  }
  row_features_.clear();
  row_values_.clear();
  decode_word_row(bytes, size, features_, &row_features_, &row_values_);
  ws_.poller.spend(row_features_.size() * 3 + 50);
  return {row_features_.data(), row_values_.data(), row_features_.size()};
}

void compare_all(WordRows& rows, SimilarWords& engine) {
  for (uint32_t first = 0; first < rows.size();) {
    engine.begin_block(first);
    uint32_t end = first;
    while (end < rows.size() && engine.load(rows.read(end))) ++end;
    for (uint32_t i = 0; i < end; ++i) engine.probe(rows.read(i));
    engine.end_block();
    first = end;
  }
}

std::vector<uint32_t> ranks_of_words(const std::vector<std::string>& words, StopCheck* stop) {
  Poller poller(stop);
  std::vector<uint32_t> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    poller.spend(30);
    return words[a] < words[b];
  });
  std::vector<uint32_t> ranks(words.size());
  for (size_t i = 0; i < order.size(); ++i) {
    poller.spend(5);
    ranks[order[i]] = static_cast<uint32_t>(i);
  }
  return ranks;
}

}  // namespace neardup
