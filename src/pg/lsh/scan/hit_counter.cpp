// See hit_counter.h and hit_table.h.
#include "pg/lsh/scan/hit_counter.h"

namespace neardup {
namespace {

constexpr size_t kTablePart = 2;
constexpr size_t kGatheredPart = 4;

constexpr size_t kLeastSlots = 256;
constexpr uint64_t kMaxSlots = uint64_t{1} << 32;
constexpr size_t kSlotBytes = sizeof(uint64_t) + sizeof(uint32_t) / 2;  // and half a place in the list of rows
constexpr uint32_t kLeastGroups = 64;

}  // namespace

void HitTable::init(MemoryContext context, size_t most_bytes) {
  context_ = context;
  most_ = kLeastSlots;
  while (most_ * 2 * kSlotBytes <= most_bytes && most_ < kMaxSlots) most_ *= 2;
}

void HitTable::set_groups(uint32_t ngroups) {
  bins_ = ngroups + 1;
  if (ngroups <= group_capacity_ && histogram_ != nullptr) return;
  group_capacity_ = Max(ngroups, kLeastGroups);
  if (histogram_ != nullptr) pfree(histogram_);
  histogram_ = static_cast<uint32_t*>(MemoryContextAlloc(context_, sizeof(uint32_t) * (group_capacity_ + 2)));
}

// Slots, and rows for the half of them that is filled at most; zeroed.
void HitTable::allocate(size_t n) {
  char* memory = static_cast<char*>(MemoryContextAllocExtended(
      context_, n * sizeof(uint64_t) + n / 2 * sizeof(uint32_t), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  slots_ = reinterpret_cast<uint64_t*>(memory);
  rows_ = reinterpret_cast<uint32_t*>(slots_ + n);
  allocated_ = n;
}

void HitTable::forget() {
  if (slots_ != nullptr) pfree(slots_);
  slots_ = nullptr;
  allocated_ = 0;
}

void HitTable::begin(uint64_t entries) {
  size_t want = kLeastSlots;
  while (want < entries && want < most_) want *= 2;
  if (want > allocated_) {
    forget();
    allocate(want);
  } else {
    memset(slots_, 0, want * sizeof(uint64_t));
  }
  capacity_ = want;
  used_ = 0;
}

bool HitTable::grow() {
  if (capacity_ * 2 > most_) return false;
  const size_t old_capacity = capacity_;
  uint64_t* old = slots_;
  capacity_ *= 2;
  if (capacity_ <= allocated_) {
    const size_t bytes = old_capacity * sizeof(uint64_t);
    old = static_cast<uint64_t*>(MemoryContextAllocExtended(context_, bytes, MCXT_ALLOC_HUGE));
    memcpy(old, slots_, bytes);
    memset(slots_, 0, capacity_ * sizeof(uint64_t));
  } else {
    allocate(capacity_);
  }
  used_ = 0;
  for (size_t i = 0; i < old_capacity; ++i)
    if (old[i] != 0) put(slot_place(old[i] >> 16), old[i]);
  pfree(old);
  return true;
}

void HitTable::make_histogram() {
  memset(histogram_, 0, sizeof(uint32_t) * (bins_ + 1));
  const size_t words = capacity_ / 8;  // 8 bits a slot
  if (words > filter_words_) {
    if (filter_ != nullptr) pfree(filter_);
    filter_ = static_cast<uint64_t*>(MemoryContextAllocExtended(context_, words * sizeof(uint64_t), MCXT_ALLOC_HUGE));
    filter_words_ = words;
  }
  memset(filter_, 0, words * sizeof(uint64_t));
  filter_mask_ = words * 64 - 1;
  for (size_t i = 0; i < used_; ++i) {
    const uint64_t slot = slots_[rows_[i]];
    ++histogram_[Min(slot_hits(slot), bins_)];
    const size_t bit = hash(slot >> 16) & filter_mask_;
    filter_[bit >> 6] |= uint64_t{1} << (bit & 63);
  }
}

void HitCounter::init(MemoryContext context, size_t most_bytes) {
  table_.init(context, most_bytes / kTablePart);
  gathered_.init(context, most_bytes / kGatheredPart);
}

void HitCounter::set_groups(uint32_t ngroups) {
  ngroups_ = ngroups;
  table_.set_groups(ngroups);
}

void HitCounter::begin(uint64_t expected) {
  gathers_ = ngroups_ <= RowCounter::kMaxHits && gathered_.begin(expected);
  if (gathers_)
    table_.forget();
  else
    begin_table(expected);
}

void HitCounter::begin_table(uint64_t expected) {
  gathered_.forget();
  gathers_ = false;
  table_.begin(expected);
}

bool HitCounter::move_into_table() {
  gathers_ = false;
  table_.begin(gathered_.n());
  if (!table_.count(gathered_.tids(), gathered_.n())) return false;
  gathered_.forget();
  return true;
}

}  // namespace neardup
