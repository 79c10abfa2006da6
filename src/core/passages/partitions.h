// Records in parts, each in the order in which they came: in memory while they fit, then in one temporary file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/work/byte_store.h"

namespace neardup {

template <class Record>
class Partitions {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // Buffers of all parts, and records that stay in memory.
  struct Memory {
    size_t buffers;
    size_t records;
  };

  Partitions(size_t parts, Memory memory, Workspace& ws)
      : ws_(ws),
        per_chunk_(std::clamp<size_t>(memory.buffers / parts / sizeof(Record), 4, kMaxChunkRecords)),
        store_(memory.records, ws),
        parts_(parts),
        buffers_(ws.ledger, parts * per_chunk_) {}

  size_t parts() const noexcept { return parts_.size(); }
  uint64_t size() const noexcept { return size_; }
  uint64_t part_size(size_t part) const noexcept {
    return uint64_t{parts_[part].chunks.size()} * per_chunk_ + parts_[part].buffered;
  }

  void add(size_t part, const Record& record) {
    Part& p = parts_[part];
    Record* const buffer = buffers_.data() + part * per_chunk_;
    buffer[p.buffered++] = record;
    ++size_;
    ws_.poller.spend(kPartitionAddCost);
    if (p.buffered < per_chunk_) return;
    p.chunks.push_back(store_.append(buffer, per_chunk_ * sizeof(Record)));
    p.buffered = 0;
  }

  // Calls visit(record) for each record of the part.
  template <class Visit>
  void for_each(size_t part, Visit visit) {
    Array<Record> chunk(ws_.ledger, per_chunk_);
    for (const uint64_t offset : parts_[part].chunks) {
      store_.read(offset, chunk.data(), per_chunk_ * sizeof(Record));
      for (size_t i = 0; i < per_chunk_; ++i) visit(chunk[i]);
    }
    const Record* const buffer = buffers_.data() + part * per_chunk_;
    for (size_t i = 0; i < parts_[part].buffered; ++i) visit(buffer[i]);
  }

 private:
  static constexpr size_t kMaxChunkRecords = 2048;
  static constexpr size_t kPartitionAddCost = 10;  // nanoseconds

  struct Part {
    std::vector<uint64_t> chunks;  // where they are in the store
    size_t buffered = 0;
  };

  Workspace& ws_;
  const size_t per_chunk_;
  ByteStore store_;
  std::vector<Part> parts_;
  Array<Record> buffers_;
  uint64_t size_ = 0;
};

}  // namespace neardup
