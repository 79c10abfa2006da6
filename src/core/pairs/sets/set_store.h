// Sets of integers by row: in memory while they fit, then all of them in a temporary file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/exact/int_set.h"
#include "core/work/workspace.h"

namespace neardup {

// A set of a row: ascending elements.
struct StoredSet {
  const int64_t* elements;
  uint32_t size;
  uint32_t row;
};

class SetStore {
 public:
  // memory_bytes: what sets may take in memory; the next one moves all to a file. Ignored without files.
  SetStore(size_t memory_bytes, Workspace& ws);

  // Appends the set of the next row, copied. At most 2^31 rows, else Error{too_large}.
  void add(const SetView& set);

  uint32_t rows() const noexcept { return rows_; }
  uint32_t set_size(uint32_t row) const noexcept { return place(row).size; }
  uint32_t largest() const noexcept { return largest_; }
  bool in_memory() const noexcept { return file_ == nullptr; }
  size_t held_bytes() const noexcept { return places_.size() * kPlaces * sizeof(Place) + chunk_bytes_; }
  uint64_t elements() const noexcept { return elements_; }

  // Callable only while in_memory(); valid as long as the store.
  StoredSet view(uint32_t row) const noexcept;
  // The set of a row, valid as long as the store and until the buffer is used again. The buffer grows as needed.
  StoredSet read(uint32_t row, Array<int64_t>* buffer);

  void clear() noexcept;

 private:
  // Where a set is: in memory the chunk and the element in it, in the file the element.
  struct Place {
    uint64_t at;
    uint32_t size;
  };
  static constexpr size_t kPlaces = 512;

  const Place& place(uint32_t row) const noexcept { return places_[row / kPlaces][row % kPlaces]; }
  bool fits_last_chunk(uint32_t size) const noexcept {
    return !chunks_.empty() && used_ + size <= chunks_.back().size();
  }
  size_t chunk_bytes_for(uint32_t size) const noexcept {
    return std::max<size_t>(chunk_elements_, size) * sizeof(int64_t);
  }
  uint64_t add_to_chunks(const SetView& set);
  void spill();

  Workspace& ws_;
  size_t memory_bytes_;
  size_t chunk_elements_;
  uint32_t rows_ = 0;
  uint32_t largest_ = 0;
  uint64_t elements_ = 0;  // of all sets
  size_t chunk_bytes_ = 0;
  size_t used_ = 0;  // elements of the last chunk
  std::vector<Array<int64_t>> chunks_;
  std::vector<Array<Place>> places_;
  std::unique_ptr<TempFile> file_;
};

}  // namespace neardup
