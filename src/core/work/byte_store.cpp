// See byte_store.h.
#include "core/work/byte_store.h"

namespace neardup {
namespace {

constexpr size_t kLeastStoreChunk = 4096;
constexpr size_t kMaxStoreChunk = size_t{256} << 10;

}  // namespace

ByteStore::ByteStore(size_t memory_bytes, Workspace& ws)
    : ws_(ws),
      memory_bytes_(ws.files == nullptr ? SIZE_MAX : memory_bytes),
      chunk_bytes_(std::clamp(memory_bytes_ / kSixteenth, kLeastStoreChunk, kMaxStoreChunk)) {}

uint64_t ByteStore::append(const void* bytes, size_t n) {
  const uint64_t begin = size_;
  if (file_ == nullptr && n > memory_bytes_ - std::min<uint64_t>(size_, memory_bytes_)) spill();
  if (file_ != nullptr) {
    append_polled(*file_, bytes, n, ws_);
  } else {
    append_in_memory(static_cast<const uint8_t*>(bytes), n);
  }
  size_ += n;
  return begin;
}

void ByteStore::append_in_memory(const uint8_t* bytes, size_t n) {
  for (size_t done = 0; done < n;) {
    const size_t at = (size_ + done) % chunk_bytes_;
    if (at == 0) chunks_.emplace_back(ws_.ledger, chunk_bytes_);
    const size_t piece = std::min(n - done, chunk_bytes_ - at);
    std::memcpy(chunks_.back().data() + at, bytes + done, piece);
    done += piece;
    ws_.poller.spend(piece / 4);
  }
}

void ByteStore::spill() {
  std::unique_ptr<TempFile> file = ws_.files->create();
  for (uint64_t done = 0; done < size_;) {
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(chunk_bytes_, size_ - done));
    append_polled(*file, chunks_[done / chunk_bytes_].data(), piece, ws_);
    done += piece;
  }
  chunks_ = std::vector<Array<uint8_t>>();
  file_ = std::move(file);
}

void ByteStore::read(uint64_t offset, void* out, size_t n) {
  if (file_ != nullptr) {
    read_polled(*file_, offset, out, n, ws_.poller);
    return;
  }
  for (size_t done = 0; done < n;) {
    const size_t at = (offset + done) % chunk_bytes_;
    const size_t piece = std::min(n - done, chunk_bytes_ - at);
    std::memcpy(static_cast<uint8_t*>(out) + done, chunks_[(offset + done) / chunk_bytes_].data() + at, piece);
    done += piece;
    ws_.poller.spend(piece / 4);
  }
}

}  // namespace neardup
