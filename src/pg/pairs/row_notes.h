// Notes on every row that comes: whether it has a signature, and how many elements its set has.
#pragma once

#include "pg/base/pg.h"
#include "pg/base/reserve.h"

namespace neardup {

// The rows without a signature: a bit for each row.
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
    constexpr uint64 kFirstNoteBytes = 1024;
    const uint64 bytes = capacity / 8;
    bits = static_cast<uint8*>(bits == nullptr ? MemoryContextAlloc(context, kFirstNoteBytes)
                                               : repalloc_huge(bits, 2 * bytes));
    const uint64 more = capacity == 0 ? kFirstNoteBytes : bytes;
    memset(bits + bytes, 0, more);
    capacity += 8 * more;
  }
};

// The numbers of elements of the rows' sets, from which the measures of pairs are computed; empty where rows have
// signatures.
struct SetSizes {
  uint32* of;  // by row; later by what pairs name rows by
  uint64 rows;
  uint64 capacity;

  // The size of the next row's set; 0: it has none.
  void add(MemoryContext context, size_t size) {
    reserve(context, &of, &capacity, rows + 1);
    of[rows++] = static_cast<uint32>(size);
  }
  // rank[row]: what pairs name the row by.
  void rename(MemoryContext context, const uint32* rank) {
    if (rows == 0) return;
    auto* renamed = static_cast<uint32*>(MemoryContextAllocHuge(context, rows * sizeof(uint32)));
    for (uint64 row = 0; row < rows; ++row) renamed[rank[row]] = of[row];
    pfree(of);
    of = renamed;
  }
  uint32 at(uint64 row) const { return of == nullptr ? 0 : of[row]; }
};

}  // namespace neardup
