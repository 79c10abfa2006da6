// Arrays in PostgreSQL's memory that grow.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Room for `needed` elements in a palloc'd array that may outgrow 1 GB.
template <typename T>
void reserve(MemoryContext context, T** array, uint64* capacity, uint64 needed) {
  if (needed <= *capacity) return;
  const uint64 next = Max(needed, Max(*capacity * 2, static_cast<uint64>(1024)));
  *array = static_cast<T*>(*array == nullptr ? MemoryContextAllocHuge(context, next * sizeof(T))
                                             : repalloc_huge(*array, next * sizeof(T)));
  *capacity = next;
}

}  // namespace neardup
