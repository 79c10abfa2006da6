// Rows that come often in many lists of TIDs: ScanCount, the answer to the T-occurrence problem of Li, Lu and Lu,
// "Efficient Merging and Filtering Algorithms for Approximate String Searches" (ICDE 2008), section 3, with one byte
// for a row, and for so few rows at a time that their bytes stay in the nearest cache; or in the next one, where a list
// has few of these rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace neardup {

// Where there are many more rows than TIDs, looking at every row's byte takes longer than all else; rows then share
// bytes, by a hash, which gives an upper bound of their hits.
//
// The TIDs (block << 16 | offset) are the caller's, in an array that may grow and move. Rows are numbered in the order
// of their TIDs, with room for every offset that may be, from the first block in the lists to the last. Plain data, 140
// kB, of which 40 are written to unless lists are thin; clear() before use.
class RowCounter {
 public:
  static constexpr unsigned kMaxHits = 127;  // more are counted as so many
  static constexpr uint32_t kMaxLists = 512;
  static constexpr uint64_t kMaxRowsPerEntry = 256;

  void clear() noexcept {
    n_ = looked_at_ = nlists_ = 0;
    seen_.clear();
    exact_.clear();
  }

  // Takes note of what was added to the array: those from the last add() on, up to n. They are lists one behind the
  // other, each ascending; where one ends is seen by the next TID not being greater.
  void add(const uint64_t* tids, uint32_t n) noexcept;

  bool has_too_many_lists() const noexcept { return nlists_ > kMaxLists; }

  // True if maybe_at_least() is the quicker way when there will be n TIDs. Decided by the ends of what was added. Where
  // few hits are enough, too many rows would have them by chance.
  bool is_thin(uint64_t n, unsigned least) const noexcept {
    const uint64_t rows = seen_.rows();
    return n_ != 0 && least >= kLeastShared && n <= kMaxThin && rows > kThinRows * n &&
           (n <= kMaxThin / 2 || rows > kMaxRowsPerEntry * n);
  }

  // True if at_least() may be called. Not with nothing or with more than kMaxLists, nor where the lists are so thin
  // that looking at every row between the first and the last takes longer than other ways: more than kMaxRowsPerEntry
  // rows a TID. Looks at what was added since the last time. Cost 0.3 ns a TID.
  bool is_worth(const uint64_t* tids) noexcept {
    if (n_ == 0) return false;
    look(tids);
    return !has_too_many_lists() && exact_.offset_bits() <= kMaxOffsetBits && exact_.rows() <= kMaxRowsPerEntry * n_;
  }

  // Calls f(tid, hits) for each row with at least so many hits, 1..kMaxHits, TIDs ascending; once, then clear(). Cost 2
  // ns a TID and 0.01 ns a row.
  template <typename F>
  void at_least(const uint64_t* tids, unsigned least, F f) {
    start();
    const uint64_t rows = exact_.rows();
    const uint64_t window = window_rows(rows);
    for (uint64_t first = 0; first < rows; first += window) {
      const size_t size = static_cast<size_t>(std::min(rows - first + kCountersPerWord - 1, window)) /
                          kCountersPerWord * kCountersPerWord;
      if (!count_window(tids, first, size)) continue;
      for (size_t piece = 0; piece < size; piece += kLeastWindow)
        for_each_row(first, piece, std::min(size - piece, kLeastWindow), least, f);
    }
  }

  // As at_least(), from an upper bound of the hits: calls f(tid, hits) for each row that is among the first `nfirst`
  // TIDs and has at least so many hits, 1..kMaxHits, and perhaps for others of these; TIDs ascending. hits: its own and
  // those of rows with which it shares a counter. Any lists, in any order. Makes a mess of tids. Once, then clear().
  // Cost 1 ns a TID.
  template <typename F>
  void maybe_at_least(uint64_t* tids, uint32_t nfirst, unsigned least, F f) {
    const size_t n = fold(tids, nfirst, least);
    for (size_t i = 0; i < n; ++i) f(tids[i] >> 16, static_cast<unsigned>(tids[i] & 0xffff));
  }

 private:
  static constexpr size_t kLeastWindow = 32768;
  static constexpr size_t kMostWindow = 4 * kLeastWindow;
  // A list should have so many entries in a window, where it costs a branch misprediction.
  static constexpr uint64_t kListEntries = 16;
  static constexpr unsigned kLeastShared = 4;
  static constexpr uint32_t kMaxThin = 16384;
  static constexpr uint64_t kThinRows = 16;  // for each TID
  static constexpr size_t kCountersPerWord = 64;
  static constexpr unsigned kMaxOffsetBits = 12;  // the rows of a block of the table are in one window

  // The span of rows between the first and the last.
  struct Range {
    uint64_t least;
    uint64_t most;
    uint64_t all_bits;  // that any TID has

    void clear() noexcept {
      least = ~uint64_t{0};
      most = all_bits = 0;
    }
    unsigned offset_bits() const noexcept { return static_cast<unsigned>(std::bit_width(all_bits & 0xffff)); }
    uint64_t rows() const noexcept { return ((most >> 16) - (least >> 16) + 1) << offset_bits(); }
  };

  unsigned offset_bits() const noexcept { return exact_.offset_bits(); }
  uint64_t row_tid(uint64_t number) const noexcept {
    const uint64_t offsets = (uint64_t{1} << offset_bits()) - 1;
    return ((exact_.least >> 16) + (number >> offset_bits())) << 16 | (number & offsets);
  }

  void look(const uint64_t* tids) noexcept;
  void start() noexcept;
  // A multiple of kLeastWindow.
  uint64_t window_rows(uint64_t rows) const noexcept {
    const uint64_t wanted = kListEntries * nlists_ * rows / n_ / kLeastWindow * kLeastWindow;
    return std::clamp<uint64_t>(wanted, kLeastWindow, kMostWindow);
  }
  // Calls f for the rows of a piece of the window that begins with row `first`.
  template <typename F>
  void for_each_row(uint64_t first, size_t piece, size_t size, unsigned least, F& f) const {
    uint64_t found[kLeastWindow / kCountersPerWord];
    uint16_t blocks[kLeastWindow / kCountersPerWord];
    const uint8_t* const hits = hits_ + piece;
    const size_t n = find(hits, least, size, found, blocks);
    for (size_t b = 0; b < n; ++b)
      for (uint64_t bits = found[blocks[b]]; bits != 0; bits &= bits - 1) {
        const size_t number = kCountersPerWord * blocks[b] + static_cast<size_t>(std::countr_zero(bits));
        f(row_tid(first + piece + number), static_cast<unsigned>(hits[number]));
      }
  }
  // Counts so many rows from this number on, whole blocks; false: none has a hit.
  bool count_window(const uint64_t* tids, uint64_t first, size_t size) noexcept;
  template <bool can_be_most>
  const uint64_t* count_list(const uint64_t* tid, const uint64_t* end, uint64_t beyond, uint64_t base) noexcept;
  // For each block of so many bytes which ones are at least so many, and the blocks that have one; returns how many
  // have.
  size_t find(const uint8_t* hits, unsigned least, size_t size, uint64_t* found, uint16_t* blocks) const noexcept;
  // maybe_at_least(): leaves TID << 16 | hits of so many rows in tids.
  size_t fold(uint64_t* tids, uint32_t nfirst, unsigned least) noexcept;

  Range seen_;   // by the ends of what was added
  Range exact_;  // of the TIDs that were looked at
  uint32_t n_;
  uint32_t looked_at_;  // so many TIDs
  uint32_t nlists_;     // of the TIDs that were looked at; kMaxLists + 1: too many
  uint32_t start_[kMaxLists + 1];
  uint32_t next_[kMaxLists];  // of each list the TID that was not counted yet
  alignas(uint64_t) uint8_t hits_[kMostWindow];
};

}  // namespace neardup
