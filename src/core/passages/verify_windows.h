// Checks that windows with equal hashes are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/passages/window_counts.h"
#include "core/work/byte_store.h"

namespace neardup {

struct DocumentPlaces {
  const uint64_t* begins;  // rows + 1 of them
  uint32_t rows;
  const uint32_t* groups;  // of the rows; null: all are of one

  uint32_t row_at(uint64_t byte) const noexcept;
  uint32_t group(uint32_t row) const noexcept { return groups == nullptr ? 0 : groups[row]; }
};

// Compares each window with the equal one before it: by bytes, and unit by unit where it ends beyond equal bytes. Where
// both continue in step, only what is new is read: the time is that of reading the repeated passages twice, and some
// windows more wherever they get out of step.
// windows: from its first one on. False at the first two windows that differ.
bool verify_windows(RepeatedWindows* windows, Unit unit, uint32_t units, const DocumentPlaces& places, ByteStore* texts,
                    Workspace& ws, StopCheck* stop);

}  // namespace neardup
