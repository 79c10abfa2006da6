// Rows of fixed size: in memory while they fit, then all of them in a temporary file.
#include "core/work/row_store.h"

#include <bit>

namespace neardup {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

}  // namespace

RowStore::RowStore(size_t row_bytes, uint64_t memory_rows, Workspace& ws)
    : ws_(ws), row_bytes_(row_bytes), memory_rows_(ws.files == nullptr ? UINT64_MAX : memory_rows) {
  const size_t chunk_bytes = std::min(kChunkBytes, ws.limit / 16);
  const uint32_t chunk_rows = static_cast<uint32_t>(std::bit_floor(std::max<size_t>(1, chunk_bytes / row_bytes)));
  chunk_shift_ = static_cast<unsigned>(std::countr_zero(chunk_rows));
  chunk_mask_ = chunk_rows - 1;
}

void RowStore::refuse_more() { throw Error(Errc::too_large, "more than 2147483648 rows"); }

void RowStore::add(const void* row) {
  if (size_ == kMaxStoredRows) refuse_more();
  if (file_ == nullptr && size_ >= memory_rows_) spill();
  if (file_ != nullptr) {
    file_->append(row, row_bytes_);
    ws_.spilled_bytes += row_bytes_;
  } else {
    if (size_ >> chunk_shift_ == chunks_.size()) {
      chunks_.emplace_back(ws_.ledger, (size_t{chunk_mask_} + 1) * row_bytes_);
    }
    std::memcpy(chunks_.back().data() + (size_ & chunk_mask_) * row_bytes_, row, row_bytes_);
  }
  ++size_;
  ws_.poller.spend(row_bytes_ / 2);
}

void RowStore::spill() {
  std::unique_ptr<TempFile> file = ws_.files->create();
  for (uint32_t i = 0; i < size_; i += chunk_mask_ + 1) {
    append_polled(*file, row(i), std::min(size_ - i, chunk_mask_ + 1) * row_bytes_, ws_);
  }
  chunks_ = std::vector<Array<std::byte>>();
  file_ = std::move(file);
}

void RowStore::read(uint32_t first, uint32_t count, void* out) {
  if (file_ != nullptr) {
    read_polled(*file_, first * uint64_t{row_bytes_}, out, count * row_bytes_, ws_.poller);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<std::byte*>(out) + i * row_bytes_, row(first + i), row_bytes_);
    ws_.poller.spend(row_bytes_ / 4);
  }
}

void RowStore::clear() noexcept {
  chunks_ = std::vector<Array<std::byte>>();
  file_.reset();
  size_ = 0;
}

RowReader::RowReader(RowStore& store, size_t buffer_bytes, Workspace& ws)
    : store_(store),
      batch_rows_(static_cast<uint32_t>(std::clamp<size_t>(buffer_bytes / store.row_bytes(), 1, 1 << 20))) {
  if (!store.in_memory()) batch_ = Array<std::byte>(ws.ledger, batch_rows_ * store.row_bytes());
}

const std::byte* RowReader::row(uint32_t i) {
  if (store_.in_memory()) return store_.row(i);
  if (i - first_ >= count_) {
    first_ = i;
    count_ = std::min(batch_rows_, store_.size() - i);
    store_.read(first_, count_, batch_.data());
  }
  return batch_.data() + (i - first_) * store_.row_bytes();
}

}  // namespace neardup
