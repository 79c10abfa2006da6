// See hit_counter.h.
#include "pg/lsh/scan/hit_counter.h"

namespace neardup {
namespace {

// Parts of a scan's memory.
constexpr size_t kTablePart = 2;
constexpr size_t kGatheredPart = 4;

constexpr size_t kLeastSlots = 256;
constexpr uint64_t kMaxSlots = uint64_t{1} << 32;
constexpr size_t kSlotBytes = sizeof(uint64_t) + sizeof(uint32_t) / 2;  // and half a place in the list of rows
constexpr uint32_t kLeastGroups = 64;

}  // namespace

void HitCounter::init(MemoryContext context, size_t most_bytes) {
  context_ = context;
  table_.context = context;
  table_.most = kLeastSlots;
  while (table_.most * 2 * kSlotBytes <= most_bytes / kTablePart && table_.most < kMaxSlots) table_.most *= 2;
  gathered_.context = context;
  gathered_.most = Min(most_bytes / kGatheredPart / sizeof(uint64_t), GatheredHits::kMostGathered);
}

void HitCounter::set_groups(uint32_t ngroups) {
  ngroups_ = ngroups;
  if (ngroups <= group_capacity_ && table_.histogram != nullptr) return;
  group_capacity_ = Max(ngroups, kLeastGroups);
  if (table_.histogram != nullptr) pfree(table_.histogram);
  // Of 0 to ngroups hits, and of more.
  table_.histogram = static_cast<uint32_t*>(MemoryContextAlloc(context_, sizeof(uint32_t) * (group_capacity_ + 2)));
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
  start_table(expected);
}

void HitCounter::start_table(uint64_t expected) {
  gathers_ = false;
  table_.bins = ngroups_ + 1;
  table_.reset(static_cast<size_t>(Min(expected, uint64_t{1} << 40)));
}

bool HitCounter::move_into_table() {
  start_table(gathered_.n);
  if (!table_.count<true>(gathered_.tids, gathered_.n)) return false;
  gathered_.forget();
  return true;
}

}  // namespace neardup
