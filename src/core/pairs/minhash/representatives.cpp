// See representatives.h.
#include "core/pairs/minhash/representatives.h"

#include <bit>

namespace neardup {
namespace {

// Representatives whose slots are fetched ahead of those that are linked.
constexpr uint32_t kLinkedAhead = 8;
// Bands that a task links, and representatives that are worth it.
constexpr uint32_t kTaskBands = 8;
constexpr uint32_t kLeastRowsForThreads = 1024;
// The table grows to so many times its rows: each time all of them are linked again.
constexpr uint32_t kTableGrowth = 4;

}  // namespace

Representatives::Representatives(const Banding& banding, const RowCompare& compare, uint32_t need, const RowStore& rows,
                                 uint32_t most, Workspace& ws)
    : ws_(ws),
      banding_(banding),
      compare_(compare),
      need_(need),
      rows_(rows),
      copies_(rows.row_bytes(), UINT64_MAX, ws),
      record_words_(record_words(banding)),
      most_(most) {}

void Representatives::link(unsigned threads) {
  const uint32_t bands = record_words_ == 0 ? 0 : banding_.bands();
  if (size_ - linked_ < kLeastRowsForThreads) {
    link_few();
    return;
  }
  const uint32_t task_bands = threads == 1 ? bands : kTaskBands;
  if (bands != 0)
    run_tasks(threads, (bands + task_bands - 1) / task_bands, ws_.poller, [&](unsigned, size_t task, HitSink& sink) {
      const auto first = static_cast<uint32_t>(task) * task_bands;
      link_bands(first, std::min(bands, first + task_bands), sink);
    });
  linked_ = size_;
}

void Representatives::clear() {
  size_ = linked_ = 0;
  copies_.clear();
  zero_polled(&slots_, ws_.poller);
}

void Representatives::link_bands(uint32_t first, uint32_t last, HitSink& sink) {
  for (uint32_t r = linked_; r < size_; ++r) {
    if (r + kLinkedAhead < size_) {
      const uint32_t* ahead = record(r + kLinkedAhead);
      for (uint32_t band = first; band < last; ++band) __builtin_prefetch(&slot(band, ahead[band]), 1);
    }
    link_record(r, first, last);
    sink.spend((last - first) * 4);
  }
}

void Representatives::grow() {
  const uint32_t room = std::min(most_, std::max(64u, kTableGrowth * size_));
  resize_polled(&row_numbers_, room, size_, ws_.ledger, ws_.poller);
  if (record_words_ == 0) return;
  resize_polled(&records_, room * record_words_, size_ * record_words_, ws_.ledger, ws_.poller);
  slots_each_ = std::bit_floor(room * kSlotsEach);
  slots_.renew(ws_.ledger, banding_.bands() * slots_each_);
  zero_polled(&slots_, ws_.poller);
  linked_ = 0;
}

}  // namespace neardup
