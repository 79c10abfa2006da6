// See set_store.h.
#include "core/pairs/sets/set_store.h"

#include <algorithm>

#include "core/work/row_store.h"

namespace neardup {
namespace {

constexpr size_t kChunkElements = size_t{1} << 17;
constexpr size_t kLeastChunkElements = 256;
constexpr unsigned kChunkShift = 32;

}  // namespace

SetStore::SetStore(size_t memory_bytes, Workspace& ws)
    : ws_(ws),
      memory_bytes_(ws.files == nullptr ? SIZE_MAX : memory_bytes),
      chunk_elements_(std::clamp(memory_bytes / sizeof(int64_t) / 16, kLeastChunkElements, kChunkElements)) {}

void SetStore::add(const SetView& set) {
  const auto size = static_cast<uint32_t>(set.n);
  if (rows_ == RowStore::kMaxStoredRows) RowStore::refuse_more();
  const size_t bytes = size * sizeof(int64_t);
  if (rows_ % kPlaces == 0) places_.emplace_back(ws_.ledger, kPlaces);
  if (in_memory() && held_bytes() + (fits_last_chunk(size) ? 0 : chunk_bytes_for(size)) > memory_bytes_) spill();
  Place& to = places_[rows_ / kPlaces][rows_ % kPlaces];
  to.size = size;
  if (in_memory()) {
    to.at = add_to_chunks(set);
  } else {
    to.at = elements_;
    append_polled(*file_, set.bytes, bytes, ws_);
  }
  elements_ += size;
  largest_ = std::max(largest_, size);
  ++rows_;
  ws_.poller.spend(bytes / 4);
}

uint64_t SetStore::add_to_chunks(const SetView& set) {
  const auto size = static_cast<uint32_t>(set.n);
  if (!fits_last_chunk(size)) {
    chunks_.emplace_back(ws_.ledger, chunk_bytes_for(size) / sizeof(int64_t));
    chunk_bytes_ += chunk_bytes_for(size);
    used_ = 0;
  }
  copy_polled(chunks_.back().data() + used_, set.bytes, size * sizeof(int64_t), ws_.poller);
  const uint64_t at = uint64_t{chunks_.size() - 1} << kChunkShift | used_;
  used_ += size;
  return at;
}

void SetStore::spill() {
  std::unique_ptr<TempFile> file = ws_.files->create();
  for (uint32_t row = 0; row < rows_; ++row) {
    const StoredSet set = view(row);
    append_polled(*file, set.elements, set.size * sizeof(int64_t), ws_);
    ws_.poller.spend(10);
  }
  uint64_t at = 0;
  for (uint32_t row = 0; row < rows_; ++row) {
    Place& p = places_[row / kPlaces][row % kPlaces];
    p.at = at;
    at += p.size;
    ws_.poller.spend(2);
  }
  chunk_bytes_ = 0;
  chunks_ = std::vector<Array<int64_t>>();
  file_ = std::move(file);
}

StoredSet SetStore::view(uint32_t row) const noexcept {
  const Place& p = place(row);
  return {chunks_[p.at >> kChunkShift].data() + (p.at & UINT32_MAX), p.size, row};
}

StoredSet SetStore::read(uint32_t row, Array<int64_t>* buffer) {
  if (in_memory()) return view(row);
  const Place& p = place(row);
  if (buffer->size() < p.size) buffer->renew(ws_.ledger, p.size);
  read_polled(*file_, p.at * sizeof(int64_t), buffer->data(), p.size * sizeof(int64_t), ws_.poller);
  return {buffer->data(), p.size, row};
}

void SetStore::clear() noexcept {
  chunks_ = std::vector<Array<int64_t>>();
  places_ = std::vector<Array<Place>>();
  file_.reset();
  chunk_bytes_ = 0;
  rows_ = 0;
}

}  // namespace neardup
