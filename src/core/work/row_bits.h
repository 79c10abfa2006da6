// A bit for each row.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/work/workspace.h"

namespace neardup {

class RowBits {
 public:
  RowBits() = default;
  // None of them is set.
  RowBits(Ledger& ledger, uint32_t rows) : words_(ledger, (size_t{rows} + 63) / 64) {
    std::fill(words_.data(), words_.data() + words_.size(), 0);
  }

  bool empty() const noexcept { return words_.size() == 0; }
  bool has(uint32_t row) const noexcept { return (words_[row >> 6] & bit(row)) != 0; }
  void set(uint32_t row) noexcept { words_[row >> 6] |= bit(row); }
  // Several threads may call it at once.
  void set_shared(uint32_t row) noexcept {
    std::atomic_ref(words_[row >> 6]).fetch_or(bit(row), std::memory_order_relaxed);
  }

 private:
  static uint64_t bit(uint32_t row) noexcept { return uint64_t{1} << (row & 63); }

  Array<uint64_t> words_;
};

}  // namespace neardup
