// Bit vectors in a band: see edit_impl.h.
#include <algorithm>
#include <bit>
#include <string>

#include "core/base/bits.h"
#include "core/exact/edit_impl.h"
#include "core/kernels/myers.h"
#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

constexpr size_t kPageSymbols = 256;
constexpr size_t kPages = 0x110000 / kPageSymbols;
constexpr size_t kChunkWords = kMaxEditColumns / 64;
constexpr size_t kMaskWords = kEditBlocks;
constexpr int64_t kSlackWords = kEditBlocks + 4;  // live beside the band: a stripe's height, rounding at both ends

int64_t words(int64_t columns) { return (columns + 63) / 64; }

// The first n columns of a word.
uint64_t first_columns(int64_t n) { return n >= 64 ? ~uint64_t{0} : ~(~uint64_t{0} >> n); }

}  // namespace

EditBand::EditBand(bool utf8, const EditText& rows, const EditText& columns, Workspace& ws, size_t memory_limit,
                   EditStats& stats)
    : utf8_(utf8), rows_(rows), columns_(columns), ws_(ws), memory_limit_(memory_limit), stats_(stats) {
  page_of_ = Array<uint32_t>(ws.ledger, utf8 ? kPages : 1);
  std::fill_n(page_of_.data(), page_of_.size(), 0);
  size_t pages = 1;
  if (utf8) {
    const uint8_t* p = rows.p;
    const uint8_t* const end = rows.p + rows.size;
    while (p < end) {
      const uint8_t* const piece = p + std::min<ptrdiff_t>(end - p, 16 * 1024);
      while (p < piece) {
        uint32_t& page = page_of_[read(&p, end) / kPageSymbols];
        if (page == 0) page = static_cast<uint32_t>(pages++ * kPageSymbols);
      }
      ws.poller.spend(32 * 1024);
    }
  }
  const size_t n = static_cast<size_t>(columns.length);
  if (utf8 && n <= memory_limit / (2 * sizeof(uint32_t))) {
    places_ = Array<uint32_t>(ws.ledger, n);
    const uint8_t* p = columns.p;
    const uint8_t* const end = columns.p + columns.size;
    for (size_t i = 0; i < n;) {
      const size_t piece = std::min(i + 4096, n);
      for (; i < piece; ++i) places_[i] = p < end ? static_cast<uint32_t>(place(read(&p, end))) : 0;
      ws.poller.spend(4 * 4096);
    }
  }
  pages_ = Array<uint16_t>(ws.ledger, pages * kPageSymbols);
  std::fill_n(pages_.data(), pages_.size(), 0);
  masks_ = Array<uint64_t>(ws.ledger, (kStripeRows + 1) * kMaskWords);
  std::fill_n(masks_.data(), kMaskWords, 0);
  columns_masks_ = Array<uint16_t>(ws.ledger, kMaxEditColumns + 2 * kEditMargin);
  std::fill_n(columns_masks_.data(), kEditMargin, 0);
}

inline uint32_t EditBand::read(const uint8_t** p, const uint8_t* end) const noexcept {
  if (!utf8_ || **p < 0x80) return *(*p)++;
  unsigned length;
  const uint32_t c = detail::decode_utf8(*p, end, &length);
  *p += length;
  return c;
}

// The masks of n columns.
void EditBand::translate(const uint8_t** text, const uint8_t* end, size_t n, uint16_t* out) const noexcept {
  const uint8_t* p = *text;
  const uint16_t* const pages = pages_.data();
  if (!utf8_) {
    for (size_t i = 0; i < n; ++i) out[i] = pages[p[i]];
    p += n;
  } else {
    for (size_t i = 0; i < n; ++i) out[i] = p < end ? pages[place(read(&p, end))] : uint16_t{0};
  }
  *text = p;
}

// Masks of the stripe's symbols, which begin at stripe_end_ of the stripe before.
void EditBand::set_masks(int64_t rows) {
  const uint8_t* const end = rows_.p + rows_.size;
  stripe_begin_ = stripe_end_;
  for (int64_t i = 0; i < rows && stripe_end_ < end; ++i) {
    uint16_t& at = pages_[place(read(&stripe_end_, end))];
    if (at == 0) {
      at = static_cast<uint16_t>(masks_used_++ * kMaskWords);
      std::fill_n(masks_.data() + at, kMaskWords, 0);
    }
    masks_[at + (kMaskWords - 1) - static_cast<size_t>(i / 64)] |= uint64_t{1} << (i % 64);
  }
}

void EditBand::clear_masks() {
  for (const uint8_t* p = stripe_begin_; p < stripe_end_;) pages_[place(read(&p, stripe_end_))] = 0;
  masks_used_ = 1;
}

// to: a multiple of 64, as from_ is.
void EditBand::advance_columns(int64_t to) {
  if (!utf8_) {
    from_text_ += to - from_;
  } else if (places_.size() == 0) {
    const uint8_t* const end = columns_.p + columns_.size;
    for (; from_ < to; from_ += 64) {
      for (int i = 0; i < 64 && from_text_ < end; ++i) read(&from_text_, end);
      ws_.poller.spend(100);
    }
  }
  from_ = to;
}

// Sets from_, to_ and value_ for the stripe that begins under `row`; false when no path within the bound crosses it.
//
// A path through (row, j) costs at least f = D[row][j] + |diagonal of j - target|. It may go right to the greatest x
// with f + 2 (x - max(diagonal of j, target)) <= bound (Ukkonen 1985, for a path that is half done).
bool EditBand::choose_columns(int64_t row, int64_t end_row) {
  const int64_t target = columns_.length - rows_.length;
  const int64_t least = row - (bound_ - target) / 2;  // the band's first and last column in this row
  const int64_t most = row + target + (bound_ - target) / 2;
  int64_t reach = -1;
  int64_t value = value_, new_from = -1, new_value = 0;
  if (row == 0) {
    reach = most;
    new_from = 0;
    value_at_end_ = columns_.length;
  } else {
    const int64_t aim = row + target;
    for (int64_t w = from_ / 64; w < known_; ++w) {
      const int64_t begin = 64 * w, end = std::min(begin + 64, columns_.length), n = end - begin;
      const size_t at = static_cast<size_t>(w) & ring_;
      const int64_t end_value =
          value + std::popcount(p_[at] & first_columns(n)) - std::popcount(n_[at] & first_columns(n));
      // Neighbours differ by at most one, so the least value inside is at least this.
      const int64_t f = (value + end_value - n) / 2 + std::max<int64_t>(0, std::max(begin - aim, aim - end));
      if (f <= bound_ && end >= least && begin <= most) {
        if (new_from < 0) new_from = begin, new_value = value;
        reach = std::max(reach, std::max(end, aim) + (bound_ - f) / 2);
      }
      value = end_value;
      ws_.poller.spend(2);
    }
    value_at_end_ = value + std::max<int64_t>(0, columns_.length - 64 * known_);
    if (new_from < 0) return false;
    value_ = new_value;
  }
  reach = std::min(reach, most) + (end_row - row);
  advance_columns(new_from);
  to_ = std::min(64 * words(reach), columns_.length);
  return true;
}

// The stripe's columns, a chunk at a time.
void EditBand::sweep(unsigned blocks) {
  const uint8_t* text = from_text_;
  const uint8_t* const end = columns_.p + columns_.size;
  uint64_t p[kChunkWords], n[kChunkWords];
  for (int64_t column = from_; column < to_;) {
    const size_t count = static_cast<size_t>(std::min<int64_t>(kMaxEditColumns, to_ - column));
    uint16_t* const masks = columns_masks_.data() + kEditMargin;
    if (places_.size() == 0) {
      translate(&text, end, count, masks);
    } else {
      const uint32_t* const places = places_.data() + column;
      for (size_t i = 0; i < count; ++i) masks[i] = pages_[places[i]];
    }
    std::fill_n(masks + count, kEditMargin, 0);
    const int64_t first = column / 64;
    const size_t chunk_words = (count + 63) / 64;
    for (size_t i = 0; i < chunk_words; ++i) {
      const int64_t w = first + static_cast<int64_t>(i);
      p[i] = w < known_ ? p_[static_cast<size_t>(w) & ring_] : ~uint64_t{0};
      n[i] = w < known_ ? n_[static_cast<size_t>(w) & ring_] : 0;
    }
    kernels().edit_stripe(masks_.data(), masks, count, blocks, vp_, vn_, p, n);
    for (size_t i = 0; i < chunk_words; ++i) {
      const size_t at = static_cast<size_t>(first + static_cast<int64_t>(i)) & ring_;
      p_[at] = p[i];
      n_[at] = n[i];
    }
    column += static_cast<int64_t>(count);
    stats_.block_columns += count * blocks;
    ws_.poller.spend(count * (blocks + 1));
  }
}

int64_t EditBand::greatest_bound(size_t memory_limit) {
  const size_t capacity = std::bit_floor(std::min<size_t>(memory_limit, size_t{1} << 40) / (2 * sizeof(uint64_t)));
  return 64 * (static_cast<int64_t>(capacity) - kSlackWords);
}

int64_t EditBand::run(int64_t bound, double* estimate) {
  bound_ = bound;
  const size_t capacity = std::bit_ceil(static_cast<size_t>(words(std::min(columns_.length, bound)) + kSlackWords));
  if (capacity > p_.size()) {
    const size_t bytes = 2 * capacity * sizeof(uint64_t);
    if (bytes > memory_limit_)
      throw Error(Errc::out_of_budget, "an edit distance within " + std::to_string(bound) + " needs " +
                                           std::to_string(bytes) + " bytes of memory, and " +
                                           std::to_string(memory_limit_) + " are allowed");
    p_ = {};
    n_.renew(ws_.ledger, capacity);
    p_.renew(ws_.ledger, capacity);
  }
  ring_ = p_.size() - 1;
  ++stats_.bands;
  stripe_end_ = rows_.p;
  from_text_ = columns_.p;
  from_ = known_ = value_ = 0;
  const int64_t rows = rows_.length;
  for (int64_t row = 0; row < rows; row += kStripeRows) {
    const int64_t end_row = std::min(row + kStripeRows, rows);
    if (!choose_columns(row, end_row)) {
      *estimate = static_cast<double>(bound) * static_cast<double>(rows) / static_cast<double>(row);
      return -1;
    }
    set_masks(end_row - row);
    std::fill_n(vp_, kBlocksOfStripe, ~uint64_t{0});
    std::fill_n(vn_, kBlocksOfStripe, 0);
    sweep(static_cast<unsigned>(words(end_row - row)));
    clear_masks();
    known_ = words(to_);
    value_ += kStripeRows;
  }
  // Down the last column, from the row above the last stripe.
  int64_t distance = value_at_end_;
  const int64_t height = rows - (rows - 1) / kStripeRows * kStripeRows;
  for (int64_t b = 0; 64 * b < height; ++b) {
    const int64_t n = height - 64 * b;
    const uint64_t inside = low_bits(static_cast<unsigned>(std::min<int64_t>(n, 64)));
    const size_t at = kBlocksOfStripe - 1 - static_cast<size_t>(b);
    distance += MyersColumn{vp_[at], vn_[at]}.sum(inside);
  }
  return distance;
}

}  // namespace neardup
