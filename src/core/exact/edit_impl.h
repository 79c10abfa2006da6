// The inside of edit_distance(): edit_distance.cpp decides, edit_few_differences.cpp finds few differences,
// edit_many_differences.cpp many.
#pragma once

#include "core/exact/edit_distance.h"
#include "core/kernels/kernels.h"
#include "core/work/workspace.h"

namespace neardup {

// A run of symbols as it stands: UTF-8 or bytes.
struct EditText {
  const uint8_t* p;
  size_t size;     // bytes
  int64_t length;  // symbols
};

inline constexpr size_t kEditPollBytes = 64 * 1024;  // bytes compared between two polls

inline bool continues_utf8(uint8_t b) noexcept { return (b & 0xc0) == 0x80; }

// Whole symbols that are equal from a[0] and b[0] on, in bytes.
size_t common_front(bool utf8, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, Poller& poller);

// Ukkonen 1985: after e edits, how far one can get on each diagonal (symbols of b less symbols of a consumed).
// Points are byte offsets, so that the texts are compared eight bytes at a time.
class EditDiagonals {
 public:
  // Bytes of memory for each edit that is looked for.
  static constexpr size_t kBytesAnEdit = 64;

  EditDiagonals(bool utf8, const EditText& a, const EditText& b, Workspace& ws, EditStats& stats)
      : utf8_(utf8), a_(a), b_(b), ws_(ws), stats_(stats) {}

  // The distance, or -1 when it is above `most`, or seems to be far above and may_give_up. *estimate is then a guess
  // at it.
  int64_t run(int64_t most, bool may_give_up, double* estimate);

 private:
  struct Point {
    int64_t a;  // -1: out of reach
    int64_t b;
  };

  bool at_end(const Point& p) const {
    return static_cast<size_t>(p.a) == a_.size && static_cast<size_t>(p.b) == b_.size;
  }
  int64_t next(const EditText& t, int64_t at) const;
  Point slide(Point p);

  const bool utf8_;
  const EditText a_;
  const EditText b_;
  Workspace& ws_;
  EditStats& stats_;
};

// Myers 1999 in stripes of 512 rows, each over the columns that a path within the bound can touch.
//
// D[i][j] is the distance of the first i symbols of `rows` and the first j of `columns`. A stripe knows the row above
// it by one value, at column from_, and a difference of -1, 0 or 1 for each column behind. A cell that no path within
// the bound can use may get too great a value: left and right of a stripe's columns every step costs one, which is
// what a real path could pay. So values are never too small, and a result within the bound is exact.
//
// A stripe hands 2 bits a column to the next one, and masks exist for one stripe at a time, whatever the alphabet. The
// texts are read as they stand; UTF-8 columns, which every stripe reads again, are decoded once where memory allows.
class EditBand {
 public:
  // 1 <= rows.length <= columns.length.
  EditBand(bool utf8, const EditText& rows, const EditText& columns, Workspace& ws, size_t memory_limit,
           EditStats& stats);

  // The greatest bound that memory_limit >= kLeastMemory allows run().
  static int64_t greatest_bound(size_t memory_limit);

  // The distance if it is at most `bound` (columns.length - rows.length .. columns.length). Otherwise a greater number
  // that is not below the distance, or -1 when the search ended early, *estimate then being a guess at the distance.
  int64_t run(int64_t bound, double* estimate);

 private:
  static constexpr unsigned kBlocksOfStripe = kEditBlocks;
  static constexpr int64_t kStripeRows = 64 * kBlocksOfStripe;

  bool choose_columns(int64_t row, int64_t end_row);
  void advance_columns(int64_t to);
  void set_masks(int64_t rows);
  void clear_masks();
  void sweep(unsigned blocks);
  uint32_t read(const uint8_t** p, const uint8_t* end) const noexcept;
  void translate(const uint8_t** p, const uint8_t* end, size_t n, uint16_t* out) const noexcept;
  size_t place(uint32_t symbol) const noexcept { return page_of_[symbol >> 8] + (symbol & 255); }

  const bool utf8_;
  const EditText rows_;
  const EditText columns_;
  Workspace& ws_;
  const size_t memory_limit_;
  EditStats& stats_;

  // pages_[place(symbol)] is where the symbol's masks begin in masks_: 8 * number, 0 for a symbol that the stripe
  // lacks. Page 0 and mask 0 stay zero.
  Array<uint32_t> page_of_;
  Array<uint16_t> pages_;
  Array<uint32_t> places_;  // of all columns, or empty
  Array<uint64_t> masks_;
  Array<uint16_t> columns_masks_;  // of the columns of one call of the kernel
  unsigned masks_used_ = 1;

  int64_t bound_ = 0;
  const uint8_t* stripe_begin_ = nullptr;  // the stripe's symbols
  const uint8_t* stripe_end_ = nullptr;
  const uint8_t* from_text_ = nullptr;  // the symbol of column from_, where places_ is empty
  int64_t from_ = 0;                    // first column, a multiple of 64
  int64_t to_ = 0;                      // behind the last column
  int64_t known_ = 0;                   // words of the row above that are known end here
  int64_t value_ = 0;                   // D[row above][from_]
  int64_t value_at_end_ = 0;            // D[row above][columns_.length]
  uint64_t vp_[kBlocksOfStripe];
  uint64_t vn_[kBlocksOfStripe];

  // Differences of the row above, +1 and -1: word w at w & ring_, column 64 w + i in bit 63 - i.
  Array<uint64_t> p_;
  Array<uint64_t> n_;
  size_t ring_ = 0;
};

}  // namespace neardup
