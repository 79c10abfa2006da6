// The occurrences of each window: records in parts by hash, a table of each part's hashes, and what reaches at_least in
// the order of the documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/passages/find_windows.h"
#include "core/passages/partitions.h"
#include "core/work/spill.h"

namespace neardup {

inline constexpr uint64_t kNoWindow = UINT64_MAX;

struct RepeatedWindow {
  uint64_t byte;
  uint64_t previous;  // byte of the equal window before it; kNoWindow for the first
  uint32_t occurrences;
  uint32_t documents;  // that hold it
  uint32_t first_row;  // where it occurs first
  uint32_t first_character;
};

// The windows that reach at_least, ascending by place. Made by WindowCounts.
class RepeatedWindows {
 public:
  // ends: byte behind the last window of each part.
  RepeatedWindows(std::vector<uint64_t> ends, Partitions<RepeatedWindow>::Memory memory, Workspace& ws);

  // Places of one part of the hashes: windows come in ascending order between two calls of restart().
  void restart() noexcept { part_ = 0; }
  void add(const RepeatedWindow& window) {
    while (window.byte >= ends_[part_]) ++part_;
    parts_.add(part_, window);
  }

  uint64_t size() const noexcept { return parts_.size(); }

  // Reads from the first on. One reader at a time.
  void rewind();
  // The next window, valid until the next call; null at the end.
  const RepeatedWindow* peek() {
    while (at_ == loaded_)
      if (!load()) return nullptr;
    return &windows_[order_[at_].value];
  }
  void pop() noexcept { ++at_; }

 private:
  bool load();

  Workspace& ws_;
  const std::vector<uint64_t> ends_;
  Partitions<RepeatedWindow> parts_;
  size_t part_ = 0;
  size_t next_part_ = 0;
  Array<RepeatedWindow> windows_;
  Array<SortRecord> buffers_[2];
  const SortRecord* order_ = nullptr;
  size_t loaded_ = 0;
  size_t at_ = 0;
};

// Collects records of windows, in the order of the documents, and counts them.
class WindowCounts {
 public:
  // most_windows: at most so many come; documents have bytes 0 .. bytes - 1.
  WindowCounts(uint64_t most_windows, uint64_t bytes, Workspace& ws);

  void add(const WindowRecord& record);
  uint64_t size() const noexcept { return parts_.size(); }

  // Error{too_large} where a window occurs 2^32 times.
  std::unique_ptr<RepeatedWindows> repeated(uint64_t at_least);

 private:
  Workspace& ws_;
  const uint64_t bytes_;
  const size_t part_records_;  // of the windows that are put in order at once
  Partitions<WindowRecord> parts_;
  std::vector<uint64_t> ends_;
};

}  // namespace neardup
