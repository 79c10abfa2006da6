// See row_counter.h.
#include "core/lsh/row_counter.h"

#include <cstring>

#include "core/kernels/kernels.h"

namespace neardup {

void RowCounter::add(const uint64_t* tids, uint32_t n) noexcept {
  const uint32_t from = n_;
  n_ = n;
  if (n == from) return;
  seen_.least = std::min(seen_.least, tids[from]);
  seen_.most = std::max(seen_.most, tids[n - 1]);
  seen_.all_bits |= tids[from] | tids[n - 1];
}

void RowCounter::look(const uint64_t* tids) noexcept {
  const uint32_t n = n_;
  uint64_t all_bits = exact_.all_bits;
  for (uint32_t i = looked_at_; i < n; ++i) {
    all_bits |= tids[i];
    if (i != 0 && tids[i] > tids[i - 1]) continue;
    exact_.least = std::min(exact_.least, tids[i]);
    if (i != 0) exact_.most = std::max(exact_.most, tids[i - 1]);
    if (nlists_ < kMaxLists) start_[nlists_] = i;
    nlists_ = std::min(nlists_ + 1, kMaxLists + 1);
  }
  looked_at_ = n;
  exact_.all_bits = all_bits;
  exact_.most = std::max(exact_.most, tids[n - 1]);
}

void RowCounter::start() noexcept {
  start_[nlists_] = n_;
  std::copy_n(start_, nlists_, next_);
}

template <bool can_be_most>
inline const uint64_t* RowCounter::count_list(const uint64_t* tid, const uint64_t* end, uint64_t beyond,
                                              uint64_t base) noexcept {
  const unsigned bits = offset_bits();
  do {
    uint8_t& hits = hits_[((*tid >> 16 << bits) | (*tid & 0xffff)) - base];
    hits = static_cast<uint8_t>(hits + (!can_be_most || hits < kMaxHits));
  } while (++tid != end && *tid < beyond);
  return tid;
}

bool RowCounter::count_window(const uint64_t* tids, uint64_t first, size_t size) noexcept {
  const uint64_t beyond = row_tid(first + size);
  const uint64_t base = (exact_.least >> 16 << offset_bits()) + first;
  bool any = false;
  for (uint32_t l = 0; l < nlists_; ++l) {
    const uint64_t* tid = tids + next_[l];
    const uint64_t* end = tids + start_[l + 1];
    if (tid == end || *tid >= beyond) continue;
    if (!any) std::memset(hits_, 0, size);
    any = true;
    // A row is in a list once.
    tid = nlists_ > kMaxHits ? count_list<true>(tid, end, beyond, base) : count_list<false>(tid, end, beyond, base);
    next_[l] = static_cast<uint32_t>(tid - tids);
  }
  return any;
}

size_t RowCounter::fold(uint64_t* tids, uint32_t nfirst, unsigned least) noexcept {
  static_assert(kLeastWindow == 1 << 15);
  const auto hit_slot = [](uint64_t tid) { return tid * 0x9E3779B97F4A7C15u >> 49; };
  std::memset(hits_, 0, kLeastWindow);
  for (uint32_t i = 0; i < n_; ++i) {
    uint8_t& hits = hits_[hit_slot(tids[i])];
    hits = static_cast<uint8_t>(hits + (hits < kMaxHits));
  }
  // No branch: which TIDs are of such rows cannot be guessed.
  size_t n = 0;
  for (uint32_t i = 0; i < nfirst; ++i) {
    const uint64_t hits = hits_[hit_slot(tids[i])];
    tids[n] = tids[i] << 16 | hits;
    n += hits >= least;
  }
  // Most rows are there several times.
  constexpr size_t kRecent = kLeastWindow / sizeof(uint64_t) / 4;
  uint64_t* recent = reinterpret_cast<uint64_t*>(hits_);
  std::memset(recent, 0xff, kRecent * sizeof *recent);
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t row = tids[i];
    uint64_t& last = recent[hit_slot(row >> 16) % kRecent];
    tids[kept] = row;
    kept += last != row;
    last = row;
  }
  std::sort(tids, tids + kept);
  return static_cast<size_t>(std::unique(tids, tids + kept) - tids);
}

size_t RowCounter::find(const uint8_t* hits, unsigned least, size_t size, uint64_t* found,
                        uint16_t* blocks) const noexcept {
  kernels().at_least8(hits, size / kCountersPerWord, static_cast<uint8_t>(least), found);
  size_t n = 0;
  for (size_t b = 0; b < size / kCountersPerWord; ++b) {
    // No branch: it cannot be guessed if a block has one.
    blocks[n] = static_cast<uint16_t>(b);
    n += found[b] != 0;
  }
  return n;
}

}  // namespace neardup
