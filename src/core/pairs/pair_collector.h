// Pairs of many searches, put in one order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/pairs/pair_search.h"
#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {

class PairCollector {
 public:
  explicit PairCollector(const EngineOptions& options)
      : ws_(options.memory_limit, options.files, options.stop), sorter_(ws_.limit, ws_) {}

  // Pairs in any order, each once.
  void add(const RowPair& pair) {
    ws_.poller.spend(4);
    sorter_.add({pair.a, pair.b, pair.value});
  }
  void finish() { sorter_.finish(); }

  // The next at most `max` pairs after finish(), in ascending (a, b); 0 at the end.
  size_t next(RowPair* out, size_t max) {
    size_t n = 0;
    for (SortRecord r; n < max && sorter_.next(&r); ++n) out[n] = {r.hi, r.lo, r.value};
    return n;
  }

  void rewind() { sorter_.rewind(); }

 private:
  Workspace ws_;
  RecordSorter sorter_;
};

}  // namespace neardup
