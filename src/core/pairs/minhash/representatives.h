// The representatives that rows of an anchor clustering may join, and how the first one near a row is found.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/pairs/banding.h"
#include "core/work/parallel.h"
#include "core/work/row_store.h"
#include "core/work/workspace.h"

namespace neardup {

inline constexpr uint32_t kNoRepresentative = UINT32_MAX;

// Representatives in the order they were made, and for each band the lists of those with equal key slots.
class Representatives {
 public:
  // Bytes of one of them, at least.
  static size_t bytes_each(const Banding& banding, const RowStore& rows) {
    const size_t slots = banding.usable() ? banding.bands() * sizeof(Slot) * kSlotsEach : 0;
    return sizeof(uint32_t) * (1 + record_words(banding)) + slots + (rows.in_memory() ? 0 : rows.row_bytes());
  }

  Representatives(const Banding& banding, const RowCompare& compare, uint32_t need, const RowStore& rows, uint32_t most,
                  Workspace& ws);

  uint32_t size() const noexcept { return size_; }
  uint32_t most() const noexcept { return most_; }
  bool full() const noexcept { return size_ == most_; }
  uint32_t row_number(uint32_t r) const noexcept { return row_numbers_[r]; }
  const std::byte* row(uint32_t r) const noexcept {
    return rows_.in_memory() ? rows_.row(row_numbers_[r]) : copies_.row(r);
  }

  // keys: of the row; null without bands. Not when full(). With bands it is found when it is linked.
  void add(uint32_t row_number, const std::byte* row, const uint32_t* keys) {
    if (size_ == row_numbers_.size()) grow();
    if (!rows_.in_memory()) copies_.add(row);
    row_numbers_[size_] = row_number;
    if (keys != nullptr) std::copy(keys, keys + banding_.stride(), record(size_));
    ++size_;
  }

  void link(unsigned threads);

  // The same where they are few.
  void link_few() {
    if (record_words_ == 0) return;
    for (; linked_ < size_; ++linked_) {
      link_record(linked_, 0, banding_.bands());
      ws_.poller.spend(4 * banding_.bands());
    }
  }

  const uint32_t* keys(uint32_t r) const noexcept { return record(r); }

  void prefetch(const uint32_t* keys) const noexcept {
    if (slots_each_ == 0) return;
    for (uint32_t band = 0; band < banding_.bands(); ++band) __builtin_prefetch(&slot(band, keys[band]));
  }

  // The earliest representative with at least `need` matches, else kNoRepresentative. Polls: a Poller or a HitSink.
  template <class Polls>
  uint32_t find(const std::byte* row, const uint32_t* keys, uint32_t* matches, Polls& poller) const {
    if (size_ == 0) return kNoRepresentative;
    const uint32_t bands = banding_.bands();
    const uint32_t probes = banding_.probes();
    uint64_t lists[Banding::kMaxBands];  // length << 32 | band
    uint32_t empty = 0;
    for (uint32_t band = 0; band < bands; ++band) {
      const uint32_t count = slot(band, keys[band]).count;
      lists[band] = static_cast<uint64_t>(count) << 32 | band;
      empty += count == 0;
    }
    poller.spend(4 * bands);
    if (empty >= probes) return kNoRepresentative;
    if (probes < bands) std::nth_element(lists, lists + probes, lists + bands);
    uint64_t length = 0;
    for (uint32_t p = 0; p < probes; ++p) length += lists[p] >> 32;
    if (length > size_) return find_directly(row, 0, size_, matches, poller);

    uint32_t heads[Banding::kMaxBands];
    for (uint32_t p = 0; p < probes; ++p) {
      const uint32_t band = static_cast<uint32_t>(lists[p]);
      heads[p] = (lists[p] >> 32) == 0 ? kNoRepresentative : slot(band, keys[band]).head;
      if (heads[p] != kNoRepresentative) {
        for (uint32_t word = 0; word < record_words_; word += 16) __builtin_prefetch(record(heads[p]) + word);
      }
    }
    uint32_t best = kNoRepresentative;
    KeyFilter filter(banding_);
    for (uint32_t p = 0; p < probes; ++p) {
      const uint32_t band = static_cast<uint32_t>(lists[p]);
      for (uint32_t r = heads[p]; r != kNoRepresentative; r = record(r)[banding_.stride() + band]) {
        poller.spend(20);
        if (r >= best || !filter(keys, record(r))) continue;
        const uint32_t m = compare_(row, this->row(r));
        if (m < need_) continue;
        best = r;
        *matches = m;
      }
      filter.mark_done(band);
    }
    return best;
  }

  // As find(), among representatives first .. last - 1, by comparing.
  template <class Polls>
  uint32_t find_directly(const std::byte* row, uint32_t first, uint32_t last, uint32_t* matches, Polls& poller) const {
    for (uint32_t r = first; r < last; ++r) {
      poller.spend(5 + rows_.row_bytes() / 64);
      const uint32_t m = compare_(row, this->row(r));
      if (m >= need_) {
        *matches = m;
        return r;
      }
    }
    return kNoRepresentative;
  }

  void clear();

 private:
  struct Slot {
    uint32_t head;
    uint32_t count;
  };
  static constexpr size_t kSlotsEach = 1;

  static size_t record_words(const Banding& banding) {
    return banding.usable() ? banding.stride() + banding.bands() : 0;
  }

  uint32_t* record(uint32_t r) noexcept { return records_.data() + r * record_words_; }
  const uint32_t* record(uint32_t r) const noexcept { return records_.data() + r * record_words_; }
  Slot& slot(uint32_t band, uint32_t key) noexcept { return slots_[band * slots_each_ + (key & (slots_each_ - 1))]; }
  const Slot& slot(uint32_t band, uint32_t key) const noexcept {
    return slots_[band * slots_each_ + (key & (slots_each_ - 1))];
  }

  void link_record(uint32_t r, uint32_t first, uint32_t last) noexcept {
    uint32_t* words = record(r);
    for (uint32_t band = first; band < last; ++band) {
      Slot& s = slot(band, words[band]);
      words[banding_.stride() + band] = s.count == 0 ? kNoRepresentative : s.head;
      s.head = r;
      ++s.count;
    }
  }

  void link_bands(uint32_t first, uint32_t last, HitSink& sink);

  // All are to be linked again.
  void grow();

  Workspace& ws_;
  const Banding& banding_;
  const RowCompare& compare_;
  uint32_t need_;
  const RowStore& rows_;
  RowStore copies_;  // of the representatives, where the rows lie on disk
  size_t record_words_;
  uint32_t most_;
  uint32_t size_ = 0;
  uint32_t linked_ = 0;  // those before it are in the lists
  Array<uint32_t> row_numbers_;
  Array<uint32_t> records_;  // key vector, then for each band the next in the list
  size_t slots_each_ = 0;
  Array<Slot> slots_;
};

}  // namespace neardup
