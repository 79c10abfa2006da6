// How many elements the sets of rows have, from which the measures of pairs are computed.
#pragma once

#include "pg/base/pg.h"
#include "pg/base/reserve.h"

namespace neardup {

// Empty where rows have signatures.
struct SetSizes {
  uint32* of;  // by row; later by what pairs name rows by
  uint64 rows;
  uint64 capacity;

  // For the next row; 0: it has no set.
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
