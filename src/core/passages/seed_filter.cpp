// See seed_filter.h.
#include "core/passages/seed_filter.h"

namespace neardup {
namespace {

// Up to so many hashes the table is made for their number.
constexpr size_t kFewSeeds = size_t{1} << 16;
constexpr size_t kFirstFew = 256;
// Words of the table for each of few hashes: one counter in 32 is used.
constexpr size_t kWordsPerHash = 1;
constexpr size_t kLeastTable = 4096;
// Where memory is not limited.
constexpr size_t kMaxTable = size_t{256} << 20;
constexpr size_t kFilterAddCost = 15;  // nanoseconds

}  // namespace

SeedFilter::SeedFilter(size_t memory, Workspace& ws)
    : ws_(ws),
      memory_(std::clamp(memory, kLeastTable, kMaxTable)),
      most_few_(std::min(kFewSeeds, memory_ / sizeof(uint64_t))),
      few_(ws.ledger, kFirstFew) {}

void SeedFilter::make_table(size_t words) {
  table_ = Array<uint64_t>(ws_.ledger, words);
  zero_polled(&table_, ws_.poller);
  slots_ = words * kPerWord;
  for (size_t i = 0; i < few_count_; ++i) {
    count(few_[i]);
    ws_.poller.spend(kFilterAddCost);
  }
  few_ = Array<uint64_t>();
}

void SeedFilter::add(uint64_t hash) {
  ws_.poller.spend(kFilterAddCost);
  if (slots_ != 0) {
    count(hash);
    return;
  }
  if (few_count_ == most_few_) {
    make_table(memory_ / sizeof(uint64_t));
    count(hash);
    return;
  }
  if (few_count_ == few_.size())
    resize_polled(&few_, std::min(most_few_, 2 * few_count_), few_count_, ws_.ledger, ws_.poller);
  few_[few_count_++] = hash;
}

void SeedFilter::finish() {
  if (slots_ == 0) make_table(std::max<size_t>(1, kWordsPerHash * few_count_));
}

}  // namespace neardup
