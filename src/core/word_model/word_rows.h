// The rows of a word model, kept in their stored form: in memory while they fit, then in a temporary file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/word_model/similar_words.h"
#include "core/word_model/word_row.h"
#include "core/work/workspace.h"

namespace neardup {

class WordRows {
 public:
  // memory_limit: bytes of rows that stay in memory; without files all do. features: all are below.
  WordRows(uint32_t features, size_t memory_limit, TempFileFactory* files, StopCheck* stop);

  // The next word's row, copied. Error{too_large} for a weight above kMaxFeatureWeight.
  void add(const WordRow& row);

  uint32_t size() const noexcept { return static_cast<uint32_t>(weights_.size()); }
  uint32_t features() const noexcept { return features_; }
  const uint32_t* weights() const noexcept { return weights_.data(); }
  uint64_t entries() const noexcept { return entries_; }
  uint64_t bytes() const noexcept { return offsets_.back(); }

  // The row of a word; its arrays stay until the next call. Cheap in order.
  WordRow read(uint32_t word);

 private:
  void spill();

  const uint32_t features_;
  Workspace ws_;
  uint64_t entries_ = 0;
  std::vector<uint32_t> weights_;
  std::vector<uint64_t> offsets_{0};
  std::vector<std::vector<uint8_t>> chunks_;  // of kTransferBytes or one row
  std::vector<uint64_t> chunk_begin_;
  std::unique_ptr<TempFile> file_;
  std::vector<uint8_t> stored_;
  std::vector<uint32_t> row_features_;
  std::vector<uint16_t> row_values_;
  size_t chunk_ = 0;  // that was read last
};

// Compares all words, block by block.
void compare_all(WordRows& rows, SimilarWords& engine);

// ranks[i]: how many of the words come before words[i] in the order of their bytes; the words are different. stop may
// be null.
std::vector<uint32_t> ranks_of_words(const std::vector<std::string>& words, StopCheck* stop);

}  // namespace neardup
