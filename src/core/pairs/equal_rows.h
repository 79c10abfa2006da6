// Rows with equal signatures, found by the hashes of their bytes: what engines do before they search.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {

// Which rows are equal to an earlier one of their set. One bit a row.
class EqualRows {
 public:
  void start(uint32_t rows, Ledger& ledger) {
    bits_ = Array<uint64_t>(ledger, (size_t{rows} + 63) / 64);
    std::fill(bits_.data(), bits_.data() + bits_.size(), 0);
  }
  void mark(uint32_t row) noexcept {
    bits_[row >> 6] |= uint64_t{1} << (row & 63);
    ++count_;
  }
  // No row is before start().
  bool has(uint32_t row) const noexcept { return bits_.size() != 0 && (bits_[row >> 6] >> (row & 63) & 1) != 0; }
  uint32_t count() const noexcept { return count_; }

 private:
  Array<uint64_t> bits_;
  uint32_t count_ = 0;
};

// hashes: (hash, row), finished. on_suspect(leader, row) for every row whose hash an earlier one of its set has, leader
// being the first with it. count_a: rows from it on are of set B.
template <class OnSuspect>
void for_each_suspect(RecordSorter& hashes, uint32_t count_a, Poller& poller, OnSuspect on_suspect) {
  SortRecord r;
  uint64_t hash = 0;
  uint32_t leader[2];
  bool known[2] = {false, false};
  while (hashes.next(&r)) {
    poller.spend(4);
    const unsigned set = r.value >= count_a;
    if (r.key() != hash) known[0] = known[1] = false;
    hash = r.key();
    if (!known[set]) {
      known[set] = true;
      leader[set] = r.value;
    } else {
      on_suspect(leader[set], r.value);
    }
  }
}

}  // namespace neardup
