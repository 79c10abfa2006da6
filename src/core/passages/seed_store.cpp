// See seed_store.h.
#include "core/passages/seed_store.h"

#include <algorithm>

namespace neardup {
namespace {

constexpr size_t kChunkSeeds = 1024;

}  // namespace

SeedStore::SeedStore(size_t memory, Workspace& ws) : store_(memory, ws), chunk_(ws.ledger, kChunkSeeds) {}

void SeedStore::put(const Stored& stored) {
  chunk_[held_++] = stored;
  if (held_ < kChunkSeeds) return;
  store_.append(chunk_.data(), held_ * sizeof(Stored));
  held_ = 0;
}

void SeedStore::finish() {
  store_.append(chunk_.data(), held_ * sizeof(Stored));
  rewind();
}

void SeedStore::rewind() {
  next_byte_ = first_ = 0;
  at_ = held_ = 0;
}

void SeedStore::load() {
  held_ = static_cast<size_t>(std::min<uint64_t>(kChunkSeeds, (store_.size() - next_byte_) / sizeof(Stored)));
  store_.read(next_byte_, chunk_.data(), held_ * sizeof(Stored));
  next_byte_ += held_ * sizeof(Stored);
  at_ = 0;
}

}  // namespace neardup
