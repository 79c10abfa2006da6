// Which of the rows that came have no signature.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// A bit for each row.
struct NullRows {
  MemoryContext context;
  uint64 rows;
  uint8* bits;
  uint64 capacity;  // in rows

  void add(bool is_null) {
    if (rows == capacity) grow();
    if (is_null) bits[rows / 8] |= static_cast<uint8>(1u << (rows % 8));
    ++rows;
  }
  bool has(uint64 row) const { return (bits[row / 8] >> (row % 8) & 1) != 0; }

 private:
  void grow() {
    constexpr uint64 kFirstBytes = 1024;
    const uint64 bytes = capacity / 8;
    bits = static_cast<uint8*>(bits == nullptr ? MemoryContextAlloc(context, kFirstBytes)
                                               : repalloc_huge(bits, 2 * bytes));
    const uint64 more = capacity == 0 ? kFirstBytes : bytes;
    memset(bits + bytes, 0, more);
    capacity += 8 * more;
  }
};

}  // namespace neardup
