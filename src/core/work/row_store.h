// Rows of fixed size: in memory while they fit, then all of them in a temporary file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/work/workspace.h"

namespace neardup {

class RowStore {
 public:
  static constexpr uint32_t kMaxStoredRows = uint32_t{1} << 31;

  // memory_rows: how many rows may stay in memory; the next one moves all to a file. Ignored without files.
  RowStore(size_t row_bytes, uint64_t memory_rows, Workspace& ws);

  // Appends a row, copied. At most kMaxStoredRows rows, else Error{too_large}.
  void add(const void* row);

  [[noreturn]] static void refuse_more();

  uint32_t size() const noexcept { return size_; }
  size_t row_bytes() const noexcept { return row_bytes_; }
  bool in_memory() const noexcept { return file_ == nullptr; }

  // The row, valid as long as the store. Callable only while in_memory().
  const std::byte* row(uint32_t i) const noexcept {
    return chunks_[i >> chunk_shift_].data() + (i & chunk_mask_) * row_bytes_;
  }

  // Copies rows first .. first + count - 1 to out.
  void read(uint32_t first, uint32_t count, void* out);

  void clear() noexcept;

 private:
  void spill();

  Workspace& ws_;
  size_t row_bytes_;
  uint64_t memory_rows_;
  unsigned chunk_shift_;
  uint32_t chunk_mask_;
  uint32_t size_ = 0;
  std::vector<Array<std::byte>> chunks_;
  std::unique_ptr<TempFile> file_;
};

// Reads rows, a batch at a time where they lie in a file: best in ascending order.
class RowReader {
 public:
  // buffer_bytes: what a batch may hold (at least one row). The store must outlive the reader.
  RowReader(RowStore& store, size_t buffer_bytes, Workspace& ws);

  // Row i, valid until the next call.
  const std::byte* row(uint32_t i);

 private:
  RowStore& store_;
  uint32_t batch_rows_;
  Array<std::byte> batch_;
  uint32_t first_ = 0;
  uint32_t count_ = 0;
};

}  // namespace neardup
