// See row_counter.h.
#include "core/row_counter.h"

namespace neardup {

void RowCounter::add(const uint64_t* tids, uint32_t n) noexcept {
  uint64_t all_bits = all_bits_;
  for (uint32_t i = n_; i < n; ++i) {
    all_bits |= tids[i];
    if (i != 0 && tids[i] >= tids[i - 1]) continue;
    least_ = std::min(least_, tids[i]);
    if (i != 0) most_ = std::max(most_, tids[i - 1]);
    if (nlists_ < kMostLists) start_[nlists_] = i;
    nlists_ = std::min(nlists_ + 1, kMostLists + 1);
  }
  all_bits_ = all_bits;
  if (n != 0) most_ = std::max(most_, tids[n - 1]);
  n_ = n;
}

void RowCounter::start() noexcept {
  start_[nlists_] = n_;
  std::copy_n(start_, nlists_, next_);
}

bool RowCounter::count_window(const uint64_t* tids, uint64_t first, size_t size) noexcept {
  const uint64_t beyond = tid_of(first + size);
  const unsigned bits = offset_bits();
  const uint64_t base = (least_ >> 16 << bits) + first;
  bool any = false;
  for (uint32_t l = 0; l < nlists_; ++l) {
    const uint64_t* tid = tids + next_[l];
    const uint64_t* end = tids + start_[l + 1];
    if (tid == end || *tid >= beyond) continue;
    if (!any) std::memset(hits_, 0, size);
    any = true;
    do {
      uint8_t& hits = hits_[((*tid >> 16 << bits) | (*tid & 0xffff)) - base];
      hits = static_cast<uint8_t>(hits + (hits < kMostHits));
    } while (++tid != end && *tid < beyond);
    next_[l] = static_cast<uint32_t>(tid - tids);
  }
  return any;
}

size_t RowCounter::blocks_with(uint64_t add, size_t size, uint16_t* out) const noexcept {
  size_t n = 0;
  for (size_t at = 0; at < size; at += kBlock) {
    uint64_t sums = 0;
    for (size_t i = 0; i < kBlock; i += 8) sums |= word(at + i) + add;
    out[n] = static_cast<uint16_t>(at);
    n += (sums & kOnes << 7) != 0;
  }
  return n;
}

}  // namespace neardup
