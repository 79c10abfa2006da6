// See window_set.h.
#include "core/passages/window_set.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/work/spill.h"

namespace neardup {
namespace {

constexpr size_t kFirstBlocks = 16;
constexpr size_t kBlockSearchCost = 20;  // nanoseconds
constexpr size_t kLookupCost = 100;

}  // namespace

WindowSet::WindowSet(size_t memory_limit, TempFileFactory* files, StopCheck* stop)
    : ws_(memory_limit, files, stop),
      store_(memory_share(ws_, kHalf), ws_),
      filter_(memory_share(ws_, kQuarter), ws_),
      blocks_(ws_.ledger, kFirstBlocks),
      numbers_(ws_.ledger, kMaxBlockNumbers) {}

void WindowSet::add(const uint64_t* numbers, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (i > 0 && numbers[i] <= numbers[i - 1])
      throw Error(Errc::invalid_argument, "the numbers of stored windows do not ascend");
    filter_.add(numbers[i]);
  }
  if (count_ == blocks_.size()) resize_polled(&blocks_, 2 * count_, count_, ws_.ledger, ws_.poller);
  blocks_[count_++] = {numbers[0], store_.append(numbers, n * sizeof(uint64_t)), n};
}

void WindowSet::finish() {
  filter_.finish();
  Array<SortRecord> order(ws_.ledger, count_);
  Array<SortRecord> scratch(ws_.ledger, count_);
  for (size_t i = 0; i < count_; ++i) {
    const uint64_t first = blocks_[i].first;
    order[i] = {static_cast<uint32_t>(first >> 32), static_cast<uint32_t>(first), static_cast<uint32_t>(i)};
    ws_.poller.spend(kBlockSearchCost);
  }
  const SortRecord* const sorted = sort_records(order.data(), scratch.data(), count_, ws_.poller);
  Array<Block> ascending(ws_.ledger, std::max<size_t>(count_, 1));
  for (size_t i = 0; i < count_; ++i) {
    ascending[i] = blocks_[sorted[i].value];
    ws_.poller.spend(kBlockSearchCost);
  }
  blocks_ = std::move(ascending);
}

const WindowSet::Block* WindowSet::find_block(uint64_t number) const noexcept {
  const Block* const begin = blocks_.data();
  const Block* const after = std::upper_bound(begin, begin + count_, number,
                                              [](uint64_t wanted, const Block& block) { return wanted < block.first; });
  return after == begin ? nullptr : after - 1;
}

bool WindowSet::has(uint64_t number) {
  if (!filter_.reaches(number, 1)) return false;
  ws_.poller.spend(kLookupCost);
  const Block* const block = find_block(number);
  if (block == nullptr) return false;
  if (read_ != block) {
    store_.read(block->offset, numbers_.data(), static_cast<size_t>(block->count) * sizeof(uint64_t));
    read_ = block;
  }
  return std::binary_search(numbers_.data(), numbers_.data() + block->count, number);
}

}  // namespace neardup
