// Bytes one behind the other: in memory while they fit, then all of them in a temporary file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/work/workspace.h"

namespace neardup {

class ByteStore {
 public:
  // memory_bytes: how many bytes may stay in memory. Ignored without files.
  ByteStore(size_t memory_bytes, Workspace& ws);

  // Appends n bytes and returns where they begin.
  uint64_t append(const void* bytes, size_t n);

  // Copies bytes offset .. offset + n - 1, which are there.
  void read(uint64_t offset, void* out, size_t n);

  uint64_t size() const noexcept { return size_; }

 private:
  void spill();
  void append_in_memory(const uint8_t* bytes, size_t n);

  Workspace& ws_;
  const size_t memory_bytes_;
  const size_t chunk_bytes_;
  uint64_t size_ = 0;
  std::vector<Array<uint8_t>> chunks_;
  std::unique_ptr<TempFile> file_;
};

}  // namespace neardup
