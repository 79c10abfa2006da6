// Which rows come often in many lists of TIDs: ScanCount, the answer to the T-occurrence problem of Li, Lu and Lu, "Efficient
// Merging and Filtering Algorithms for Approximate String Searches" (ICDE 2008), section 3, with one byte for a row, and for so
// few rows at a time that their bytes stay in the nearest cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace neardup {

// The TIDs (block << 16 | offset) are the caller's, in an array that may grow and move. Rows are numbered in the order of their
// TIDs, with room for every offset that may be, from the first block in the lists to the last. Plain data, 40 kB; clear() before
// use.
class RowCounter {
 public:
  static constexpr unsigned kMostHits = 127;  // more are counted as so many
  static constexpr uint32_t kMostLists = 512;
  static constexpr uint64_t kMostRowsPerEntry = 256;

  void clear() noexcept {
    n_ = nlists_ = 0;
    least_ = ~uint64_t{0};
    most_ = all_bits_ = 0;
  }

  // Looks at what was added to the array: those from the last add() on, up to n. They are lists one behind the other, each
  // ascending; where one ends is seen by the next TID not being greater. Cost 0.3 ns a TID.
  void add(const uint64_t* tids, uint32_t n) noexcept;

  bool has_too_many_lists() const noexcept { return nlists_ > kMostLists; }

  // Whether at_least() may be called. Not with nothing or with more than kMostLists, nor where the lists are so thin that
  // looking at every row between the first and the last takes longer than other ways: more than kMostRowsPerEntry rows a TID.
  bool is_worth() const noexcept {
    return n_ != 0 && !has_too_many_lists() && offset_bits() <= kMostOffsetBits && rows() <= kMostRowsPerEntry * n_;
  }

  // Calls f(tid, hits) for each row with at least so many hits, 1..kMostHits, TIDs ascending; once, then clear(). Cost 2 ns a
  // TID and 0.01 ns a row.
  template <typename F>
  void at_least(const uint64_t* tids, unsigned least, F f) {
    start();
    uint64_t found[kWindow / kBlock];
    uint16_t blocks[kWindow / kBlock];
    const uint64_t rows = this->rows();
    for (uint64_t first = 0; first < rows; first += kWindow) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(rows - first + kBlock - 1, kWindow)) / kBlock * kBlock;
      if (!count_window(tids, first, size)) continue;
      const size_t n = find(least, size, found, blocks);
      for (size_t b = 0; b < n; ++b)
        for (uint64_t bits = found[blocks[b]]; bits != 0; bits &= bits - 1) {
          const size_t number = kBlock * blocks[b] + static_cast<size_t>(std::countr_zero(bits));
          f(tid_of(first + number), static_cast<unsigned>(hits_[number]));
        }
    }
  }

 private:
  static constexpr size_t kWindow = 32768;
  static constexpr size_t kBlock = 64;
  static constexpr unsigned kMostOffsetBits = 12;  // the rows of a block of the table are in one window

  unsigned offset_bits() const noexcept { return static_cast<unsigned>(std::bit_width(all_bits_ & 0xffff)); }
  uint64_t rows() const noexcept { return ((most_ >> 16) - (least_ >> 16) + 1) << offset_bits(); }
  uint64_t tid_of(uint64_t number) const noexcept {
    const uint64_t offsets = (uint64_t{1} << offset_bits()) - 1;
    return ((least_ >> 16) + (number >> offset_bits())) << 16 | (number & offsets);
  }

  void start() noexcept;
  // Counts so many rows from this number on, whole blocks; false: none has a hit.
  bool count_window(const uint64_t* tids, uint64_t first, size_t size) noexcept;
  template <bool can_be_most>
  const uint64_t* count_list(const uint64_t* tid, const uint64_t* end, uint64_t beyond, uint64_t base) noexcept;
  // For each block of hits_ which bytes are at least so many, and the blocks that have one; returns how many have.
  size_t find(unsigned least, size_t size, uint64_t* found, uint16_t* blocks) const noexcept;

  uint64_t least_;
  uint64_t most_;
  uint64_t all_bits_;  // that any TID has
  uint32_t n_;
  uint32_t nlists_;    // kMostLists + 1: too many
  uint32_t start_[kMostLists + 1];
  uint32_t next_[kMostLists];  // of each list the TID that was not counted yet
  uint8_t hits_[kWindow];
};

}  // namespace neardup
